/** One thread of `deno task test:mutations`. */
import { parentPort, workerData } from "node:worker_threads";
import { initHash } from "#src/forestry/hash.ts";
import { type BuildName, chooseBuild } from "../support/contract/contractBuild.ts";

/** The task of a thread: how many mutants must be refused in each way, and which of the former two machines judge. */
export interface Work {
  readonly build: BuildName;
  readonly seed: number;
  readonly contexts: number;
  readonly sample: number;
  readonly whole: number;
}

const work = workerData as Work;
chooseBuild(work.build);
// the modules that run the contract read at once which build it is
const { mutate } = await import("../support/contract/contractMutants.ts");
const { worsen } = await import("../support/contract/wholeMutants.ts");
await initHash();
const say = (said: string) => parentPort!.postMessage({ said });
let next = 0;
const contexts = mutate(work.seed, work.sample, ({ refused }) => {
  if (refused >= next) {
    say(`seed ${work.seed}: ${refused} refused`);
    next += 50_000;
  }
  return refused >= work.contexts;
});
const whole = await worsen(work.seed, ({ refused }) => refused >= work.whole);
parentPort!.postMessage({ contexts, whole });
