/** A builder thread: receives jobs one at a time and sends the results. */
import { parentPort } from "node:worker_threads";
import { toHex } from "#src/base/bytes.ts";
import { reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { buildBatch } from "#src/cage/transactions/batch.ts";
import { buildBoot } from "#src/cage/transactions/boot.ts";
import { measureWith } from "#src/cage/transactions/common.ts";
import { buildEnd } from "#src/cage/transactions/end.ts";
import { buildRequest } from "#src/cage/transactions/request.ts";
import { buildRetract } from "#src/cage/transactions/retract.ts";
import { buildTransfer } from "#src/cage/transactions/transfer.ts";
import { buildUpdate, type UpdateFailure, type UpdateInput } from "#src/cage/transactions/update.ts";
import { cutOf } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { bundle } from "#src/builders/bundle.ts";
import { decodeJobInput } from "#src/builders/threadCodec.ts";
import { summarise } from "#src/builders/explain.ts";
import { openFacts, type PackedFacts } from "#src/builders/packedFacts.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { prove } from "#src/builders/proofs.ts";
import { walletBuildJobs } from "#src/builders/walletBuilds.ts";
import { walletKeyJobs } from "#src/builders/walletKeys.ts";
import type { JobFailure, JobInput, JobName, JobOrder, JobReport, JobValue } from "#src/builders/jobs.ts";

type JobHandlers = { [J in JobName]: (input: JobInput<J>) => Promise<Result<JobValue<J>, JobFailure<J>>> };

/** The script evaluator, loaded at first use: threads that derive keys do without it. */
const loadEvaluator = () => import("#src/plutus/evaluate.ts");

/** The handler of an update build: opens the facts first. */
function updateHandler<T>(build: (input: UpdateInput, facts: Forestry, measure: Measure) => Result<T, UpdateFailure>) {
  return async ({ facts, ...input }: UpdateInput & { readonly facts: PackedFacts }) => {
    const [{ evaluateScripts }] = await Promise.all([loadEvaluator(), initHash()]);
    const opened = openFacts(facts);
    if (!opened.ok) return fail("state_differs", opened.error.message, opened.error.details);
    return build(input, opened.value, measureWith(evaluateScripts, input));
  };
}

const handlers: JobHandlers = {
  async warm() {
    await Promise.all([loadEvaluator(), initHash()]);
    return ok(null);
  },
  async boot(input) {
    return buildBoot(input, measureWith((await loadEvaluator()).evaluateScripts, input));
  },
  async request(input) {
    return buildRequest(input);
  },
  async retract(input) {
    return buildRetract(input, measureWith((await loadEvaluator()).evaluateScripts, input));
  },
  update: updateHandler(buildUpdate),
  batch: updateHandler(buildBatch),
  async transfer(input) {
    return buildTransfer(input, measureWith((await loadEvaluator()).evaluateScripts, input));
  },
  async end(input) {
    return buildEnd(input, measureWith((await loadEvaluator()).evaluateScripts, input));
  },
  async evaluate(input) {
    return ok((await loadEvaluator()).evaluateScripts(input));
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
  explain: summarise,
  prove,
  bundle,
  ...walletKeyJobs,
  ...walletBuildJobs,
};

async function runJob<J extends JobName>({ id, job, input }: JobOrder & { job: J }): Promise<JobReport> {
  try {
    return { id, result: await handlers[job](decodeJobInput(job, input)) };
  } catch (error) {
    return { id, broke: reason(error) };
  }
}

const port = parentPort;
if (!port) throw new Error("this is a thread's module; createBuilders starts it");
port.on("message", async (order: JobOrder) => port.postMessage(await runJob(order)));
