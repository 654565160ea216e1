import { createOrcha } from "@orcha/client";
import type { agents } from "./agents.ts";

/** The server that this page came from. */
export const orcha = createOrcha<typeof agents>({ baseUrl: window.location.origin });
