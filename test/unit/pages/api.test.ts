/** The API page's reading of a document, and the requests that it writes as code. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { found, groupsOf, limitsOf, type Operation, typeOf } from "#src/pages/api/document.ts";
import { curlOf, examplesOf, requestOf, typeScriptOf } from "#src/pages/api/request.ts";

const DOCUMENT = {
  info: { title: "Some service", version: "1" },
  servers: [{ url: "/v2" }],
  tags: [{ name: "Wallets", description: "Wallets." }, { name: "Empty", description: "Nothing." }],
  paths: {
    "/wallets/{walletId}": {
      put: {
        summary: "Rename a wallet",
        tags: ["Wallets"],
        parameters: [
          { name: "walletId", in: "path", required: true, schema: { type: "string" }, example: "a/b" },
          { name: "wait", in: "query", schema: { type: "string", example: "1" } },
          { name: "Idempotency-Key", in: "header", schema: { type: "string" } },
        ],
        requestBody: { content: { "application/json": { example: { name: "Ada's", most: 1 } } } },
      },
    },
    "/health": { get: { summary: "Liveness" }, servers: [{ url: "/" }] },
  },
};
const groups = groupsOf(DOCUMENT);
const rename = groups[0]!.operations[0]!;

/** What the shell gives the command `curl` for a text. */
function argumentsOf(text: string): string[] {
  const out = execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${text}`]).toString();
  return out.split("\0").slice(0, -1);
}

/** Runs code with its own `fetch`, and gives the request that it sends. */
async function sentBy(code: string): Promise<unknown[]> {
  const sent: unknown[] = [];
  const fetching = (...request: unknown[]) => {
    sent.push(...request);
    return Promise.resolve(new Response("{}"));
  };
  const run = new Function("fetch", "console", "bytes", `return (async () => {${code}})()`);
  await run(fetching, { log: () => {} }, new Uint8Array([1]));
  return sent;
}

describe("the document", () => {
  it("gives the operations by group, each with the prefix of its server", () => {
    expect(groups.map(({ name, operations }) => [name, operations.map(({ id, prefix }) => [id, prefix])])).toEqual([
      ["Wallets", [["PUT /wallets/{walletId}", "/v2"]]],
      ["Operations", [["GET /health", ""]]],
    ]);
  });

  it("is searched by words of names, paths and parameters", () => {
    const names = (text: string) => found(groups, text).flatMap(({ operations }) => operations.map(({ id }) => id));
    expect(names("RENAME put")).toEqual(["PUT /wallets/{walletId}"]);
    expect(names("idempotency")).toEqual(["PUT /wallets/{walletId}"]);
    expect(names("live")).toEqual(["GET /health"]);
    expect(names("rename live")).toEqual([]);
    expect(names(" ")).toHaveLength(2);
  });

  it("names types and limits", () => {
    expect(typeOf({ type: "array", items: { $ref: "#/components/schemas/Token" } })).toBe("list of Token");
    expect(typeOf({ oneOf: [{ type: "string" }, { type: "null" }] })).toBe("string | null");
    expect(typeOf({ enum: ["a", 1] })).toBe('"a" | 1');
    expect(typeOf({})).toBe("any");
    expect(limitsOf({ minimum: 1, maximum: 9 })).toBe("1 to 9");
    expect(limitsOf({ maxLength: 3, default: "x" })).toBe('up to 3 characters, by default "x"');
    expect(limitsOf({ minimum: -Number.MAX_SAFE_INTEGER })).toBe("");
  });
});

describe("a request", () => {
  const entered = examplesOf(rename);
  const request = requestOf(rename, entered, "http://127.0.0.1:8090", "");

  it("has the examples of what is required, and nothing else", () => {
    expect(entered.parameters).toEqual({ walletId: "a/b" });
    expect(request).toEqual({
      method: "PUT",
      url: "http://127.0.0.1:8090/v2/wallets/a%2Fb",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ name: "Ada's", most: 1 }, null, 2),
    });
  });

  it("has the parameters that were entered, and the token", () => {
    const parameters = { walletId: "a", wait: "5 s&", "Idempotency-Key": "k" };
    expect(requestOf(rename, { parameters, body: "{}" }, "", "secret")).toEqual({
      method: "PUT",
      url: "/v2/wallets/a?wait=5+s%26",
      headers: { "idempotency-key": "k", authorization: "Bearer secret", "content-type": "application/json" },
      body: "{}",
    });
  });

  it("is the same request as a command of the shell", () => {
    expect(argumentsOf(curlOf(request))).toEqual([
      "-sS",
      "-X",
      "PUT",
      "-H",
      "content-type: application/json",
      "--data-binary",
      request.body,
      request.url,
    ]);
    const { body: _, ...get } = { ...request, method: "GET", headers: {} };
    expect(argumentsOf(curlOf(get))).toEqual(["-sS", request.url]);
  });

  it("is the same request as TypeScript, with integers as they were entered", async () => {
    const exact = { ...request, body: '{"lovelace": 45000000000000001}' };
    expect(typeScriptOf(exact)).toContain("45000000000000001");
    const [url, init] = await sentBy(typeScriptOf(request)) as [string, { body: string }];
    expect([url, { ...init, body: JSON.parse(init.body) }]).toEqual([
      request.url,
      { method: "PUT", headers: request.headers, body: JSON.parse(request.body!) },
    ]);
    const plain = { ...request, headers: { "content-type": "text/plain" }, body: "a\n'b'" };
    expect(await sentBy(typeScriptOf(plain))).toEqual([
      request.url,
      { method: "PUT", headers: plain.headers, body: plain.body },
    ]);
  });

  it("takes bytes from a file", async () => {
    const binary: Operation = { ...rename, requestBody: { content: { "application/octet-stream": {} } } };
    const request = requestOf(binary, examplesOf(binary), "", "");
    expect(argumentsOf(curlOf(request))).toContain("@FILE");
    expect(await sentBy(typeScriptOf(request))).toMatchObject([{}, { body: new Uint8Array([1]) }]);
  });
});
