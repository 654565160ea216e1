/** A peer that runs beside Orcha. */
export interface Peer {
  name: string;
  /** What npm installs for it; nothing for what this workspace brings. */
  packages: readonly string[];
  /** Versions that its dependencies are to have instead of those that they ask for. */
  overrides?: Readonly<Record<string, string>>;
}

/** In the order of the columns; the floor comes first, since everything is divided by it. */
export const peers: readonly Peer[] = [
  { name: "floor", packages: [] },
  { name: "orcha", packages: [] },
  { name: "mastra", packages: ["@mastra/core@1.71.0", "@mastra/memory@1.31.0", "@mastra/libsql@1.23.1", "zod@4"] },
  {
    name: "langgraph",
    packages: [
      "@langchain/langgraph-checkpoint-sqlite@1.0.4",
      "@langchain/langgraph-checkpoint@1",
      "@langchain/langgraph@1.7.3",
      "@langchain/core@1",
    ],
    // The version that it asks for brings nothing built for newer Nodes.
    overrides: { "better-sqlite3": "13.2.0" },
  },
  { name: "voltagent", packages: ["@voltagent/core@2.10.0", "@voltagent/libsql@2.1.2", "ai@6", "zod@4"] },
];

/** Their telemetry stays off, and nothing is fetched. */
export const quiet = {
  MASTRA_OFFLINE: "1",
  MASTRA_AUTO_REFRESH_PROVIDERS: "false",
  MASTRA_TELEMETRY_DISABLED: "1",
  VOLTAGENT_TELEMETRY_DISABLED: "true",
  LANGCHAIN_TRACING_V2: "false",
  NODE_NO_WARNINGS: "1",
};
