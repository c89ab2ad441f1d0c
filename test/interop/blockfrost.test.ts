/**
 * An existing Blockfrost service: `ARBOR_INTEROP_BLOCKFROST` is its URL, `ARBOR_INTEROP_MAGIC` its network,
 * `BLOCKFROST_PROJECT_ID` the project id if required. Nothing is changed on it. A service may lack some endpoints: this
 * is printed.
 */
import process from "node:process";
import { expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { created, type ScannedBlock } from "#src/cardano/block.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { enterpriseAddress } from "#src/cardano/address.ts";
import { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";

const url = process.env.ARBOR_INTEROP_BLOCKFROST;
const magic = Number(process.env.ARBOR_INTEROP_MAGIC ?? 42);
const projectId = process.env.BLOCKFROST_PROJECT_ID;
if (url === undefined) console.warn("SKIPPED: no ARBOR_INTEROP_BLOCKFROST names a Blockfrost service to look at.");

/** Blocks below the tip at which following begins. */
const BACK = 20;
const FOLLOW_MS = 60_000;

test.skipIf(url === undefined)("a Blockfrost service supports what the services need", async () => {
  const secret = projectId === undefined ? {} : { projectId };
  const http = new BlockfrostHttp({ url: url!, ...secret });
  const port = blockfrostPort({ url: url!, magic, log: silentLog, ...secret });
  const seen: Record<string, string> = {};
  const look = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const found = await work();
      seen[name] = "answers";
      return found;
    } catch (error) {
      seen[name] = (error as Error).message;
      return undefined;
    }
  };
  try {
    expect(await port.check()).toMatchObject({ ok: true, value: { magic } });
    const tip = valueOf(await port.tip());
    await look("parameters", async () => valueOf(await port.parameters()));
    const unusedAddress = enterpriseAddress(0, { kind: "key", hash: "0badc0de".repeat(7) }).hex;
    expect(await look("outputs", async () => valueOf(await port.utxosByAddress([unusedAddress])).value)).toEqual([]);
    await look("mempool", async () => expect(valueOf(await port.inMempool("00".repeat(32)))).toBe(false));
    for (const question of ["epoch", "eras", "genesis"] as const) {
      await look(question, async () => void valueOf<unknown>(await port[question]()));
    }
    await look("accounts", async () => valueOf(await port.accounts([{ kind: "key", hash: "0badc0de".repeat(7) }])));

    const nothing = new Map<number, Encodable>([[0, new Tagged(258, [[new Uint8Array(32), 0]])], [1, []], [2, 0]]);
    const refused = await look(
      "submit",
      async () => valueOf(await port.submit(encode([nothing, new Map(), true, null]))),
    );
    if (refused) expect(refused).toMatchObject({ outcome: "refused", failures: [expect.anything()] });

    const blocks = await look("follow", () => following(http, tip.height));
    for (const [i, block] of (blocks ?? []).entries()) if (i > 0) expect(block.previous).toBe(blocks![i - 1]!.hash);
    const made = blocks?.flatMap(({ transactions }) => transactions).at(-1);
    if (made) {
      const refs = created(made).map(({ ref }) => ref);
      const live = await look("outputs by reference", async () => valueOf(await port.utxosByRef(refs)).value);
      for (const { ref, output } of live ?? []) {
        const truth = created(made).find((one) => one.ref.index === ref.index)!.output;
        expect([output.address, output.value, output.datumHash]).toEqual([truth.address, truth.value, truth.datumHash]);
      }
    }
    console.info(JSON.stringify(seen, undefined, 2));
    for (const needed of ["parameters", "outputs"]) expect(seen[needed]).toBe("answers");
  } finally {
    port.close();
    http.close();
  }

  /** The blocks up to a height, from some below it. */
  async function following(http: BlockfrostHttp, height: number): Promise<ScannedBlock[]> {
    const { hash: from } = await http.get(`/blocks/${Math.max(1, height - BACK)}`) as { hash: string };
    const late = blockfrostPort({ url: url!, magic, log: silentLog, from, ...secret });
    const blocks: ScannedBlock[] = [];
    try {
      for await (const step of late.follow([], AbortSignal.timeout(FOLLOW_MS))) {
        if (step.type === "scanned") blocks.push(step.block);
        if ((blocks.at(-1)?.height ?? 0) >= height) break;
      }
    } finally {
      late.close();
    }
    if (blocks.length === 0) throw new Error(`no block within ${FOLLOW_MS} ms`);
    return blocks;
  }
});
