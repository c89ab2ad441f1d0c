/** One builder thread: takes orders one at a time and reports on each. */
import { parentPort } from "node:worker_threads";
import { toHex } from "#src/base/bytes.ts";
import { reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { buildBatch } from "#src/cage/transactions/batch.ts";
import { buildBoot } from "#src/cage/transactions/boot.ts";
import { measuring } from "#src/cage/transactions/common.ts";
import { buildEnd } from "#src/cage/transactions/end.ts";
import { buildRequest } from "#src/cage/transactions/request.ts";
import { buildRetract } from "#src/cage/transactions/retract.ts";
import { buildTransfer } from "#src/cage/transactions/transfer.ts";
import { buildUpdate, type UpdateFailure, type UpdateInput } from "#src/cage/transactions/update.ts";
import { cutOf } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { bundle } from "#src/builders/bundle.ts";
import { unpacked } from "#src/builders/threadCodec.ts";
import { explain } from "#src/builders/explain.ts";
import { type FactsAtHand, openFacts } from "#src/builders/facts.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { prove } from "#src/builders/proofs.ts";
import { walletBuildJobs } from "#src/builders/walletBuilds.ts";
import { walletKeyJobs } from "#src/builders/walletKeys.ts";
import type { JobFailure, JobInput, JobName, JobValue, Order, Report } from "#src/builders/jobs.ts";

type Handlers = { [J in JobName]: (input: JobInput<J>) => Promise<Result<JobValue<J>, JobFailure<J>>> };

/** What evaluates scripts, loaded when first asked for: threads that derive keys do without. */
const scripts = () => import("#src/plutus/evaluate.ts");

/** A build of an update, with the facts opened. */
function updating<T>(build: (input: UpdateInput, facts: Forestry, measure: Measure) => Result<T, UpdateFailure>) {
  return async ({ facts, ...input }: UpdateInput & { readonly facts: FactsAtHand }) => {
    const [{ evaluateScripts }] = await Promise.all([scripts(), initHash()]);
    const opened = openFacts(facts);
    if (!opened.ok) return fail("state_differs", opened.error.message, opened.error.details);
    return build(input, opened.value, measuring(evaluateScripts, input));
  };
}

const handlers: Handlers = {
  async warm() {
    await Promise.all([scripts(), initHash()]);
    return ok(null);
  },
  async boot(input) {
    return buildBoot(input, measuring((await scripts()).evaluateScripts, input));
  },
  async request(input) {
    return buildRequest(input);
  },
  async retract(input) {
    return buildRetract(input, measuring((await scripts()).evaluateScripts, input));
  },
  update: updating(buildUpdate),
  batch: updating(buildBatch),
  async transfer(input) {
    return buildTransfer(input, measuring((await scripts()).evaluateScripts, input));
  },
  async end(input) {
    return buildEnd(input, measuring((await scripts()).evaluateScripts, input));
  },
  async evaluate(input) {
    return ok((await scripts()).evaluateScripts(input));
  },
  async root(input) {
    await initHash();
    const facts = openFacts(input);
    return facts.ok ? ok(toHex(facts.value.root)) : facts;
  },
  async cut(input) {
    await initHash();
    const facts = openFacts(input);
    return facts.ok ? ok({ root: toHex(facts.value.root), cut: cutOf(facts.value) }) : facts;
  },
  explain,
  prove,
  bundle,
  ...walletKeyJobs,
  ...walletBuildJobs,
};

async function carryOut<J extends JobName>({ id, job, input }: Order & { job: J }): Promise<Report> {
  try {
    return { id, result: await handlers[job](unpacked(job, input)) };
  } catch (error) {
    return { id, broke: reason(error) };
  }
}

const port = parentPort;
if (!port) throw new Error("this is a thread's module; createBuilders starts it");
port.on("message", async (order: Order) => port.postMessage(await carryOut(order)));
