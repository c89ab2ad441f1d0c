/** What a transaction does to tokens and their requests. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import type { Data } from "#src/cardano/data.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf } from "#src/cardano/value.ts";
import type { Summary, SummaryHolding, SummaryRedeemer } from "#src/api/summary.ts";
import { changeOf, EMPTY_ROOT, type Request, tokenName } from "#src/cage/datum.ts";
import { keyAddressHex } from "#src/cage/plutus_address.ts";
import { type Action, readMint, readSpend, type SpendRedeemer } from "#src/cage/redeemer.ts";
import {
  amountTold,
  changeTold,
  holdingOf,
  type KnownOutputs,
  networkOf,
  partyOf,
  refText,
  requestIn,
  requestTold,
  textOf,
} from "#src/cage/summary/outputs.ts";
import type { ReadRedeemer, ReadTransaction, Strange } from "#src/cage/summary/read.ts";
import { paymentScript, versionOf } from "#src/cage/summary/scripts.ts";
import { crownRoot, slotIn, withSlot } from "#src/forestry/crown.ts";
import { rootWith, rootWithout } from "#src/forestry/verify.ts";

type State = Extract<NonNullable<SummaryHolding>, { type: "state" }>;
type TokenTold = Summary["tokens"][number];

/** An input with its output, where known, and what the contract is told of it. */
interface Spent {
  readonly ref: OutRef;
  readonly output: Output | undefined;
  readonly state: State | undefined;
  readonly request: Request | undefined;
  readonly redeemer: SpendRedeemer | undefined;
}

/** What a transaction does to tokens; `strange` has what does not fit together. */
export interface TokensTold
  extends Pick<Summary, "tokens" | "requests" | "retracts" | "refunds" | "mints" | "scripts"> {
  readonly strange: readonly Strange[];
}

/** Tells what happens to tokens and requests, in the ledger's order. */
export function tokensTold(read: ReadTransaction, known: KnownOutputs, viewer: string | undefined): TokensTold {
  const strange: Strange[] = [];
  const say = (code: string, message: string) => void strange.push({ code, message });
  const inputs = [...read.inputs].sort(compareRefs);
  const policies = [...new Set([...read.mint.keys()].map(policyOf))].sort();
  const spent = inputs.map((ref, index): Spent => {
    const output = known.get(refKey(ref));
    const holding = output && holdingOf(output);
    const redeemer = argument(read.redeemers, "spend", index)?.data;
    return {
      ref,
      output,
      state: holding?.type === "state" ? holding : undefined,
      request: output && requestIn(output),
      redeemer: redeemer === undefined ? undefined : readSpend(redeemer),
    };
  });
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

function argument(redeemers: readonly ReadRedeemer[], purpose: string, index: number): ReadRedeemer | undefined {
  return redeemers.find((one) => one.purpose === purpose && one.index === BigInt(index));
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

function provenBy(
  booted: boolean,
  ended: boolean,
  before: Spent | undefined,
  after: State | undefined,
  requests: readonly Spent[],
  complete: boolean,
): boolean | null {
  if (booted) return after?.root === EMPTY_ROOT;
  if (ended) return before?.redeemer?.type === "end";
  if (!before?.state || !after || !complete) return null;
  if (before.redeemer?.type !== "modify") return false;
  const { actions, crown } = before.redeemer;
  if (actions.length !== requests.length) return false;
  const start = crown ? crownRoot(crown) : fromHex(before.state.root);
  if (!start || toHex(start) !== before.state.root) return false;
  // the root, or the crown that leads to it
  let root: Uint8Array | undefined = crown ?? fromHex(before.state.root);
  requests.forEach(({ request, redeemer }, i) => {
    const action = actions[i]!;
    const fits = redeemer?.type === (action.type === "apply" ? "contribute" : "retract");
    root = root && fits ? (crown ? crownAfter : next)(root, request!, action) : undefined;
  });
  const end = root && crown ? crownRoot(root) : root;
  return end !== undefined && toHex(end) === after.root;
}

/** The crown after an action on a request. */
function crownAfter(crown: Uint8Array, request: Request, action: Action): Uint8Array | undefined {
  const { path } = changeOf(request.key, request.operation);
  const held = next(slotIn(crown, path), request, action, 1);
  return held && withSlot(crown, path, held);
}

/** The root after an action on a request; undefined where the proof does not start at the root before. Nibbles `above` make it a sub-trie's. */
function next(root: Uint8Array, { key, operation }: Request, action: Action, above = 0): Uint8Array | undefined {
  if (action.type === "skip") return root;
  const change = changeOf(key, operation);
  const { path, value } = change;
  const without = () => rootWithout(path, action.proof, above);
  const before = change.type === "insert"
    ? without()
    : rootWith(path, change.type === "update" ? change.old : value, action.proof, above);
  if (!before || !equalBytes(before, root)) return undefined;
  return change.type === "delete" ? without() : rootWith(path, value, action.proof, above);
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

/** A run of a script. */
function runTold(
  { purpose, index, data, cbor, memory, steps }: ReadRedeemer,
  spent: readonly Spent[],
  policies: readonly string[],
  say: (code: string, message: string) => void,
): Summary["scripts"][number] {
  const input = purpose === "spend" ? spent[Number(index)] : undefined;
  const policy = purpose === "mint" ? policies[Number(index)] : undefined;
  const hash = policy ?? (input?.output && paymentScript(input.output.address)) ?? null;
  const version = hash === null ? null : versionOf(hash) ?? null;
  const redeemer = redeemerTold(purpose, data, cbor);
  if (redeemer.type === "unknown" || version === null) {
    say("redeemer", `What the argument ${index} for a script (${purpose}) means is not known here.`);
  }
  return {
    purpose,
    index: Number(index),
    of: policy ?? (input ? refText(input.ref) : null),
    hash,
    version,
    redeemer,
    memory,
    steps,
  };
}

function redeemerTold(purpose: ReadRedeemer["purpose"], data: Data | undefined, cbor: Uint8Array): SummaryRedeemer {
  const unknown: SummaryRedeemer = { type: "unknown", cbor: toHex(cbor) };
  if (data === undefined) return unknown;
  if (purpose === "mint") {
    const read = readMint(data);
    if (!read) return unknown;
    return read.type === "burning"
      ? { type: "burning" }
      : { ...read, seed: refText(read.seed), tokenId: tokenName(read.seed) };
  }
  const read = purpose === "spend" ? readSpend(data) : undefined;
  if (!read) return unknown;
  return read.type === "modify"
    ? { type: "modify", actions: read.actions.map(({ type }) => type) }
    : { type: read.type };
}
