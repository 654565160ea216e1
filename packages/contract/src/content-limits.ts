/** The largest text block, in UTF-8 bytes. */
export const maxTextBytes = 1_048_576;

/** The largest `data:` URI, in characters. */
export const maxDataUriLength = 65_536;
