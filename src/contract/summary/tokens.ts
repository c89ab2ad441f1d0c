/** What a transaction does to tokens and their requests. */
import { type Output, refKey } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf } from "#src/cardano/value.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import { tokenName } from "#src/contract/datum.ts";
import { keyAddressHex } from "#src/contract/plutusAddress.ts";
import { readMint, type SpendRedeemer } from "#src/contract/redeemer.ts";
import {
  addressTextOf,
  describeAmount,
  describeChange,
  describeRequest,
  holdingOf,
  type KnownOutputs,
  networkOf,
  outputRefText,
  partyOf,
  type Viewer,
} from "#src/contract/summary/outputs.ts";
import { isRootProven } from "#src/contract/summary/rootProof.ts";
import type { ReadTransaction, UnknownPart } from "#src/contract/summary/readTransaction.ts";
import { describeScriptRun } from "#src/contract/summary/scriptRuns.ts";
import { paymentScript, versionOf } from "#src/contract/summary/scripts.ts";
import { type ContractInput, contractInputs, redeemerOf, type State } from "#src/contract/summary/contractInputs.ts";

type TokenChange = Summary["tokens"][number];

/** Changes of tokens and requests; `unknown`: parts that are unresolved, foreign or contrary to the contract. */
export interface TokenChanges
  extends Pick<Summary, "tokens" | "requests" | "retracts" | "refunds" | "mints" | "scripts"> {
  readonly unknown: readonly UnknownPart[];
}

/** Describes the changes to tokens and requests, in the ledger's order. */
export function describeTokens(read: ReadTransaction, known: KnownOutputs, viewer: Viewer | undefined): TokenChanges {
  const unknown: UnknownPart[] = [];
  const report = (code: string, message: string) => void unknown.push({ code, message });
  const policies = [...new Set([...read.mint.keys()].map(policyOf))].sort();
  const spent = contractInputs(read, known);
  for (const one of spent) reportInput(one, report);
  const made = read.outputs.map((output) => ({ output, holding: holdingOf(output) }));
  for (const [index, { output, holding }] of made.entries()) {
    const script = paymentScript(output.address);
    if (holding || script === undefined || versionOf(script) === undefined) continue;
    report("at_contract", `Output ${index} is at the contract and is neither a token's state nor a request.`);
  }
  const mints = [...read.mint].map(([asset, quantity]) => describeMint(asset, quantity, read, spent, policies, report));
  const tokens = tokenChanges(
    read.mint,
    spent,
    made.flatMap(({ output, holding }) => holding?.type === "state" ? [{ output, state: holding }] : []),
    report,
  );
  const modified = new Set(
    spent.flatMap(({ state, redeemer }) => state && redeemer?.type === "modify" ? [state.policy + state.tokenId] : []),
  );
  const retracts = spent.flatMap(({ ref, output, request, redeemer }) =>
    request && output && redeemer?.type === "retract" && !modified.has(request.policy + request.name)
      ? [{
        outputRef: outputRefText(ref),
        ...describeRequest(request, networkOf(output.address)),
        locked: describeAmount(output.value),
      }]
      : []
  );
  return {
    mints,
    tokens,
    requests: made.flatMap(({ output, holding }, index) => {
      if (holding?.type !== "request") return [];
      const { type: _type, ...request } = holding;
      return [{ index, ...request, locked: describeAmount(output.value) }];
    }),
    retracts,
    refunds: describeRefunds(read, spent, modified, viewer, report),
    scripts: read.redeemers.map((redeemer) => describeScriptRun(redeemer, spent, policies, report)),
    unknown,
  };
}

/** Reports an input that is unresolved, belongs to an unknown script, or has a redeemer of the wrong type. */
function reportInput(
  { ref, output, state, request, redeemer }: ContractInput,
  report: (code: string, message: string) => void,
): void {
  const name = outputRefText(ref);
  if (!output) return report("input_unknown", `The output that the input ${name} spends is unknown.`);
  const script = paymentScript(output.address);
  if (script === undefined) {
    if (output.address.startsWith("8")) report("byron", `The input ${name} is at a Byron address.`);
  } else if (versionOf(script) === undefined) {
    report("script", `The input ${name} is at an unknown script: ${script}.`);
  } else if (!state && !request) {
    report("at_contract", `The input ${name} is at the contract and is neither a token's state nor a request.`);
  } else if (!redeemer || (state !== undefined) !== (redeemer.type === "end" || redeemer.type === "modify")) {
    report("redeemer", `The redeemer of the contract input ${name} is missing or has the wrong type.`);
  }
}

function describeMint(
  asset: string,
  quantity: bigint,
  read: ReadTransaction,
  spent: readonly ContractInput[],
  policies: readonly string[],
  report: (code: string, message: string) => void,
): Summary["mints"][number] {
  const [policy, name] = [policyOf(asset), nameOf(asset)];
  const one = { policy, name, quantity };
  if (versionOf(policy) === undefined) {
    report("policy", `The transaction mints or burns ${quantity} of ${asset}, whose policy is unknown.`);
    return { ...one, tokenId: null, meaning: "other" };
  }
  const data = redeemerOf(read.redeemers, "mint", policies.indexOf(policy))?.data;
  const redeemer = data === undefined ? undefined : readMint(data);
  const isBoot = redeemer?.type === "minting" && quantity === 1n && tokenName(redeemer.seed) === name &&
    spent.some(({ ref }) => refKey(ref) === refKey(redeemer.seed));
  const meaning = isBoot ? "boot" : redeemer?.type === "burning" && quantity === -1n ? "end" : "other";
  if (meaning === "other") {
    report("mint", `The contract does not permit minting or burning ${quantity} of ${name} in this way.`);
  }
  return { ...one, tokenId: name, meaning };
}

/** One entry for each token whose state is spent or created, or that is minted or burnt. */
function tokenChanges(
  mint: Assets,
  spent: readonly ContractInput[],
  made: readonly { readonly output: Output; readonly state: State }[],
  report: (code: string, message: string) => void,
): TokenChange[] {
  const ids = new Set([
    ...spent.flatMap(({ state }) => state ? [state.policy + state.tokenId] : []),
    ...made.map(({ state }) => state.policy + state.tokenId),
    ...[...mint.keys()].filter((asset) => versionOf(policyOf(asset)) !== undefined),
  ]);
  return [...ids].map((id) => {
    const before = spent.filter(({ state }) => state && state.policy + state.tokenId === id);
    const after = made.filter(({ state }) => state.policy + state.tokenId === id);
    if (before.length > 1 || after.length > 1) report("state", `The token ${nameOf(id)} has more than one state.`);
    return tokenChange(id, mint.get(id) ?? 0n, before[0], after[0], spent, report);
  });
}

function tokenChange(
  id: string,
  minted: bigint,
  before: ContractInput | undefined,
  after: { readonly output: Output; readonly state: State } | undefined,
  spent: readonly ContractInput[],
  report: (code: string, message: string) => void,
): TokenChange {
  const [policy, tokenId] = [policyOf(id), nameOf(id)];
  const booted = minted === 1n && !before && after !== undefined;
  const ended = minted === -1n && before !== undefined && !after;
  if (!booted && !ended && (!before || !after || minted !== 0n)) {
    report(
      "state",
      `The state of the token ${tokenId} ${before ? "after" : "before"} this transaction is unknown.`,
    );
  }
  const modifies = before?.redeemer?.type === "modify";
  const named = modifies ? spent.filter(({ request }) => request?.policy === policy && request.name === tokenId) : [];
  const list = (type: SpendRedeemer["type"]) =>
    named.flatMap(({ ref, request, redeemer }) =>
      request && redeemer?.type === type
        ? [{ outputRef: outputRefText(ref), change: describeChange(request.key, request.operation) }]
        : []
    );
  const refuses = list("refuse");
  const proven = isRootProven(booted, ended, before, after?.state, named, spent.every(({ output }) => output));
  if (proven === false) {
    report("not_proven", `The new root of the token ${tokenId} could not be verified from the known data.`);
  }
  return {
    tokenId,
    policy,
    booted,
    ended,
    owner: { before: before?.state?.owner ?? null, after: after?.state.owner ?? null },
    root: { before: before?.state?.root ?? null, after: after?.state.root ?? null },
    locked: {
      before: before?.output?.value.lovelace ?? null,
      after: after?.output.value.lovelace ?? null,
    },
    applies: list("contribute"),
    skips: list("retract"),
    ...(refuses.length > 0 ? { refuses } : {}),
    proven,
  };
}

/** Refunds: output 0 is the next state, output n (n from 1) refunds the n-th request that is applied or refused. */
function describeRefunds(
  read: ReadTransaction,
  spent: readonly ContractInput[],
  modified: ReadonlySet<string>,
  viewer: Viewer | undefined,
  report: (code: string, message: string) => void,
): Summary["refunds"] {
  if (modified.size > 1) report("state", "More than one token is updated.");
  const refunded = spent.flatMap(({ ref, output, request, redeemer }) =>
    (redeemer?.type === "contribute" || redeemer?.type === "refuse") && request && output
      ? [{ ref, output, request, isApplied: redeemer.type === "contribute" }]
      : []
  );
  return refunded.flatMap(({ ref, output, request, isApplied }, i) => {
    const index = i + 1;
    const refund = read.outputs[index];
    const owed = output.value.lovelace - (isApplied ? request.fee : 0n);
    const address = keyAddressHex(request.refund, networkOf(output.address));
    if (!modified.has(request.policy + request.name)) {
      const done = isApplied ? "applied" : "refused";
      report("redeemer", `The request ${outputRefText(ref)} is ${done}, but its token is not updated.`);
    } else if (!refund || refund.address !== address || refund.value.lovelace < owed) {
      report("refund", `The request ${outputRefText(ref)} is not refunded to its address in full.`);
    } else {
      const whose = partyOf(address, viewer);
      return [{
        index,
        request: outputRefText(ref),
        address: addressTextOf(address),
        whose,
        lovelace: refund.value.lovelace,
      }];
    }
    return [];
  });
}
