import { Window } from "happy-dom";

// Only what React needs: fetch, streams and signals stay those of Node, which the servers of these tests use as well.
const window = new Window({ url: "http://localhost/" });
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: false });

/** React's own must come after this. */
export const { document } = globalThis;
