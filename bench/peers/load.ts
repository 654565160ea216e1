import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Loads a package that was installed into a folder, as a module with these exports. */
export async function load<T>(folder: string, name: string): Promise<T> {
  const loader = (await import(pathToFileURL(join(folder, "load.js")).href)) as { load(name: string): Promise<T> };
  return loader.load(name);
}
