/**
 * Each kind of proof at many outputs and facts: its size, the time to make it (a request without the socket), and the time
 * to verify it in Deno, in Node and in Chromium, each with the same bundle of the client's functions. Hashes, signatures and
 * a Merkle proof of the plainest kind, in the same run, are what the checks are compared with.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { toHex } from "#src/base/bytes.ts";
import { initHash } from "#src/cardano/hash.ts";
import type { FactProof } from "#src/client/proofs.ts";
import { offlineProof } from "#src/client/offlineProof.ts";
import { factSegment } from "#src/client/factKey.ts";
import { consistencyProof } from "#src/tlog/tree.ts";
import { vkeyOf } from "#src/tlog/note.ts";
import { addCheckpointText } from "#src/tlog/witness.ts";
import { readCheckpoint } from "#src/tokens/log/read.ts";
import { readRoot, readSize, withHashes } from "#src/tokens/log/rows.ts";
import { witness } from "#src/tokens/log/witness.ts";
import { startBrowser } from "../support/pages/browser.ts";
import { percentile, table } from "./machine.ts";
import type { ProofCase, ProofQuestion, timeAll, timeFirst, timeFloor } from "./proof-checks.ts";
import { benchProofLog } from "./proof-log.ts";
import { CHANGED_KEY, CHANGES, openProofWorld, type ProofWorld } from "./proof-world.ts";
import { listAddress, LISTS, outputOf } from "./utxo-root.ts";

/** Longest time of making one kind, about, and its least and most rounds. */
const MAKE_MS = 3_000;
const [LEAST, MOST] = [3, 50];

/** A kind of proof: how it is made for a round, and what its reader knows. */
interface Kind {
  readonly name: string;
  readonly check: ProofCase["check"];
  readonly make: (round: number) => Promise<string>;
  readonly question: (round: number) => Partial<ProofQuestion>;
}

/**
 * Prints the tables: what a block costs the log, the proofs, and their verification. `--size` is the number of outputs and
 * of the entries of the log (several: the greatest), `--facts` that of facts.
 */
export async function benchProofKinds(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const { values } = parseArgs({
    strict: false,
    options: { size: { type: "string", multiple: true }, facts: { type: "string" } },
  });
  const outputs = Math.max(...(Array.isArray(values.size) ? values.size.map(Number) : [100_000]));
  const facts = Number(values.facts ?? 100_000);
  const world = await openProofWorld({ outputs, facts });
  try {
    print(`The log: what a block with states costs\n`);
    await benchProofLog(world, outputs, print);
    const { cases, cells } = await proofs(world, outputs);
    const { columns, first, floors, names } = await verified(cases);
    const entries = await readSize(world.store.sql);
    print(`Proofs at ${count(outputs)} outputs, ${count(facts)} facts and ${count(entries)} entries of the log\n`);
    const time = (column: readonly number[] | undefined, i: number) => show(column?.[i] ?? NaN);
    const made = cells.map((row, i) => [...row, time(columns[0], i)]);
    const head = ["proof", "bytes", "gzip", "made, ms (p95)", "this process, ms", "verified in Deno, ms"];
    table(head, made).forEach((line) => print(line));
    print(`\nVerification, ms: ${names.join(", ")}\n`);
    const rows = cases.map(({ name }, i) => [name, ...[...columns, first].map((column) => time(column, i))]);
    table(["proof", "Deno", "Node", "Chromium", "Chromium, first in a new page"], rows).forEach((line) => print(line));
    print(`\nWhat bounds it, µs\n`);
    table(["part", "Deno", "Node", "Chromium"], floors).forEach((line) => print(line));
  } finally {
    await world.stop();
  }
}

const count = (n: number) => n.toLocaleString("en");

/** A time with at least two digits. */
const show = (ms: number) => ms.toFixed(ms >= 10 ? 0 : ms >= 1 ? 1 : 2);

async function proofs(world: ProofWorld, outputs: number) {
  const cases: ProofCase[] = [];
  const cells: (string | number)[][] = [];
  for (const { name, check, make, question } of await kindsOf(world, outputs)) {
    const times: number[] = [];
    const processor: number[] = [];
    let text = "";
    let last = 0;
    for (let spent = 0; times.length < LEAST || (spent < MAKE_MS && times.length < MOST);) {
      const began = performance.now();
      const used = process.cpuUsage();
      last = times.length;
      text = await make(last);
      times.push(performance.now() - began);
      const { user, system } = process.cpuUsage(used);
      processor.push((user + system) / 1e3);
      spent += times.at(-1) ?? 0;
    }
    const one = { name, check, text, question: question(last) };
    cases.push({ ...one, fast: true });
    const bytes = new TextEncoder().encode(text);
    // the first one reads what later ones find in memory
    const later = (list: readonly number[], share: number) => show(percentile(list.slice(1), share));
    const made = [`${later(times, 0.5)} (${later(times, 0.95)})`, later(processor, 0.5)];
    cells.push([name, count(bytes.length), count(gzipSync(bytes).length), ...made]);
    if (check !== "facts") continue;
    cases.push({ ...one, name: `${name}, without \`initHash()\``, fast: false });
    cells.push([`${name}, without \`initHash()\``, "", "", "", ""]);
  }
  return { cases, cells };
}

async function kindsOf(world: ProofWorld, outputs: number): Promise<Kind[]> {
  const { app, store, token, listed, settings } = world;
  const get = async (path: string) => {
    const answer = await app.request(path);
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  const roots = JSON.parse(await get("/utxo-root"));
  const trusted = { utxoRoot: roots.root, point: { slot: roots.point.slot, hash: roots.point.hash } };
  const others = LISTS.reduce<number>((sum, list) => sum + list, 0);
  // the outputs of one address each
  const single = (round: number) => outputOf(others + (round * 7_919) % (outputs - others - 2_000));
  const absent = (round: number) => ({ ...outputOf(outputs + round).ref });
  const ofAddress = (address: string) => ({ trusted, address });
  const size = await readSize(store.sql);
  const before = Math.floor(size / 2);
  const signed = await witness(store, world.witness, settings, await nextCheckpoint(world, size));
  if (signed.type !== "signed") throw new Error(`the witness does not sign: ${JSON.stringify(signed)}`);
  await store.sql`insert into log_cosignature (size, witness, line) values (${size}, 'witness', ${signed.line})`;
  const policy = `log ${vkeyOf(world.log)}\nwitness w ${vkeyOf(world.witness)}\nquorum w\n`;
  const beforeRoot = toHex(await readRoot(store.sql, before));

  // facts that have not changed
  const fact = (round: number) => `key ${1_000 + round}`;
  const factPath = (key: string) => {
    const { segment, query } = factSegment(key);
    return `/token/${token.id}/facts/${segment}${query}`;
  };
  const ofFact = (key: string) => ({ tokenId: token.id, key, root: token.root });
  const history = (key: string) => {
    const { segment, query } = factSegment(key);
    const path = `/token/${token.id}/facts/${segment}/history`;
    return get(`${path}${query === "" ? "?" : `${query}&`}proof=true&limit=1000&from=1`);
  };
  const ofLog = (key: string) => ({ tokenId: token.id, key, policy });
  const contract = "1,000 states and 1,000 requests";

  return [
    {
      name: "an output is unspent",
      check: "output",
      make: (round) => {
        const { ref, output } = single(round);
        return get(`/utxo-root/addresses/${output.address}/outputs/${ref.txHash}/${ref.index}`);
      },
      question: (round) => ({ ...ofAddress(single(round).output.address), ref: single(round).ref }),
    },
    {
      name: "an output is not there",
      check: "output",
      make: (round) => {
        const { txHash, index } = absent(round);
        return get(`/utxo-root/addresses/${single(round).output.address}/outputs/${txHash}/${index}`);
      },
      question: (round) => ({ ...ofAddress(single(round).output.address), ref: absent(round) }),
    },
    ...[100, 10_000].map((list): Kind => ({
      name: `all ${count(list)} outputs of an address`,
      check: "address",
      make: () => get(`/utxo-root/addresses/${listAddress(list)}`),
      question: () => ofAddress(listAddress(list)),
    })),
    {
      name: `list of tokens, ${contract}`,
      check: "tokens",
      make: () => get("/tokens?proof=true"),
      question: () => ({ trusted }),
    },
    {
      name: "a token's state",
      check: "state",
      make: () => get(`/token/${token.id}?proof=true`),
      question: () => ({ trusted, tokenId: token.id }),
    },
    {
      name: `requests of a token, ${contract}`,
      check: "requests",
      make: () => get(`/token/${token.id}/requests?proof=true`),
      question: () => ({ trusted, tokenId: token.id }),
    },
    {
      name: `all ${count(listed.facts.size)} facts of a token`,
      check: "facts",
      make: () => get(`/token/${listed.token}/facts?proof=true`),
      question: () => ({ trusted, tokenId: listed.token }),
    },
    {
      name: "one fact",
      check: "fact",
      make: (round) => get(factPath(fact(round))),
      question: (round) => ofFact(fact(round)),
    },
    {
      name: "offline file of one fact",
      check: "offline",
      make: async (round) => {
        const [answer, log] = await Promise.all([
          get(factPath(fact(round))),
          get(`/token/${token.id}/state.tlog-proof`),
        ]);
        return JSON.stringify(offlineProof([JSON.parse(answer) as FactProof], log), null, 2);
      },
      question: () => ({ policy }),
    },
    {
      name: `history of a key, ${CHANGES} states`,
      check: "history",
      make: () => history(CHANGED_KEY),
      question: () => ofLog(CHANGED_KEY),
    },
    {
      name: `absence of a key in ${CHANGES} states`,
      check: "absence",
      make: () => history("missing"),
      question: () => ofLog("missing"),
    },
    {
      name: "inclusion in the log",
      check: "logged",
      make: (round) => get(`/log/proof/${(round * 7_919) % size}`),
      question: () => ({ policy }),
    },
    {
      name: "consistency of the log with half of it",
      check: "consistency",
      make: () => requestText(world, before, size),
      question: () => ({ policy, before: beforeRoot }),
    },
  ];
}

/** What a witness is sent: the newest checkpoint with the proof that a smaller log is its beginning. */
async function requestText({ store }: ProofWorld, before: number, size: number): Promise<string> {
  const proof = await withHashes(store.sql, (hashOf) => consistencyProof(before, size, hashOf));
  return addCheckpointText({ before, proof, checkpoint: await readCheckpoint(store.sql) ?? "" });
}

/** The same after the last checkpoint that the witness signed. */
async function nextCheckpoint(world: ProofWorld, size: number): Promise<string> {
  const [row] = await world.store.sql<{ size: bigint }[]>`select size from log_witnessed`;
  return await requestText(world, Number(row?.size ?? 0), size);
}

/** What the bundle has. */
interface Checks {
  readonly timeAll: typeof timeAll;
  readonly timeFirst: typeof timeFirst;
  readonly timeFloor: typeof timeFloor;
}

type Times = Awaited<ReturnType<typeof timeAll>>;
type Floors = Awaited<ReturnType<typeof timeFloor>>;

interface Measured {
  readonly name: string;
  readonly times: Times;
  readonly floors: Floors;
}

/** Verifies all in each runtime. */
async function verified(cases: readonly ProofCase[]) {
  const { outputFiles: [file] } = await build({
    entryPoints: [fileURLToPath(new URL("./proof-checks.ts", import.meta.url))],
    ...{ bundle: true, write: false, format: "esm", platform: "browser", target: "es2022", minify: true },
  });
  if (!file) throw new Error("there is no bundle");
  const logged = cases.find(({ check }) => check === "consistency");
  const [policy, checkpoint] = [logged?.question.policy ?? "", logged?.text.split("\n\n").slice(1).join("\n\n") ?? ""];
  const input = JSON.stringify({ cases, policy, checkpoint });
  const folder = await mkdtemp(path.join(os.tmpdir(), "arbor-bench-"));
  try {
    await writeFile(path.join(folder, "checks.mjs"), file.text);
    await writeFile(path.join(folder, "input.json"), input);
    await writeFile(path.join(folder, "main.mjs"), MAIN);
    const main = path.join(folder, "main.mjs");
    const all = [
      await inProcess(process.execPath, ["run", "-A", "--no-config", main]),
      await inProcess("node", [main]),
    ];
    const { first, ...browser } = await inChromium(file.text, input, cases.length);
    const measured: Measured[] = [...all, browser];
    return {
      columns: measured.map(({ times }) => times),
      first,
      floors: browser.floors.map(([name], i) => [name, ...measured.map(({ floors }) => show(floors[i]?.[1] ?? NaN))]),
      names: measured.map(({ name }) => name),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A program that measures and prints what it found. */
const MAIN = `import { readFileSync } from "node:fs";
import { timeAll, timeFloor } from "./checks.mjs";
const { cases, policy, checkpoint } = JSON.parse(readFileSync(new URL("input.json", import.meta.url), "utf8"));
const name = "Deno" in globalThis ? "Deno " + Deno.version.deno : "Node " + process.versions.node;
// without the hash in WebAssembly first
const times = await timeAll(cases.filter(({ fast }) => !fast));
const floors = await timeFloor(policy, checkpoint);
const fast = await timeAll(cases.filter(({ fast }) => fast));
console.log(JSON.stringify({ name, floors, times: cases.map((one) => (one.fast ? fast : times).shift()) }));
`;

async function inProcess(program: string, options: readonly string[]): Promise<Measured> {
  const { stdout } = await promisify(execFile)(program, options, { maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as Measured;
}

/** Loads the bundle into pages of Chromium: one for the times once warm, and a new one for the first time of each case. */
async function inChromium(bundle: string, input: string, count: number): Promise<Measured & { first: number[] }> {
  const browser = await startBrowser();
  if (browser === undefined) throw new Error("proofs are verified in Chromium too");
  // these headers let the page have a clock of 5 µs
  const headers = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
  const files = new Map([
    ["/", ["text/html", "<!doctype html><title>Proofs</title>"]],
    ["/checks.js", ["text/javascript", bundle]],
    ["/input.json", ["application/json", input]],
  ]);
  const server = createServer(({ url = "" }, answer) => {
    const [type = "text/plain", body = ""] = files.get(url) ?? [];
    answer.writeHead(files.has(url) ? 200 : 404, { ...headers, "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const page = await browser.newPage();
    const first: number[] = [];
    for (let i = 0; i < count; i++) {
      await page.goto(url);
      first.push(
        await page.evaluate(async (i) => {
          const file = "/checks.js";
          const { timeFirst } = await import(file) as Checks;
          const { cases } = await (await fetch("/input.json")).json();
          return await timeFirst(cases[i]);
        }, i),
      );
    }
    await page.goto(url);
    const measured = await page.evaluate(async () => {
      const file = "/checks.js";
      const { timeAll, timeFloor } = await import(file) as Checks;
      const { cases, policy, checkpoint }: { cases: ProofCase[]; policy: string; checkpoint: string } =
        await (await fetch("/input.json")).json();
      const slow = await timeAll(cases.filter(({ fast }) => !fast));
      const floors = await timeFloor(policy, checkpoint);
      const fast = await timeAll(cases.filter(({ fast }) => fast));
      return { floors, times: cases.map((one) => (one.fast ? fast : slow).shift() ?? NaN) };
    });
    return { name: `Chromium ${browser.version()}`, ...measured, first };
  } finally {
    server.close();
    await browser.close();
  }
}
