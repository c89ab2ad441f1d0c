/** The OpenAPI documents of the services with their examples, and the API pages in a real browser. */
/// <reference lib="dom" />
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { isLong } from "../../support/base/longTests.ts";
import { signerEnv } from "../../support/service/signerClient.ts";

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
}
interface Operation {
  readonly summary: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly schema: { readonly example?: unknown };
    readonly example?: unknown;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface Document {
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

let infra: Infra;
let arbor: Arbor;
beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra, env: signerEnv("one") });
});
afterAll(async () => {
  await arbor?.end();
  await infra?.stop();
});

const SERVICES = ["tokens", "wallets", "operator", "devnet", "signer"] as const;
const each = it.each(SERVICES);

const documentOf = async (base: string) => await (await fetch(`${base}/openapi.json`)).json() as Document;

/** Operations by method and path. */
function operationsOf({ paths }: Document): [name: string, Operation][] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]): [string, Operation][] =>
      method === "servers" ? [] : [[`${method.toUpperCase()} ${path}`, operation]]
    )
  );
}

describe("the OpenAPI document", () => {
  each("of %s has an example of every operation, and each conforms to its schema", async (service) => {
    const document = await documentOf(arbor[service]);
    const ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
    ajv.addSchema({ ...document, $id: "document" });
    const wrong: unknown[] = [];
    const check = (place: string, schema: object, example: unknown) => {
      if (example === undefined) return wrong.push([place, "no example"]);
      const within = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"document#'));
      if (!ajv.validate(within, example)) wrong.push([place, ajv.errorsText()]);
    };
    for (const [name, { parameters = [], requestBody, responses }] of operationsOf(document)) {
      for (const { name: parameter, required, schema, example = schema.example } of parameters) {
        // an optional parameter may have only its description
        if (required || example !== undefined) check(`${name} ${parameter}`, schema, example);
      }
      const good = Object.entries(responses).flatMap(([status, of]) => status.startsWith("2") ? [of] : []);
      for (
        const [type, { schema = {}, example }] of [requestBody, ...good].flatMap((one) =>
          Object.entries(one?.content ?? {})
        )
      ) {
        // bytes and a whole module are not JSON of a document
        if (!["application/octet-stream", "text/javascript"].includes(type)) check(`${name} ${type}`, schema, example);
      }
    }
    expect(wrong).toEqual([]);
  });
});

const browser = await sharedBrowser();

/** Violations that axe finds in Swagger UI itself, which this project cannot change. */
const KNOWN_VIOLATIONS: readonly string[] = [
  "color-contrast",
  "heading-order",
  "nested-interactive",
  "region",
  "scrollable-region-focusable",
  "select-name",
];

describe.skipIf(browser === undefined)("the API page", () => {
  afterAll(async () => {
    await browser?.close();
  });

  // all of them are pages of one library
  it.each(isLong ? SERVICES : SERVICES.slice(0, 1))(
    "of %s shows every operation, logs nothing and sends no request to another origin",
    async (service) => {
      const base = arbor[service];
      const page = await browser!.newPage();
      const complaints: string[] = [];
      const origins = new Set<string>();
      page.on("console", (message) => void complaints.push(message.text()));
      page.on("pageerror", (error) => void complaints.push(String(error)));
      page.on("requestfailed", (request) => void complaints.push(`${request.url()} failed`));
      page.on("request", (request) => {
        const url = new URL(request.url());
        if (url.protocol !== "data:") origins.add(url.origin);
      });
      await page.goto(`${base}/docs`);
      const document = await documentOf(base);
      await page.locator(".info .title", { hasText: document.info.title }).waitFor();
      const summaries = operationsOf(document).map(([, { summary }]) => summary);
      expect(summaries.length).toBeGreaterThan(10);
      const blocks = page.locator(".opblock");
      await blocks.nth(summaries.length - 1).waitFor();
      expect(await blocks.count()).toBe(summaries.length);
      const shown = await page.locator(".opblock-summary-description").allTextContents();
      expect(shown.sort()).toEqual(summaries.sort());
      // an operation that is opened shows its parts
      await blocks.first().locator(".opblock-summary-control").click();
      await blocks.first().locator(".responses-wrapper").waitFor();
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run({ preload: false, resultTypes: ["violations"] })
      );
      expect(violations.map(({ id }) => id).filter((id) => !KNOWN_VIOLATIONS.includes(id))).toEqual([]);
      expect(complaints).toEqual([]);
      expect([...origins]).toEqual([new URL(base).origin]);
      await page.close();
    },
  );
});
