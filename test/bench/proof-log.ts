/**
 * The log of roots: what a block with states costs the log and a witness, on an empty log and on one with many entries. A
 * commit of one row and the signatures are the floor of both.
 */
import { utf8 } from "#src/base/bytes.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openCheckpoint, signCheckpoint } from "#src/tlog/checkpoint.ts";
import { leafHash } from "#src/tlog/hash.ts";
import { appendedTiles } from "#src/tlog/tiles.ts";
import { consistencyProof } from "#src/tlog/tree.ts";
import { addCheckpointText } from "#src/tlog/witness.ts";
import { appendFinal } from "#src/tokens/log/append.ts";
import { readCheckpoint } from "#src/tokens/log/read.ts";
import { readSize, withHashes } from "#src/tokens/log/rows.ts";
import { witness } from "#src/tokens/log/witness.ts";
import { mean, percentile, processorMs, table } from "./machine.ts";
import { addStates, type ProofWorld } from "./proof-world.ts";

/** States of the blocks. */
const STATES = [1, 20, 200] as const;

/** Blocks of each size. */
const ROUNDS = 30;

const ms = (list: readonly number[], share: number) => percentile(list, share).toFixed(1);

/** Fills the log with that many states, and prints the tables. */
export async function benchProofLog(
  world: ProofWorld,
  entries: number,
  print: (line: string) => void = console.log,
): Promise<void> {
  let next = 0;
  const block = async (states: number) => {
    await addStates(world.store, next, states, true);
    next += states;
  };
  await block(1);
  await append(world);
  const rows = await blocks(world, block);
  await addStates(world.store, next, entries, false);
  next += entries;
  await world.store.sql`analyze`;
  const began = performance.now();
  await append(world);
  const filled = performance.now() - began;
  rows.push(...await blocks(world, block));
  table(["entries", "states in the block", "append and sign, ms (p95)", "processor, ms", "cosign, ms (p95)"], rows)
    .forEach((line) => print(line));
  print("");
  const perSecond = (entries / (filled / 1_000)).toFixed(0);
  const parts = [
    [`append the states of an index that had no log: ${entries.toLocaleString("en")}`, `${perSecond}/s`],
    ...await floor(world),
  ];
  table(["part", "measured"], parts).forEach((line) => print(line));
  print("");
}

/** Appends what is final, as the writer of the log does. */
async function append({ store, log, magic }: ProofWorld): Promise<number> {
  let processor = 0;
  for (let more = true; more;) {
    ({ more } = await store.sql.begin(async (sql) => {
      const { pid } = await onlyRow(sql<{ pid: number }[]>`select pg_backend_pid() as pid`);
      const before = processorMs(pid);
      const appended = await appendFinal(sql, { net: magic, depth: 0, signer: log });
      processor += processorMs(pid) - before;
      return appended;
    }));
  }
  return processor;
}

async function blocks(world: ProofWorld, block: (states: number) => Promise<void>): Promise<(string | number)[][]> {
  const { store, witness: signer, settings } = world;
  const rows: (string | number)[][] = [];
  let signed = 0;
  const cosign = async () => {
    const size = await readSize(store.sql);
    const proof = await withHashes(store.sql, (hashOf) => consistencyProof(signed, size, hashOf));
    const checkpoint = await readCheckpoint(store.sql) ?? "";
    const answer = await witness(store, signer, settings, addCheckpointText({ before: signed, proof, checkpoint }));
    if (answer.type === "conflict") {
      signed = answer.size;
      return false;
    }
    if (answer.type !== "signed") throw new Error(`the witness does not sign: ${JSON.stringify(answer)}`);
    signed = size;
    return answer.line;
  };
  // what was signed before
  while (await cosign() === false);
  for (const states of STATES) {
    const [appended, processor, cosigned]: [number[], number[], number[]] = [[], [], []];
    await store.sql`analyze`;
    const entries = await readSize(store.sql);
    for (let round = -2; round < ROUNDS; round++) {
      await block(states);
      const began = performance.now();
      const used = await append(world);
      const done = performance.now();
      if (await cosign() === false) throw new Error("the witness has signed another size");
      if (round < 0) continue;
      appended.push(done - began);
      processor.push(used);
      cosigned.push(performance.now() - done);
    }
    rows.push([
      entries.toLocaleString("en"),
      states,
      `${ms(appended, 0.5)} (${ms(appended, 0.95)})`,
      ms(processor, 0.5),
      `${ms(cosigned, 0.5)} (${ms(cosigned, 0.95)})`,
    ]);
  }
  return rows;
}

/** The least that the parts of it take: a commit, a signature, its verification, the hashes of a block. */
async function floor({ store, log }: ProofWorld): Promise<(string | number)[][]> {
  const commits: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const began = performance.now();
    await store.sql.begin((sql) => sql`update chain_cursor set tip_slot = tip_slot + 1`);
    commits.push(performance.now() - began);
  }
  const root = leafHash(utf8("root"));
  const note = signCheckpoint(log, { origin: log.name, size: 1, root });
  const entry = utf8("e".repeat(400));
  const bytes = await onlyRow(store.sql<{ entry: number; tile: number }[]>`
    select pg_total_relation_size('log_entry')::float8 / (select size from log_head) as entry,
      pg_total_relation_size('log_tile')::float8 / (select size from log_head) as tile`);
  return [
    ["commit of one row", `${ms(commits, 0.5)} ms`],
    ["sign a checkpoint", `${mean(() => signCheckpoint(log, { origin: log.name, size: 1, root })).toFixed(2)} ms`],
    ["verify its signature", `${mean(() => openCheckpoint(note, [log])).toFixed(2)} ms`],
    [
      "hash 20 entries into tiles",
      `${
        mean(() => appendedTiles(0, Array.from({ length: 20 }, () => leafHash(entry)), () => new Uint8Array())).toFixed(
          2,
        )
      } ms`,
    ],
    ["bytes of an entry in the database, with indexes", Math.round(bytes.entry)],
    ["bytes of tiles for an entry", Math.round(bytes.tile)],
  ];
}
