import { toOrchaError, type OrchaError } from "./error.ts";

/** What `safe` resolves with: data or an error. */
export type Outcome<Data> = { data: Data; error: undefined } | { data: undefined; error: OrchaError };

/** A call to the server. It throws `OrchaError`; `safe` takes the same arguments and never throws. */
export interface Method<Arguments extends unknown[], Data> {
  (...args: Arguments): Promise<Data>;
  safe: (...args: Arguments) => Promise<Outcome<Data>>;
}

/** Makes a method of a function: whatever it throws becomes an `OrchaError`. */
export function method<Arguments extends unknown[], Data>(
  call: (...args: Arguments) => Promise<Data>,
): Method<Arguments, Data> {
  async function run(...args: Arguments): Promise<Data> {
    const { data, error } = await safe(...args);
    if (error) throw error;
    return data;
  }
  async function safe(...args: Arguments): Promise<Outcome<Data>> {
    try {
      return { data: await call(...args), error: undefined };
    } catch (error) {
      return { data: undefined, error: toOrchaError(error) };
    }
  }
  return Object.assign(run, { safe });
}
