/** The module for browsers: it is bundled once, runs without Node and Deno, and reports clearly when bundling fails. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { fail, ok } from "#src/base/result.ts";
import { bundle, type BundleInput } from "#src/threads/bundle.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { bundledOnce, bundleFor } from "#src/http/clientBundle.ts";
import { CLIENT } from "#src/app/pages.ts";
import { handleErrors } from "#src/http/errors.ts";
import { clientRoutes } from "#src/tokens/http/clientRoutes.ts";
import { inBrowserContext } from "../../support/pages/browserModule.ts";
import { TOKEN, TokenWithFacts } from "../../support/tokens/factAnswers.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
function entry(text: string): string {
  const file = path.join(folder, `${files++}.ts`);
  writeFileSync(file, text);
  return pathToFileURL(file).href;
}

describe("the product's module", () => {
  let body = "";
  beforeAll(async () => {
    const bundled = await bundle({ entry: CLIENT });
    if (!bundled.ok) throw new Error(JSON.stringify(bundled.error));
    body = bundled.value[0]!.text;
  }, 300_000);

  it("is bundled in a thread", async () => {
    const builders = startBuilders({ threads: 1, log: silentLog });
    try {
      expect(await bundleFor(builders, CLIENT)).toMatchObject({ ok: true, value: { body } });
    } finally {
      await builders.stop();
    }
  });

  it("is one small module for browsers", () => {
    expect(body).not.toMatch(/\bfrom\s*"|\bimport\s*\(|\brequire\s*\(|node:|\bDeno\b/);
    expect(body.length).toBeLessThan(300_000);
    console.log(`client.js has ${body.length} bytes`);
  });

  it("checks facts without Node and Deno, and refuses false ones", async () => {
    const run = inBrowserContext(body);
    expect(await run("return [typeof process, typeof Deno, typeof require, typeof Buffer]", null)).toEqual(
      Array(4).fill("undefined"),
    );
    const token = new TokenWithFacts(new Map([["a/b", "v"], ["\udcff", "w"], ["", "x"], ["k", "y"]]));
    const check = (answer: unknown, key: string) =>
      run("return client.verifyFact(input.answer, input.question)", {
        answer,
        question: { tokenId: TOKEN, key, trusted: token.trusted.datum },
      });
    for (const [key, text] of token.facts) {
      expect(await check(token.answer(key), key)).toMatchObject({ ok: true, value: { included: true, text } });
    }
    expect(await check(token.answer("none"), "none")).toMatchObject({ ok: true, value: { included: false } });
    const falseAnswer = { ...token.answer("k"), value: "z", valueHex: "7a" };
    expect(await check(falseAnswer, "k")).toMatchObject({ ok: false, error: { code: "proof_fails" } });
  });

  it("adds the signatures of a key and of a wallet", async () => {
    const run = inBrowserContext(body);
    const unsigned =
      "84a300d901028182582000000000000000000000000000000000000000000000000000000000000000000001800200a0f5f6";
    const script = `
      const seed = client.newSeed();
      const signed = client.signUnchecked(input, seed);
      const set = signed.slice(2 + (input.length - 8), -4);
      return [client.transactionHash(signed) === client.transactionHash(input), client.addWitnessSet(input, set) === signed, signed.length];`;
    expect(await run(script, unsigned)).toEqual([true, true, expect.any(Number)]);
  });
});

describe("a module that cannot be bundled", () => {
  it.each([
    ["a module of Node", 'import { readFileSync } from "node:fs";\nexport const x = readFileSync;', /node:fs/],
    ["a module of Node by its bare name", 'import os from "os";\nexport const x = os;', /imports os/],
    ["a missing module", 'export * from "./nowhere.ts";', /nowhere/],
    ["a syntax error", "export const = ;", /Expected|Unexpected/],
  ])("%s is reported", async (_title, text, reason) => {
    const bundled = await bundle({ entry: entry(text) });
    expect(bundled).toMatchObject({
      ok: false,
      error: { code: "bundle_unavailable", details: { reason: expect.stringMatching(reason) } },
    });
  });

  it("is a 503 with Retry-After", async () => {
    const { app, jobs } = served('import "node:fs";');
    const answer = await app.request("/client.js");
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(await answer.json()).toMatchObject({ code: "bundle_unavailable" });
    expect((await app.request("/client.js")).status).toBe(503);
    expect(jobs()).toBe(1);
  });

  it("is bundled again after a while", async () => {
    const answers = [fail("bundle_unavailable", ""), ok({ type: "", body: "", etag: "" })];
    let made = 0;
    const once = bundledOnce(() => Promise.resolve(answers[made++]!), -1);
    expect([(await once()).ok, (await once()).ok, (await once()).ok, made]).toEqual([false, true, true, 2]);
  });
});

/** An app with a module of this text, and how often it was bundled. */
function served(text: string): { app: OpenAPIHono; jobs: () => number } {
  const app = new OpenAPIHono();
  let jobs = 0;
  const run = (_job: string, input: BundleInput) => {
    jobs++;
    return bundle(input);
  };
  handleErrors(app, silentLog);
  clientRoutes(app, { builders: { run } as unknown as Builders, log: silentLog, client: entry(text) });
  return { app, jobs: () => jobs };
}

it("is bundled once for all clients, and not sent again to a client that has it", async () => {
  const { app, jobs } = served("export const answer: number = 42;");
  const answers = await Promise.all(Array.from({ length: 20 }, () => app.request("/client.js")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(answers[0]!.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  const etag = answers[0]!.headers.get("etag")!;
  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(await answers[0]!.text()).toContain("42");
  const again = await app.request("/client.js", { headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  expect(jobs()).toBe(1);
});
