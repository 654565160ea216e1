import type { Agents } from "@orcha/contract";
import { authorise, type Authenticate } from "./auth.ts";
import { describeAgents, type Definitions } from "./definitions.ts";
import { createDocument, type OpenApiDocument } from "./openapi.ts";
import { renderDocument, stylesheet } from "./openapi-page.ts";
import { jsonReply, type Reply } from "./reply.ts";
import type { Surroundings } from "./surroundings.ts";

/** What the pages beside the operations stand on. */
export interface PageParts {
  agents: Agents;
  auth: Authenticate;
  surroundings: Surroundings;
}

type Page = (request: Request) => Promise<Reply>;

/** The pages that describe a server: its agents, for those who may read, and its interface, for everybody. */
export function restPages({ agents, auth, surroundings }: PageParts): [path: string, page: Page][] {
  // Made when first asked for: a server starts without them.
  let definitions: Promise<Definitions> | undefined;
  let document: OpenApiDocument | undefined;
  let json: string | undefined;
  let html: string | undefined;
  const openApi = (): OpenApiDocument => (document ??= createDocument());
  return [
    [
      "/agents",
      async (request) => {
        await authorise(auth, request, "read");
        const described = await (definitions ??= describeAgents(agents, (text) => surroundings.digest(text)));
        return jsonReply(JSON.stringify(described), 200, { etag: `"${described.version}"` });
      },
    ],
    ["/openapi.json", async () => jsonReply((json ??= JSON.stringify(openApi())))],
    ["/docs", async () => ({ status: 200, headers: pageHeaders, body: (html ??= renderDocument(openApi())) })],
    ["/docs.css", async () => ({ status: 200, headers: { "content-type": "text/css; charset=utf-8" }, body: stylesheet })],
  ];
}

const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  // The page has no script, and its one style comes from this server.
  "content-security-policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
