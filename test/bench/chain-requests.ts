/**
 * Requests per block and per second: updates of a token that follow each other without a block, with mainnet's limits.
 *
 * Steps and bytes limit a block (20 G and 90,112). The more requests an update has, the more steps and the fewer bytes each
 * of them takes: the size of the updates is chosen for the block. `blocks`: the requests are in earlier
 * blocks. `meanwhile`: they are in the same blocks, with whose bytes they compete. `retracts`: requesters take requests
 * back after the owner has signed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { ApiError, call } from "#src/client/http.ts";
import { type Checked, signTransaction, TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { type Running, startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

/** Requests of one update: small ones take few steps each, large ones few bytes. */
const [SMALL, LARGE] = [10, 32];
/** Outputs of each requester, so that several of its transactions do not depend on each other. */
const COINS = 6;
/** Addresses that make requests at the same time. */
const REQUESTERS = 8;
/** Seconds between mainnet's blocks. */
const BLOCK_S = 20;
/** Mainnet's limits of a block. */
const LIMITS = { bytes: 90_112, steps: 20e9, memory: 72e6 };
/** Blocks after which what was submitted must be in one. */
const MOST_BLOCKS = 100;
/** Shares of requesters that take their request back, in percent. */
const RETRACTS = [0.5, 1, 2, 5, 10];

/** Requests of one block, by default. */
const BLOCK = 160;

interface Person {
  readonly key: SigningKey;
  readonly address: string;
}

/** A request, its key's number, and who made it. */
interface Made {
  readonly ref: string;
  readonly fact: number;
  readonly by: Person;
}

/** What a transaction takes of a block. */
interface Load {
  /** Requests that it applies. */
  readonly applied: number;
  readonly bytes: number;
  readonly steps: number;
  readonly memory: number;
}

function person(): Person {
  const key = newSeed();
  return { key, address: addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) })) };
}

const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0);
const pieces = <T>(list: readonly T[], size: number) =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/** A token, its owner and its requesters on a devnet without a block of its own accord. */
class Market {
  readonly client: TokenClient;
  readonly owner = person();
  readonly requesters = Array.from({ length: REQUESTERS }, person);
  token = "";
  /** Value of each fact after all requests so far, by its number. */
  private readonly values: string[] = [];
  /** Loads of the transactions that no block is known to hold, by hash. */
  private readonly waiting = new Map<string, Load>();

  constructor(private readonly running: Running) {
    this.client = new TokenClient(running.tokens);
  }

  async open(): Promise<void> {
    for (const { address } of [this.owner, ...this.requesters]) {
      let last = "";
      for (let i = 0; i < COINS; i++) {
        const paid = await call(this.running.devnet, "POST", "/faucet", { address, lovelace: 4_000_000_000 });
        last = (paid as { txHash: string }).txHash;
      }
      await this.block(last);
    }
    const boot = await this.client.boot(this.owner.address);
    await this.submit(boot, this.owner);
    this.token = boot.value;
  }

  /** Makes a block and waits until the index has a transaction. */
  async block(hash: string): Promise<void> {
    await this.next();
    while (!(await this.client.transaction(hash))) await new Promise((done) => setTimeout(done, 20));
  }

  /** Signs and submits; gives the hash. */
  async submit(built: Checked<Unsigned>, by: Person, applied = 0): Promise<string> {
    const signed = signTransaction(built.checked, by.key);
    const hash = await this.client.submit(signed);
    const { scripts } = built.summary;
    this.waiting.set(hash, {
      applied,
      bytes: signed.cbor.length / 2,
      steps: sum(scripts.map(({ steps }) => Number(steps))),
      memory: sum(scripts.map(({ memory }) => Number(memory))),
    });
    return hash;
  }

  /** Requests changes of facts, without a block: the first one of a fact inserts it, others change its value. */
  async request(facts: readonly number[], ms: number[] = []): Promise<Made[]> {
    const queue = [...facts];
    const made: Made[] = [];
    await Promise.all(this.requesters.map(async (by) => {
      for (let fact = queue.shift(); fact !== undefined; fact = queue.shift()) {
        const begun = performance.now();
        const [key, old] = [`key-${fact}`, this.values[fact]];
        const value = `value ${Math.random().toString(36).slice(2, 16)}`.padEnd(20, "-");
        this.values[fact] = value;
        const built = old === undefined
          ? await this.client.insert(by.address, this.token, key, value)
          : await this.client.update(by.address, this.token, key, old, value);
        made.push({ ref: `${await this.submit(built, by)}-0`, fact, by });
        ms.push(performance.now() - begun);
      }
    }));
    return made;
  }

  /** Applies requests by updates that follow each other, without a block; gives the hashes. */
  async apply(requests: readonly Made[], size: number): Promise<string[]> {
    const hashes: string[] = [];
    for (const some of pieces(requests, size)) {
      const built = await this.client.apply(this.owner.address, this.token, some.map(({ ref }) => ref));
      hashes.push(await this.submit(built, this.owner, built.applied.length));
    }
    return hashes;
  }

  /** Makes blocks until all that was submitted is in one; gives what each block holds, the oldest first. */
  async settle(): Promise<Load[]> {
    const blocks = new Map<number, Load[]>();
    for (let tries = 0; this.waiting.size > 0; tries++) {
      if (tries > MOST_BLOCKS) throw new Error(`no block has ${[...this.waiting.keys()].join(", ")}`);
      await this.next();
      if ((await this.mempool()).size > 0) continue;
      for (const [hash, load] of this.waiting) {
        const found = await this.client.transaction(hash, { waitMs: 2_000 });
        // the service submits it again
        if (!found) break;
        const held = blocks.get(found.blockHeight);
        if (held) held.push(load);
        else blocks.set(found.blockHeight, [load]);
        this.waiting.delete(hash);
      }
    }
    return [...blocks].sort(([a], [b]) => a - b).map(([, loads]) => ({
      applied: sum(loads.map(({ applied }) => applied)),
      bytes: sum(loads.map(({ bytes }) => bytes)),
      steps: sum(loads.map(({ steps }) => steps)),
      memory: sum(loads.map(({ memory }) => memory)),
    }));
  }

  async mempool(): Promise<{ readonly size: number; readonly bytes: number }> {
    return await call(this.running.devnet, "GET", "/mempool");
  }

  /** Makes one block. */
  async next(): Promise<void> {
    await call(this.running.devnet, "POST", "/blocks", { count: 1 });
  }

  /** Does something while another node has some transactions, which this one does not know, and then makes the next block. */
  async overtaken(rivals: readonly string[], work: () => Promise<void>): Promise<void> {
    const { devnet, blockfrost } = this.running;
    const save = (name: string) => call(devnet, "POST", "/snapshots", { name, replace: true });
    await save("here");
    for (const rival of rivals) {
      const response = await fetch(`${blockfrost}/tx/submit`, {
        method: "POST",
        headers: { "content-type": "application/cbor" },
        body: fromHex(rival) as Uint8Array<ArrayBuffer>,
      });
      if (!response.ok) throw new Error(await response.text());
    }
    await save("there");
    await call(devnet, "POST", "/snapshots/here/restore");
    await work();
    await call(devnet, "POST", "/snapshots/there/restore");
    await this.block(transactionHash(fromHex(rivals.at(-1)!)));
  }

  /** What is not to be waited for: it is lost. */
  forget(hashes: readonly string[]): void {
    for (const hash of hashes) this.waiting.delete(hash);
  }
}

/** The limit of a block to which one of some blocks came closest. */
function limitOf(blocks: readonly Load[]): string {
  const shares = (["bytes", "steps", "memory"] as const).map((name) =>
    [Math.max(...blocks.map((load) => load[name])) / LIMITS[name], name] as const
  );
  const [share, name] = shares.reduce((most, one) => one[0] > most[0] ? one : most);
  return `${name}, ${Math.round(100 * share)} %`;
}

/** `count` different facts, from one on; they go round. */
const factsFrom = (from: number, count: number, facts: number) =>
  Array.from({ length: count }, (_, i) => (from + i) % facts);

type Row = (string | number)[];

/** Cells of blocks in a row that apply requests, and of the time that it took to build, sign and submit them. */
function cells(blocks: readonly Load[], ms: number): Row {
  const counts = blocks.map(({ applied }) => applied);
  return [
    blocks.length,
    `${Math.min(...counts)}, ${percentile(counts, 0.5)}, ${Math.max(...counts)}`,
    (sum(counts) / blocks.length / BLOCK_S).toFixed(1),
    (sum(counts) * 1000 / ms).toFixed(0),
    Math.max(...blocks.map(({ bytes }) => bytes)),
    (Math.max(...blocks.map(({ steps }) => steps)) / 1e9).toFixed(1),
    (Math.max(...blocks.map(({ memory }) => memory)) / 1e6).toFixed(1),
    limitOf(blocks),
  ];
}

const HEAD = [
  "requests",
  "facts",
  "an update",
  "blocks",
  "requests a block: min, p50, max",
  "a second, of 20 s a block",
  "a second, built and submitted",
  "bytes of a block, most",
  "steps, G, most",
  "memory, M, most",
  "what limits",
];

/** Requests of earlier blocks: each round applies as many as one block is to hold. */
async function benchBefore(
  market: Market,
  facts: number,
  rounds: number,
  perBlock: number,
  size: number,
  grow: boolean,
): Promise<Row> {
  const backlog: Made[][] = [];
  for (let i = 0; i < rounds; i++) {
    const wanted = grow
      ? Array.from({ length: perBlock }, (_, n) => facts + i * perBlock + n)
      : factsFrom(i * perBlock, perBlock, facts);
    backlog.push(await market.request(wanted));
    await market.settle();
  }
  const blocks: Load[] = [];
  let ms = 0;
  for (const requests of backlog) {
    const begun = performance.now();
    await market.apply(requests, size);
    ms += performance.now() - begun;
    blocks.push(...await market.settle());
  }
  return ["in earlier blocks", grow ? `${facts} to ${facts + rounds * perBlock}` : facts, size, ...cells(blocks, ms)];
}

/** Requests of the same blocks: the mempool always has enough of them, and of the updates that apply them, for a block. */
async function benchMeanwhile(market: Market, facts: number, rounds: number, size: number): Promise<Row> {
  let [ms, from] = [0, 0];
  for (let i = 0; i < rounds; i++) {
    const begun = performance.now();
    while ((await market.mempool()).bytes < LIMITS.bytes) {
      await market.apply(await market.request(factsFrom(from, size, facts)), size);
      from += size;
    }
    ms += performance.now() - begun;
    await market.next();
  }
  const blocks = (await market.settle()).slice(0, rounds);
  return ["in the same blocks", facts, size, ...cells(blocks, ms)];
}

const RETRACT_HEAD = [
  "requesters that retract, %",
  "retracts",
  "where",
  "updates lost",
  "requests in them",
  "updates built and signed again",
  "s",
  "requests applied",
];

/** A share of requesters takes requests back: at another node whose block is first, or here while the owner signs. */
async function benchRetracts(market: Market, from: number, share: number, elsewhere: boolean): Promise<Row> {
  const requests = await market.request(Array.from({ length: BLOCK }, (_, i) => from + i));
  await market.settle();
  const leaving = oneOfEach(requests).slice(0, Math.max(1, Math.round(BLOCK * share / 100)));
  const back = new Map<string, string>();
  for (const { ref, by } of leaving) {
    const { checked } = await market.client.retract(by.address, ref);
    back.set(ref, signTransaction(checked, by.key).cbor);
  }
  const chunks = pieces(requests, SMALL);
  const lost: { readonly hash: string; readonly requests: number }[] = [];
  const again: string[] = [];
  let ms = 0;
  const rebuild = async (hash: string) => {
    const begun = performance.now();
    try {
      const built = await market.client.rebuild(hash, market.owner.address);
      again.push(await market.submit(built, market.owner, built.applied?.length ?? 0));
    } catch (error) {
      if (!(error instanceof ApiError && error.code === "requests_fail")) throw error;
    }
    ms += performance.now() - begun;
  };
  if (elsewhere) {
    const hashes: string[] = [];
    await market.overtaken([...back.values()], async () => void hashes.push(...await market.apply(requests, SMALL)));
    const first = chunks.findIndex((some) => some.some(({ ref }) => back.has(ref)));
    hashes.slice(first).forEach((hash, i) => lost.push({ hash, requests: chunks[first + i]!.length }));
    market.forget(lost.map(({ hash }) => hash));
    const begun = performance.now();
    for (const { hash } of lost) {
      while (!await isLost(market.client, hash)) await new Promise((done) => setTimeout(done, 20));
    }
    ms += performance.now() - begun;
    for (const { hash } of lost) await rebuild(hash);
  } else {
    for (const some of chunks) {
      const built = await market.client.apply(market.owner.address, market.token, some.map(({ ref }) => ref));
      const gone = some.flatMap(({ ref }) => back.get(ref) ?? []);
      for (const retract of gone) await market.client.submit(retract);
      if (gone.length === 0) {
        await market.submit(built, market.owner, some.length);
        continue;
      }
      const hash = transactionHash(fromHex(built.unsignedTransaction));
      await market.submit(built, market.owner).then(
        () => Promise.reject(new Error("an update of a retracted request")),
        () => {},
      );
      lost.push({ hash, requests: some.length });
      await rebuild(hash);
    }
  }
  const applied = sum((await market.settle()).map((one) => one.applied));
  return [
    share,
    leaving.length,
    elsewhere ? "at another node, first in the block" : "here, before the owner submits",
    `${lost.length} of ${chunks.length}`,
    sum(lost.map((one) => one.requests)),
    again.length,
    (ms / 1000).toFixed(1),
    `${applied} of ${BLOCK - leaving.length}`,
  ];
}

/** Requests in a random order in which the requesters take turns: retracts of one would spend the same coins. */
function oneOfEach(requests: readonly Made[]): Made[] {
  const counts = new Map<Person, number>();
  return requests.map((made) => ({ made, at: Math.random() })).sort((a, b) => a.at - b.at).map(({ made }) => {
    const turn = (counts.get(made.by) ?? 0) + 1;
    counts.set(made.by, turn);
    return { made, turn };
  }).sort((a, b) => a.turn - b.turn).map(({ made }) => made);
}

async function isLost(client: TokenClient, hash: string): Promise<boolean> {
  try {
    await call(client.base, "GET", `/transaction?txHash=${hash}`);
  } catch (error) {
    if (error instanceof ApiError) return (error.details as { status?: string }).status === "expired";
    throw error;
  }
  return false;
}

/** Prints each row as soon as it is measured. */
async function printTable(
  head: readonly string[],
  rows: readonly (() => Promise<Row>)[],
  print: (line: string) => void,
): Promise<void> {
  table(head, []).forEach((line) => print(line));
  for (const row of rows) print(table([], [await row()]).at(-1)!);
}

const PARTS = ["blocks", "grow", "meanwhile", "retracts"] as const;

/**
 * Prints how many requests blocks apply, and how many a second; then what retracts cost. `--facts` and `--blocks` are for
 * shorter runs, `--part` for one part (`blocks`, `grow`, `meanwhile`, `retracts`), `--size` and `--requests` for other updates
 * and other numbers of requests in a block.
 */
export async function benchChainRequests(print: (line: string) => void = console.log): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(2),
    strict: false,
    options: {
      facts: { type: "string", default: "1000" },
      blocks: { type: "string", default: "20" },
      requests: { type: "string", default: `${BLOCK}` },
      part: { type: "string", multiple: true, default: [...PARTS] },
      size: { type: "string", multiple: true, default: [`${SMALL}`, `${LARGE}`] },
    },
  });
  const [facts, blocks, parts] = [Number(values.facts), Number(values.blocks), values.part as string[]];
  const perBlock = Number(values.requests);
  const sizes = (values.size as string[]).map(Number);
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  try {
    const running = await startArbor(folder, ["--block-ms", "0", "--slot-ms", "100"]);
    try {
      const market = new Market(running);
      await market.open();
      for (const some of pieces(Array.from({ length: facts }, (_, i) => i), BLOCK)) {
        const requests = await market.request(some);
        await market.settle();
        await market.apply(requests, 2 * SMALL);
        await market.settle();
      }
      const rows: (() => Promise<Row>)[] = sizes.flatMap((size) => [
        ...(parts.includes("blocks") ? [() => benchBefore(market, facts, blocks, perBlock, size, false)] : []),
        ...(parts.includes("meanwhile") ? [() => benchMeanwhile(market, facts, blocks, size)] : []),
      ]);
      if (parts.includes("grow")) {
        rows.push(() => benchBefore(market, facts, blocks, perBlock, sizes.at(-1) ?? LARGE, true));
      }
      if (rows.length > 0) await printTable(HEAD, rows, print);
      if (!parts.includes("retracts")) return;
      const first = facts + blocks * perBlock;
      const trials = [true, false].flatMap((elsewhere) => RETRACTS.map((share) => ({ elsewhere, share })));
      const retracts = trials.map(({ share, elsewhere }, i) => () =>
        benchRetracts(market, first + i * BLOCK, share, elsewhere)
      );
      print("");
      await printTable(RETRACT_HEAD, retracts, print);
    } finally {
      await running.end();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
