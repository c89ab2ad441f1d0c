/** One thread of `deno task test:mutations`. */
import { parentPort, workerData } from "node:worker_threads";
import { initHash } from "#src/forestry/hash.ts";
import { mutate } from "../support/contract_mutants.ts";
import { worsen } from "../support/whole_mutants.ts";

/** What a thread is to do: how many mutants must be refused on each way, and which of the former two machines judge. */
export interface Work {
  readonly seed: number;
  readonly contexts: number;
  readonly sample: number;
  readonly whole: number;
}

const work = workerData as Work;
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
