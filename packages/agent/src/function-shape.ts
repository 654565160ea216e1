/** One parameter of a function, as far as its source tells. */
export interface ParameterShape {
  /** Absent where the parameter is taken apart at once. */
  name?: string;
  /** JSON Schema, as its default or its pattern suggests: text where neither says anything. */
  schema: Record<string, unknown>;
  isRequired: boolean;
  isRest: boolean;
}

/** Reads a function's parameters from its source. Throws an `Error` that says what it can't read. */
export type ReadParameters = (source: string) => ParameterShape[];
