/** A builder thread: receives jobs one at a time and sends the results. */
import { parentPort } from "node:worker_threads";
import { toHex } from "#src/base/bytes.ts";
import { reason } from "#src/base/log.ts";
import { ok, type Result } from "#src/base/result.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { buildBatch } from "#src/contract/transactions/batch.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { type BuildInput, measureWith } from "#src/contract/transactions/common.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildTransfer } from "#src/contract/transactions/transfer.ts";
import { buildUpdate, type UpdateFailure } from "#src/contract/transactions/update.ts";
import type { UpdateInput } from "#src/contract/transactions/updateRequests.ts";
import { cutOf } from "#src/forestry/cut.ts";
import { initHash } from "#src/forestry/hash.ts";
import { bundle } from "#src/threads/bundle.ts";
import { box } from "#src/threads/messages.ts";
import { decodeJobInput } from "#src/wallets/builds/jobCodec.ts";
import { summarise } from "#src/tokens/builds/explain.ts";
import { inclusions } from "#src/tokens/builds/inclusions.ts";
import { keyHistory } from "#src/tokens/builds/keyHistory.ts";
import { openFacts, openState, type StateFacts } from "#src/tokens/builds/packedFacts.ts";
import type { Forestry } from "#src/forestry/trie.ts";
import { prove } from "#src/tokens/builds/proofs.ts";
import { balanceTransaction, runsScripts } from "#src/wallets/builds/balance.ts";
import { consolidate } from "#src/wallets/builds/consolidate.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import { attempted, decodeTransaction } from "#src/wallets/builds/decode.ts";
import { migrate } from "#src/wallets/builds/migrate.ts";
import type { ConstructInput } from "#src/wallets/builds/types.ts";
import { deriveCredentials } from "#src/cardano/keys/bulk.ts";
import { mnemonicKeys, openRoot, publicKeys, reseal, signMessages, signWithMnemonic } from "#src/cardano/keys/root.ts";
import { sharedCredentials } from "#src/wallets/shared/credentials.ts";
import { scriptsAt } from "#src/wallets/shared/scripts.ts";
import { sharedSigning } from "#src/wallets/shared/sign.ts";
import type { SharedConstructInput } from "#src/wallets/shared/types.ts";
import type { JobFailure, JobInput, JobName, JobOrder, JobReport, JobValue } from "#src/threads/jobs.ts";

type Outcome<J extends JobName> = Result<JobValue<J>, JobFailure<J>>;
type JobHandlers = { [J in JobName]: (input: JobInput<J>) => Outcome<J> | Promise<Outcome<J>> };

/** The script evaluator, loaded at first use: threads that derive keys do without it. */
const loadEvaluator = () => import("#src/plutus/evaluate.ts");

/** The handler of a build that runs scripts. */
function measuredHandler<I extends Pick<BuildInput, "parameters" | "slots">, R>(
  build: (input: I, measure: Measure) => R,
) {
  return async (input: I) => build(input, measureWith((await loadEvaluator()).evaluateScripts, input));
}

/** The handler of an update build: opens the facts of the token's state first. */
function updateHandler<T>(build: (input: UpdateInput, facts: Forestry, measure: Measure) => Result<T, UpdateFailure>) {
  return async ({ facts, changes, ...input }: UpdateInput & StateFacts) => {
    const [{ evaluateScripts }] = await Promise.all([loadEvaluator(), initHash()]);
    const opened = openState({ facts, changes });
    if (!opened.ok) return opened;
    return build(input, opened.value, measureWith(evaluateScripts, input));
  };
}

/** The input of a shared wallet's build, with the scripts of its coins. */
async function withScripts({ payment, delegation, ...input }: SharedConstructInput): Promise<ConstructInput> {
  const scripts = await scriptsAt({ payment, delegation }, input.funds.coins.map(({ path }) => path));
  return { ...input, funds: { ...input.funds, scripts } };
}

const handlers: JobHandlers = {
  async warm() {
    await Promise.all([loadEvaluator(), initHash()]);
    return ok(null);
  },
  boot: measuredHandler(buildBoot),
  request: buildRequest,
  retract: measuredHandler(buildRetract),
  update: updateHandler(buildUpdate),
  batch: updateHandler(buildBatch),
  transfer: measuredHandler(buildTransfer),
  end: measuredHandler(buildEnd),
  async evaluate(input) {
    return ok((await loadEvaluator()).evaluateScripts(input));
  },
  async measure(input) {
    return ok((await import("#src/plutus/measurement.ts")).measureRedeemers(input));
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
  keyHistory,
  inclusions,
  bundle,
  openRoot,
  signMessages,
  reseal,
  publicKeys,
  mnemonicKeys,
  signWithMnemonic,
  deriveCredentials,
  sharedCredentials,
  construct,
  fees: estimateFees,
  sharedConstruct: async (input) => construct(await withScripts(input)),
  sharedFees: async (input) => estimateFees(await withScripts(input)),
  sharedSigning: (input) => attempted(() => sharedSigning(input)),
  migrate,
  consolidate,
  async balance(input) {
    // the evaluator is loaded only if a script runs
    if (runsScripts(input)) return await measuredHandler(balanceTransaction)(input);
    return balanceTransaction(input, () => {
      throw new TypeError("a transaction without redeemers has nothing to evaluate");
    });
  },
  decode: decodeTransaction,
};

async function runJob<J extends JobName>({ id, job, input }: JobOrder & { job: J }): Promise<JobReport> {
  try {
    return { id, result: await handlers[job](decodeJobInput(input)) };
  } catch (error) {
    return { id, broke: reason(error) };
  }
}

const port = parentPort;
if (!port) throw new Error("this is a thread's module; createBuilders starts it");
port.on("message", async (order: JobOrder) => port.postMessage(box(await runJob(order))));
