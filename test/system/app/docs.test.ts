/** The OpenAPI documents of the services with their examples, and the API pages in a real browser. */
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { expectAccessible, expectFits, Pages } from "../../support/pages/pages.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { isLong } from "../../support/base/longTests.ts";
import { signerEnv } from "../../support/service/signerClient.ts";

interface Media {
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
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
        const [type, { schema = {}, example, examples = {} }] of [requestBody, ...good].flatMap((one) =>
          Object.entries(one?.content ?? {})
        )
      ) {
        // bytes and a whole module are not JSON of a document
        if (["application/octet-stream", "text/javascript"].includes(type)) continue;
        if (parameters.some((one) => one.name === "proof")) check(`${name} with a proof`, {}, examples["proof=true"]);
        for (const { value } of [...Object.values(examples), ...(examples.default ? [] : [{ value: example }])]) {
          check(`${name} ${type}`, schema, value);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});

const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the API page", () => {
  const pages = browser && new Pages(browser);
  afterAll(async () => {
    await pages?.close();
    await browser?.close();
  });

  // all of them are the same page
  it.each(isLong ? SERVICES : ["tokens"] as const)("of %s shows every operation, at any width", async (service) => {
    const base = arbor[service];
    const page = await pages!.open(`${base}/docs`);
    const document = await documentOf(base);
    await page.locator("h1", { hasText: document.info.title }).waitFor();
    const summaries = operationsOf(document).map(([, { summary }]) => summary.replaceAll("`", ""));
    expect(summaries.length).toBeGreaterThan(10);
    const shown = await page.locator(".api-group li > span").allTextContents();
    expect(shown.sort()).toEqual(summaries.sort());
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 780 });
    await expectFits(page);
    await page.close();
  });

  it("finds an operation, shows it as code, sends its request and leads back to the service", async () => {
    const page = await pages!.open(`${arbor.devnet}/docs`);
    await page.getByLabel("Find an operation").last().fill("faucet lovelace");
    await page.locator(".api-contents a", { hasText: "Send lovelace to an address" }).click();
    await page.locator("h1", { hasText: "Send lovelace to an address" }).waitFor();
    const code = page.locator(".api-code");
    expect(await code.textContent()).toMatch(/^curl -sS/);
    await page.getByRole("button", { name: "TypeScript" }).click();
    expect(await code.textContent()).toContain(`await fetch("${arbor.devnet}/faucet"`);
    await page.getByLabel("Body (application/json)").fill('{"address": "nonsense", "lovelace": 45000000000000001}');
    expect(await code.textContent()).toContain("45000000000000001");
    await page.getByRole("button", { name: "Send" }).click();
    const result = page.locator(".api-result");
    await result.getByText("bad_address").waitFor();
    expect(await result.locator(".badge").textContent()).toBe("400");
    await expectAccessible(page);
    await page.getByRole("link", { name: "Service", exact: true }).click();
    await page.waitForURL(`${arbor.devnet}/`);
    await page.close();
  });

  it("says that an operation is none", async () => {
    const page = await pages!.open(`${arbor.tokens}/docs#/operation/nonsense`);
    await page.locator("h1", { hasText: "This service has no such operation" }).waitFor();
    await page.close();
  });

  it("shows a stream of events as it grows, until it is stopped", async () => {
    const page = await pages!.open(`${arbor.devnet}/docs#/operation/${encodeURIComponent("GET /live")}`);
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".api-result pre", { hasText: "event" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.close();
  });
});
