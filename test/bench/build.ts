/** Build times in a builder thread, requested in the same way as by the service. */
import { cpus } from "node:os";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { utf8 } from "#src/base/bytes.ts";
import { createLog } from "#src/base/log.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import type { PackedFacts } from "#src/tokens/builds/packedFacts.ts";
import { packFacts } from "../support/contract/packedFacts.ts";
import { decodeDatum } from "#src/contract/datum.ts";
import { bucketOf, cutOf, neededBuckets } from "#src/forestry/cut.ts";
import { digest, initHash } from "#src/forestry/hash.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { op, Outputs, requested, stated } from "../support/contract/contractLedger.ts";
import { coin, person } from "../support/wallets/person.ts";

const NAME = "5a".repeat(32);
const RUNS = 21;
const alice = person("alice");

type Run = () => Promise<{ ok: boolean }>;

async function timed(run: Run): Promise<number> {
  const begin = performance.now();
  if (!(await run()).ok) throw new Error("a build failed");
  return performance.now() - begin;
}

/**
 * Prints the median and the slowest of 21 builds of each kind (3 from all facts), by facts of the token and outputs of
 * the wallet.
 */
export async function benchBuild(print: (line: string) => void = console.log): Promise<void> {
  await initHash();
  const builders = startBuilders({ threads: 1, log: createLog("warn") });
  const deadline = () => ({ deadline: Date.now() + 60_000 });
  const row = async (what: string, run: Run, runs = RUNS) => {
    const times: number[] = [];
    for (let i = 0; i < runs; i++) times.push(await timed(run));
    const [first] = times;
    times.sort((a, b) => a - b);
    const cells = [what, ...[times[times.length >> 1]!, times.at(-1)!, first!].map((ms) => ms.toFixed(1))];
    print([44, 11, 11, 11].map((width, i) => i === 0 ? cells[0]!.padEnd(width) : cells[i]!.padStart(width)).join(""));
  };
  try {
    const begin = performance.now();
    await builders.warm();
    print(`builds in one thread, ${cpus().length} × ${cpus()[0]?.model.trim()}`);
    print(`a thread is warm after ${(performance.now() - begin).toFixed(0)} ms`);
    print("build                                         median ms  slowest ms    first ms");
    const wallets = [1, 1_000].map((count) => ({
      count,
      outputs: new Outputs(...Array.from({ length: count }, (_, i) => coin(alice.base, 20_000_000n + BigInt(i)))),
    }));
    for (const { count, outputs } of wallets) {
      await row(`boot, ${count} outputs`, () => builders.run("boot", outputs.input(alice.base), deadline()));
      const ask = { ...outputs.input(alice.base), token: NAME, key: utf8("key"), operation: op.insert("value") };
      await row(`request, ${count} outputs`, () => builders.run("request", ask, deadline()));
    }
    const { outputs } = wallets[0]!;
    for (const size of [1_000, 100_000]) {
      const leaves = Array.from({ length: size }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
      const trie = Forestry.from(leaves);
      const state = stated(NAME, alice.key, trie);
      const cut = cutOf(trie);
      for (const many of [1, 20]) {
        const requests = Array.from({ length: many }, (_, i) => requested(NAME, `fresh ${i}`, op.insert("value")));
        const paths = requests.map(({ output }) => {
          const datum = decodeDatum(output.datum!);
          if (datum?.type !== "request") throw new TypeError("no request");
          return digest(datum.request.key);
        });
        const buckets = neededBuckets(cut, paths);
        const wanted = new Set(buckets);
        const few = leaves.filter((leaf) => wanted.has(bucketOf(leaf.path)));
        const ways: [string, PackedFacts][] = [
          ["all facts", packFacts(leaves)],
          ["a cut", packFacts(few, { hashes: cut, buckets })],
        ];
        for (const [how, facts] of ways) {
          const input = { ...outputs.input(alice.base), state, requests, facts };
          await row(
            `update of ${many}, ${size.toLocaleString("en")} facts, ${how}`,
            () => builders.run("update", input, deadline()),
            how === "a cut" ? RUNS : 3,
          );
        }
      }
    }
  } finally {
    await builders.stop();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await benchBuild();
