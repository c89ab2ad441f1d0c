/** The OpenAPI document of a service with groups and examples, and the page that shows it. */
import type { Hono } from "hono";
import type { AdvisedService } from "#src/base/errorAdvice.ts";
import { toJson } from "#src/base/json.ts";
import { withAdvice } from "#src/http/errorAdvice.ts";
import { type Document, readExamples, withExamples } from "#src/http/examples.ts";
import { type Group, withGroups } from "#src/http/groups.ts";
import { mountPage, type PageOptions } from "#src/http/pageBundle.ts";

/** The OpenAPI document of a service, and how it is shown. */
export interface ServiceDocument {
  /** Path prefix of `openapi.json` and `docs`. */
  readonly prefix?: string;
  /** Creates the document; called once, on the first request. */
  readonly document: () => Document;
  /** Groups of its operations. */
  readonly groups?: readonly Group[];
  /** The service whose advice on error codes the document has; none by default. */
  readonly advice?: AdvisedService;
  /** Files of the examples. */
  readonly examples?: readonly URL[];
  /** What bundles the page; without it only the document is served. */
  readonly page?: Pick<PageOptions, "builders" | "log" | "pages" | "links"> | undefined;
  /** Name under which other pages of the service keep its token in the tab. */
  readonly tokenName?: string;
}

/** Serves `<prefix>/openapi.json`, and a page for it at `<prefix>/docs`. */
export function mountDocs(app: Pick<Hono, "get">, service: ServiceDocument): void {
  const { prefix = "", document, groups = [], advice, examples = [], page, tokenName } = service;
  const described = () => {
    const grouped = withGroups(document(), groups);
    const advised = advice === undefined ? grouped : withAdvice(grouped, advice);
    return withExamples(advised, Object.assign({}, ...examples.map(readExamples)));
  };
  let text: string | undefined;
  app.get(`${prefix}/openapi.json`, (c) => {
    text ??= toJson(described());
    return c.body(text, 200, { "content-type": "application/json" });
  });
  if (page === undefined) return;
  const values = { document: `${prefix}/openapi.json`, "token-name": tokenName };
  mountPage(app, { ...page, name: "api", title: "API", at: [`${prefix}/docs`], settings: () => ({ values }) });
}
