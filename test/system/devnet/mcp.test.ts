/** The MCP server of a devnet, by the official client over HTTP, with the real services behind its tools. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { silentLog } from "#src/base/log.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { type McpService, mcpService } from "#src/devnet/serve/mcp/service.ts";
import type { LocalApi, McpListener } from "#src/devnet/serve/mcp/settings.ts";
import { healthRoutes } from "#src/http/health.ts";
import { measureRedeemers } from "#src/plutus/measurement.ts";
import { ExplorerChain } from "../../support/explorer/explorerChain.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { person } from "../../support/wallets/person.ts";

let chain: ExplorerChain;
let infra: Infra;
let arbor: Arbor;
let service: McpService;
let listener: McpListener;
let client: Client;

/** An app behind a URL. */
const over = (base: string): LocalApi => ({
  fetch: (asked) => fetch(base + new URL(asked.url).pathname + new URL(asked.url).search, { method: asked.method }),
});

beforeAll(async () => {
  chain = await ExplorerChain.start(39, { faucetLimit: 20_000_000_000_000_000n });
  await chain.complete();
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra, blockMs: 0 });
  const { devnet, store, port } = chain;
  const health = healthRoutes({
    health: { name: "test", roles: ["devnet"], since: 0, checks: new Map() },
    more: () => ({}),
  });
  service = mcpService({
    devnet,
    api: devnetApp({ devnet, store, port, files: [], health, log: silentLog }),
    measure: async (input) => measureRedeemers(input),
    log: silentLog,
    tokens: over(arbor.tokens),
    operators: over(arbor.operator),
  });
  listener = await service.listen({ port: 0 });
  client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${listener.port}/mcp`)));
}, 180_000);
afterAll(async () => {
  await client?.close();
  await service?.close();
  await arbor?.end();
  await infra?.stop();
  await chain?.stop();
});

/** Calls a tool; gives its JSON, and whether it is an error. */
async function call<T = Json>(name: string, args: Record<string, unknown> = {}): Promise<{ error: boolean; json: T }> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first] = content as { type: string; text: string }[];
  return { error: isError === true, json: (parseJson(first!.text) ?? first!.text) as T };
}

const ADDRESS = (() => {
  const read = readAddressHex(person("reader of MCP").base);
  if (!read.ok) throw new Error(read.error.message);
  return addressText(read.value);
})();

test("lists its tools, with what they change", async () => {
  const { tools } = await client.listTools();
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
  expect(reading.sort()).toEqual([
    "actor",
    "actor_history",
    "actors",
    "evaluate",
    "facts",
    "mempool",
    "snapshots",
    "time",
    "tip",
    "utxos",
  ]);
  const changing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
  expect(changing.sort()).toEqual([
    "advance_time",
    "fund",
    "make_blocks",
    "rollback",
    "snapshot_restore",
    "snapshot_save",
    "submit",
  ]);
  for (const { inputSchema } of tools) expect(inputSchema.type).toBe("object");
});

test("funds an address, makes a block, and shows the outputs", async () => {
  const { json: { txHash } } = await call<{ txHash: string }>("fund", {
    address: ADDRESS,
    lovelace: "9007199254741993",
  });
  expect(txHash).toMatch(/^[0-9a-f]{64}$/);
  expect(await call("mempool")).toMatchObject({
    json: { transactions: expect.arrayContaining([expect.objectContaining({ hash: txHash })]) },
  });
  const { height } = chain.devnet.tip();
  expect(await call("make_blocks", { count: 2 })).toMatchObject({ json: { made: 2 } });
  expect(await call("tip")).toMatchObject({ json: { height: height + 2, magic: 42 } });
  const { json } = await call("utxos", { address: ADDRESS, limit: 1 });
  // exact beyond 2^53
  expect(json).toMatchObject({ total: 1, utxos: [{ txHash, lovelace: 9_007_199_254_741_993n }] });
});

test("evaluates and submits a signed transaction, and says why one is refused", async () => {
  let cbor: Uint8Array | undefined;
  while (!(cbor = await chain.draft("unlock"))) await chain.block();
  const transaction = toHex(cbor);
  const { json } = await call<{ redeemers: { units?: object }[] }>("evaluate", { transaction });
  expect(json.redeemers.length).toBeGreaterThan(0);
  for (const { units } of json.redeemers) {
    expect(units).toMatchObject({ memory: expect.anything(), steps: expect.anything() });
  }
  const submitted = await call("submit", { transaction });
  expect(submitted).toMatchObject({ error: false, json: { txHash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  await call("make_blocks");
  expect(await call("submit", { transaction })).toMatchObject({ error: true, json: { code: "refused_by_ledger" } });
  expect(await call("submit", { transaction: "8080" })).toMatchObject({ error: true, json: { code: "undecodable" } });
  expect(await call("evaluate", { transaction: "00" })).toMatchObject({ error: true, json: { code: "undecodable" } });
});

test("goes back and forth: rollback, snapshots, time", async () => {
  expect(await call("snapshot_save", { name: "mcp" })).toMatchObject({ error: false, json: { name: "mcp" } });
  expect(await call("snapshot_save", { name: "mcp" })).toMatchObject({
    error: true,
    json: { code: "snapshot_exists" },
  });
  const { height, slot } = chain.devnet.tip();
  expect(await call("advance_time", { slots: 25 })).toMatchObject({ error: false });
  expect(chain.devnet.tip().slot).toBeGreaterThan(slot + 20);
  expect(await call("time")).toMatchObject({ json: { slot: chain.devnet.slot() } });
  expect(await call("snapshot_restore", { name: "mcp" })).toMatchObject({ json: { tip: { height } } });
  expect(await call("rollback", { blocks: 1 })).toMatchObject({ json: { tip: { height: height - 1 } } });
  expect(await call("rollback", { blocks: 1_000_000 })).toMatchObject({
    error: true,
    json: { code: "rollback_impossible" },
  });
  expect(await call("snapshot_restore", { name: "none" })).toMatchObject({
    error: true,
    json: { code: "snapshot_unknown" },
  });
  expect(await call("snapshots")).toMatchObject({ json: { snapshots: [{ name: "mcp" }] } });
});

test("reads the services of the process", async () => {
  expect(await call("actors", { limit: 5 })).toMatchObject({ error: false, json: { actors: expect.any(Array) } });
  expect(await call("actor", { kind: "token", id: "none" })).toMatchObject({
    error: true,
    json: { code: "actor_unknown" },
  });
  expect(await call("actor_history", { kind: "token", id: "none" })).toMatchObject({ error: true });
  expect(await call("facts", { token: "ab".repeat(60) })).toMatchObject({
    error: true,
    json: { code: expect.any(String) },
  });
});

test("malformed arguments are errors of the tool", async () => {
  const malformed: [string, Record<string, unknown>][] = [
    ["fund", { address: ADDRESS, lovelace: "-1" }],
    ["fund", { address: ADDRESS, lovelace: 1.5 }],
    ["rollback", { blocks: 1, slot: 1 }],
    ["advance_time", {}],
    ["utxos", { address: ADDRESS, limit: 1_000 }],
    ["submit", { transaction: "xyz" }],
    ["snapshot_save", { name: "../etc" }],
    ["actor", { kind: "../tokens", id: "x" }],
    ["actor", { kind: "token", id: "\ud800" }],
    ["actor_history", { kind: "token", id: "a\ud800" }],
  ];
  for (const [name, args] of malformed) {
    expect(await client.callTool({ name, arguments: args }), name).toMatchObject({
      isError: true,
      content: [{ text: expect.not.stringContaining("internal_error") }],
    });
  }
  expect(await call("fund", { address: "nonsense", lovelace: 5_000_000 })).toMatchObject({
    error: true,
    json: { code: "bad_address" },
  });
  expect(await call("fund", { address: ADDRESS, lovelace: 1 })).toMatchObject({
    error: true,
    json: { code: "amount_too_small" },
  });
});

/** The status of a request with some headers. */
const status = (headers: Record<string, string>, body: string) =>
  new Promise<number>((resolve, reject) => {
    const sent = request(
      { host: "127.0.0.1", port: listener.port, path: "/mcp", method: "POST", headers },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode!);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

test("pages of other sites, other names and nonsense are refused", async () => {
  const json = { "content-type": "application/json", "accept": "application/json, text/event-stream" };
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  expect(await status({ ...json, origin: "https://evil.example" }, ping)).toBe(403);
  expect(await status({ ...json, host: "evil.example" }, ping)).toBe(403);
  expect(await status({ ...json, origin: "null" }, ping)).toBe(403);
  expect(await status(json, ping)).toBe(200);
  expect(await status(json, "{")).toBe(400);
  expect(await status({ "content-type": "text/plain" }, ping)).toBe(415);
  expect(await status(json, `"${"x".repeat(1_200_000)}"`)).toBe(413);
  expect(await call("tip")).toMatchObject({ error: false });
});
