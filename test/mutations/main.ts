/**
 * `deno task test:mutations [--build=3.0.0] [--count=1000000] [--whole=10000] [--threads=2] [--seed=…]`: this many
 * mutants of honest transactions of the contract must be refused by its scripts: those of the current version, where
 * version 2 judges every five hundredth as well, or those of version 2 (`--build=2.0.0`).
 *
 * `count` are mutants of every kind of transaction as script contexts (`contractMutants.ts`): all scripts of each run,
 * as a JavaScript form of the very term whose encoding is published; every five hundredth also by the product's own
 * machine. Mutants that the scripts accept are judged by `contractPromises.ts` and do not count as refusals. `whole`
 * are complete, balanced, signed transactions, judged by every rule of the ledger and the published code
 * (`wholeMutants.ts`).
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { MutantCounts } from "../support/contract/contractMutants.ts";
import type { WholeMutantCounts } from "../support/contract/wholeMutants.ts";
import { BUILDS } from "../support/contract/contractBuild.ts";
import type { Work } from "./worker.ts";

const { values } = parseArgs({
  options: {
    build: { type: "string", default: "3.0.0" },
    count: { type: "string", default: "1000000" },
    whole: { type: "string", default: "10000" },
    threads: { type: "string", default: "2" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const threads = Number(values.threads);
const build = BUILDS.find((name) => name === values.build);
if (!build) throw new TypeError(`there is no build ${values.build}`);
const SAMPLE = 500;

interface Done {
  readonly contexts: MutantCounts;
  readonly whole: WholeMutantCounts;
}

function run(work: Work): Promise<Done> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: work });
    worker.on("message", (message: Done | { said: string }) => {
      if ("said" in message) console.log(message.said);
      else resolve(message);
    });
    worker.on("error", reject);
  });
}

const began = performance.now();
const share = (count: string) => Math.ceil(Number(count) / threads);
const done = await Promise.all(
  Array.from(
    { length: threads },
    (_, i) =>
      run({
        build,
        seed: Number(values.seed) + i,
        contexts: share(values.count),
        sample: SAMPLE,
        whole: share(values.whole),
      }),
  ),
);
const sum = (pick: (one: Done) => number) => done.reduce((all, one) => all + pick(one), 0);
const reasons = new Map<string, number>();
for (const { contexts } of done) {
  for (const [said, times] of contexts.reasons) reasons.set(said, (reasons.get(said) ?? 0) + times);
}
for (const [said, times] of [...reasons].sort(([, a], [, b]) => b - a)) console.log(`${times}`.padStart(9), said);
const violations = done.flatMap(({ contexts, whole }) => [...contexts.violations, ...whole.violations]);
console.log(
  `${build} build, seeds ${values.seed} to ${Number(values.seed) + threads - 1}, ${
    Math.round((performance.now() - began) / 1000)
  } s\n` +
    `mutated contexts: ${sum((one) => one.contexts.refused)} refused, ${
      sum((one) => one.contexts.equivalent)
    } as good as honest, ${sum((one) => one.contexts.impossible)} that no ledger has; ${
      sum((one) => one.contexts.judgedTwice)
    } judged by both machines\n` +
    `whole transactions: ${sum((one) => one.whole.refused)} refused, ${
      sum((one) => one.whole.equivalent)
    } as good as honest\n` +
    `${violations.length} violations`,
);
for (const violation of violations) console.log(violation);
process.exit(violations.length > 0 ? 1 : 0);
