/** What a transaction does to tokens and their requests. */
import { type Output, refKey } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf } from "#src/cardano/value.ts";
import type { Summary } from "#src/api/summary.ts";
import { tokenName } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { readMint, type SpendRedeemer } from "#src/cage/redeemer.ts";
import {
  amountTold,
  changeTold,
  holdingOf,
  type KnownOutputs,
  networkOf,
  partyOf,
  refText,
  requestTold,
  textOf,
} from "#src/cage/summary/outputs.ts";
import { provenBy } from "#src/cage/summary/proven.ts";
import type { ReadTransaction, Strange } from "#src/cage/summary/read.ts";
import { runTold } from "#src/cage/summary/runs.ts";
import { paymentScript, versionOf } from "#src/cage/summary/scripts.ts";
import { argument, type Spent, spentBy, type State } from "#src/cage/summary/spent.ts";

type TokenTold = Summary["tokens"][number];

/** What a transaction does to tokens; `strange` has what does not fit together. */
export interface TokensTold
  extends Pick<Summary, "tokens" | "requests" | "retracts" | "refunds" | "mints" | "scripts"> {
  readonly strange: readonly Strange[];
}

/** Tells what happens to tokens and requests, in the ledger's order. */
export function tokensTold(read: ReadTransaction, known: KnownOutputs, viewer: string | undefined): TokensTold {
  const strange: Strange[] = [];
  const say = (code: string, message: string) => void strange.push({ code, message });
  const policies = [...new Set([...read.mint.keys()].map(policyOf))].sort();
  const spent = spentBy(read, known);
  for (const one of spent) told(one, say);
  const made = read.outputs.map((output) => ({ output, holding: holdingOf(output) }));
  for (const [index, { output, holding }] of made.entries()) {
    const script = paymentScript(output.address);
    if (holding || script === undefined || versionOf(script) === undefined) continue;
    say("at_contract", `Output ${index} is at the contract and is neither a token's state nor a request.`);
  }
  const mints = [...read.mint].map(([asset, quantity]) => minted(asset, quantity, read, spent, policies, say));
  const tokens = changes(
    read.mint,
    spent,
    made.flatMap(({ output, holding }) => holding?.type === "state" ? [{ output, state: holding }] : []),
    say,
  );
  const modified = new Set(
    spent.flatMap(({ state, redeemer }) => state && redeemer?.type === "modify" ? [state.policy + state.tokenId] : []),
  );
  const retracts = spent.flatMap(({ ref, output, request, redeemer }) =>
    request && output && redeemer?.type === "retract" && !modified.has(request.policy + request.name)
      ? [{
        outputRef: refText(ref),
        ...requestTold(request, networkOf(output.address)),
        locked: amountTold(output.value),
      }]
      : []
  );
  return {
    mints,
    tokens,
    requests: made.flatMap(({ output, holding }, index) => {
      if (holding?.type !== "request") return [];
      const { type: _type, ...asked } = holding;
      return [{ index, ...asked, locked: amountTold(output.value) }];
    }),
    retracts,
    refunds: refunds(read, spent, modified, viewer, say),
    scripts: read.redeemers.map((redeemer) => runTold(redeemer, spent, policies, say)),
    strange,
  };
}

/** Says what is strange about an input. */
function told({ ref, output, state, request, redeemer }: Spent, say: (code: string, message: string) => void): void {
  const name = refText(ref);
  if (!output) return say("input_unknown", `It is not known what the input ${name} is.`);
  const script = paymentScript(output.address);
  if (script === undefined) {
    if (output.address.startsWith("8")) say("byron", `The input ${name} is of a Byron address.`);
  } else if (versionOf(script) === undefined) {
    say("script", `The input ${name} is of a script that is not known here: ${script}.`);
  } else if (!state && !request) {
    say("at_contract", `The input ${name} is at the contract and is neither a token's state nor a request.`);
  } else if (!redeemer || (state !== undefined) !== (redeemer.type === "end" || redeemer.type === "modify")) {
    say("redeemer", `The input ${name} is of the contract, and the argument for it is not one that fits.`);
  }
}

function minted(
  asset: string,
  quantity: bigint,
  read: ReadTransaction,
  spent: readonly Spent[],
  policies: readonly string[],
  say: (code: string, message: string) => void,
): Summary["mints"][number] {
  const [policy, name] = [policyOf(asset), nameOf(asset)];
  const one = { policy, name, quantity };
  if (versionOf(policy) === undefined) {
    say("policy", `${quantity} of an asset of a policy that is not known here come or go: ${asset}.`);
    return { ...one, tokenId: null, meaning: "other" };
  }
  const data = argument(read.redeemers, "mint", policies.indexOf(policy))?.data;
  const redeemer = data === undefined ? undefined : readMint(data);
  const born = redeemer?.type === "minting" && quantity === 1n && tokenName(redeemer.seed) === name &&
    spent.some(({ ref }) => refKey(ref) === refKey(redeemer.seed));
  const meaning = born ? "boot" : redeemer?.type === "burning" && quantity === -1n ? "end" : "other";
  if (meaning === "other") say("mint", `${quantity} of ${name} come or go in a way that the contract does not have.`);
  return { ...one, tokenId: name, meaning };
}

/** Tokens before and after: those whose state is spent or made, and those that are minted or burnt. */
function changes(
  mint: Assets,
  spent: readonly Spent[],
  made: readonly { readonly output: Output; readonly state: State }[],
  say: (code: string, message: string) => void,
): TokenTold[] {
  const ids = new Set([
    ...spent.flatMap(({ state }) => state ? [state.policy + state.tokenId] : []),
    ...made.map(({ state }) => state.policy + state.tokenId),
    ...[...mint.keys()].filter((asset) => versionOf(policyOf(asset)) !== undefined),
  ]);
  return [...ids].map((id) => {
    const before = spent.filter(({ state }) => state && state.policy + state.tokenId === id);
    const after = made.filter(({ state }) => state.policy + state.tokenId === id);
    if (before.length > 1 || after.length > 1) say("state", `The token ${nameOf(id)} has more than one state.`);
    return changed(id, mint.get(id) ?? 0n, before[0], after[0], spent, say);
  });
}

function changed(
  id: string,
  minted: bigint,
  before: Spent | undefined,
  after: { readonly output: Output; readonly state: State } | undefined,
  spent: readonly Spent[],
  say: (code: string, message: string) => void,
): TokenTold {
  const [policy, tokenId] = [policyOf(id), nameOf(id)];
  const booted = minted === 1n && !before && after !== undefined;
  const ended = minted === -1n && before !== undefined && !after;
  if (!booted && !ended && (!before || !after || minted !== 0n)) {
    say(
      "state",
      `The token ${tokenId} has no state ${before ? "after" : "before"} this transaction that is known here.`,
    );
  }
  const modifies = before?.redeemer?.type === "modify";
  const named = modifies ? spent.filter(({ request }) => request?.policy === policy && request.name === tokenId) : [];
  const list = (type: SpendRedeemer["type"]) =>
    named.filter(({ redeemer }) => redeemer?.type === type).map(({ ref, request }) => ({
      outputRef: refText(ref),
      change: changeTold(request!.key, request!.operation),
    }));
  const proven = provenBy(booted, ended, before, after?.state, named, spent.every(({ output }) => output));
  if (proven === false) {
    say("not_proven", `The new root of the token ${tokenId} does not follow from what is known here.`);
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
    proven,
  };
}

/** From the second output on, output after output refunds request after request that is applied. */
function refunds(
  read: ReadTransaction,
  spent: readonly Spent[],
  modified: ReadonlySet<string>,
  viewer: string | undefined,
  say: (code: string, message: string) => void,
): Summary["refunds"] {
  if (modified.size > 1) say("state", "More than one token is updated.");
  const applied = spent.flatMap(({ ref, output, request, redeemer }) =>
    redeemer?.type === "contribute" && request && output ? [{ ref, output, request }] : []
  );
  return applied.flatMap(({ ref, output, request }, i) => {
    const index = i + 1;
    const refund = read.outputs[index];
    const owed = output.value.lovelace - request.fee;
    const address = keyAddressHex(request.refund, networkOf(output.address));
    if (!modified.has(request.policy + request.name)) {
      say("redeemer", `The request ${refText(ref)} is applied, and its token is not updated.`);
    } else if (!refund || refund.address !== address || refund.value.lovelace < owed) {
      say("refund", `The request ${refText(ref)} is not refunded as it should be.`);
    } else {
      const whose = partyOf(address, viewer);
      return [{ index, request: refText(ref), address: textOf(address), whose, lovelace: refund.value.lovelace }];
    }
    return [];
  });
}
