import type { Part } from "./openapi-convert.ts";
import type { OpenApiDocument } from "./openapi.ts";

/** Renders the document as a page for people: no script, nothing from elsewhere. */
export function renderDocument(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const { schemas } = document.components;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(document.info.title)} HTTP API</title>
<link rel="stylesheet" href="docs.css">
</head>
<body>
<a class="skip" href="#main">Skip to the operations</a>
<header>
<h1>${escape(document.info.title)} HTTP API</h1>
<p>${prose(document.info.description)} The same as data: <a href="openapi.json">openapi.json</a>.</p>
</header>
<nav aria-label="Contents">
<h2>Operations</h2>
<ul>${operations.map(({ id, summary }) => `<li><a href="#${id}">${escape(summary)}</a></li>`).join("")}</ul>
<h2>Schemas</h2>
<ul>${Object.keys(schemas).map((name) => `<li><a href="#schema-${name}">${name}</a></li>`).join("")}</ul>
</nav>
<main id="main">
<h2>Operations</h2>
${operations.map((operation) => renderOperation(operation, document)).join("\n")}
<h2>Schemas</h2>
${Object.entries(schemas).map(([name, schema]) => renderSchema(name, schema)).join("\n")}
</main>
</body>
</html>
`;
}

interface Operation {
  id: string;
  summary: string;
  method: string;
  path: string;
  part: Part;
}

function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== "parameters")
      .map(([method, value]) => {
        const part = value as Part & { operationId: string; summary: string };
        return { id: part.operationId, summary: part.summary, method: method.toUpperCase(), path: `/api${path}`, part };
      }),
  );
}

function renderOperation({ id, summary, method, path, part }: Operation, document: OpenApiDocument): string {
  const description = part["description"] as string;
  const parameters = ((part["parameters"] ?? []) as Part[]).map((parameter) => resolve(parameter, document));
  const body = part["requestBody"] as Part | undefined;
  const responses = Object.entries(part["responses"] as Record<string, Part>);
  return `<section aria-labelledby="${id}">
<h3 id="${id}">${escape(summary)}</h3>
<p><code><strong>${method}</strong> ${escape(path)}</code></p>
${description.split("\n\n").map((text) => `<p>${prose(text)}</p>`).join("\n")}
${parameters.length === 0 ? "" : `<h4>Parameters</h4><dl>${parameters.map(renderParameter).join("")}</dl>`}
${body === undefined ? "" : `<h4>Body</h4>${renderContent(body)}`}
<h4>Answers</h4>
<dl>${responses.map(([status, response]) => renderResponse(status, resolve(response, document))).join("")}</dl>
</section>`;
}

function renderParameter(parameter: Part): string {
  const { name, in: place, description, schema } = parameter as { name: string; in: string; description?: string; schema: Part };
  const about = description === undefined ? "" : ` ${prose(description)}`;
  return `<dt><code>${escape(name)}</code> <small>${place}</small></dt><dd>${renderType(schema)}${about}</dd>`;
}

function renderResponse(status: string, response: Part): string {
  return `<dt>${status}</dt><dd>${prose(response["description"] as string)} ${renderContent(response)}</dd>`;
}

function renderContent({ content }: Part): string {
  const types = Object.entries((content ?? {}) as Record<string, { schema: Part }>);
  return types.map(([type, { schema }]) => (types.length === 1 ? renderType(schema) : `<p><code>${type}</code> ${renderType(schema)}</p>`)).join("");
}

function renderSchema(name: string, schema: Part): string {
  const { description, ...rest } = schema as Part & { description?: string };
  return `<section aria-labelledby="schema-${name}">
<h3 id="schema-${name}">${name}</h3>
${description === undefined ? "" : `<p>${prose(description)}</p>`}
${renderType(rest, true)}
</section>`;
}

/** A reference as a link, something small in one line, anything else as a block, closed unless it is what the section is about. */
function renderType(schema: Part, open = false): string {
  const { $ref } = schema as { $ref?: string };
  if ($ref !== undefined) return link($ref);
  if (schema["type"] === "array" && !open) return `array of ${renderType((schema["items"] ?? {}) as Part)}`;
  const text = JSON.stringify(schema, undefined, 2);
  if (!open && text.length <= 120) return `<code>${escape(JSON.stringify(schema))}</code>`;
  const block = `<pre tabindex="0"><code>${escape(text).replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>')}</code></pre>`;
  return open ? block : `<details><summary>Schema</summary>${block}</details>`;
}

function link($ref: string): string {
  const name = $ref.slice($ref.lastIndexOf("/") + 1);
  return `<a href="#schema-${name}">${name}</a>`;
}

function resolve(part: Part, document: OpenApiDocument): Part {
  const { $ref } = part as { $ref?: string };
  if ($ref === undefined) return part;
  return $ref.split("/").slice(1).reduce<Part>((found, key) => found[key] as Part, document);
}

/** Text with its `code` marked. */
function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The page's style; colours follow the reader's light or dark mode. */
export const stylesheet = `:root { color-scheme: light dark; font: 1rem/1.6 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem; background: Canvas; color: CanvasText; }
a { color: LinkText; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { position: static; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid GrayText; border-radius: 0.5rem; }
section { border-top: 1px solid GrayText; margin-top: 2rem; }
nav ul { columns: 16rem; padding-left: 1.25rem; }
dt { font-weight: 600; margin-top: 0.5rem; }
dd { margin-left: 1.5rem; }
`;
