/**
 * Redeemers of the contract. "Crown" is the contract's short name for the shared top branch (`forestry/topBranch.ts`).
 *
 * - spend: end `C0[]`, contribute `C1[]` or from version 3 on the index of its input (a number), refuse (from version 3 on) -1 - that index, modify `C2[[action]]`, or from version 2 on `C4[crown, [action]]`, retract `C3[]`
 * - action: apply `C0[proof]`, skip `C1[]`, refuse `C2[]` (from version 3 on)
 * - mint: minting `C0[C0[output reference]]`, burning `C1[]`
 */
import { as, type Item } from "#src/cardano/cbor.ts";
import { constr, type Data } from "#src/cardano/data.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { type Proof, proofData, readProof } from "#src/forestry/proof.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fieldsOf } from "#src/contract/plutusAddress.ts";

/**
 * An update's action on one request of its token: apply it, refuse it (its deposit returns), or skip it because its owner
 * retracts it in the same transaction.
 */
export type Action =
  | { readonly type: "apply"; readonly proof: Proof }
  | { readonly type: "skip" }
  | { readonly type: "refuse" };

/** How an output of the contract is spent. */
export type SpendRedeemer =
  /** The state of a token that ends. */
  | { readonly type: "end" }
  /** A request that an update of its token applies; from version 3 on with the index of its input. */
  | { readonly type: "contribute"; readonly index?: number }
  /** A request that an update of its token refuses, with the index of its input; from version 3 on. */
  | { readonly type: "refuse"; readonly index: number }
  /** The state of a token that is updated: one action for each of its requests among the inputs, in the ledger's order. */
  | {
    readonly type: "modify";
    readonly actions: readonly Action[];
    /** The shared top branch of the facts' trie; the proofs then omit their first step. */
    readonly crown?: Uint8Array;
  }
  /** A request that returns to its requester. */
  | { readonly type: "retract" };

/** How tokens are minted or burnt. */
type MintRedeemer =
  /** A new token, named after an output that the transaction spends. */
  | { readonly type: "minting"; readonly seed: OutRef }
  | { readonly type: "burning" };

function actionData(action: Action): Data {
  return action.type === "apply" ? constr(0, proofData(action.proof)) : constr(action.type === "skip" ? 1 : 2);
}

/** A spend redeemer as Plutus data. */
export function spendData(redeemer: SpendRedeemer): Data {
  switch (redeemer.type) {
    case "end":
      return constr(0);
    case "contribute":
      return redeemer.index === undefined ? constr(1) : BigInt(redeemer.index);
    case "refuse":
      return BigInt(-1 - redeemer.index);
    case "modify": {
      const actions = redeemer.actions.map(actionData);
      return redeemer.crown ? constr(4, redeemer.crown, actions) : constr(2, actions);
    }
    case "retract":
      return constr(3);
  }
}

/** An output reference as Plutus V3 has it. */
function refData(ref: OutRef): Data {
  return constr(0, fromHex(ref.txHash), BigInt(ref.index));
}

/** A mint redeemer as Plutus data. */
export function mintData(redeemer: MintRedeemer): Data {
  return redeemer.type === "minting" ? constr(0, constr(0, refData(redeemer.seed))) : constr(1);
}

function readAction(data: Data): Action | undefined {
  if (fieldsOf(data, 1, 0)) return { type: "skip" };
  if (fieldsOf(data, 2, 0)) return { type: "refuse" };
  const [steps] = fieldsOf(data, 0, 1) ?? [];
  const proof = steps === undefined ? undefined : readProof(steps);
  return proof && { type: "apply", proof };
}

/** Maximum index of an input: each takes more than a byte of a transaction. */
const MAX_INDEX = 65_535n;

/**
 * Reads a spend redeemer; undefined on anything not exactly right. Of a refused request the contract may accept a number that
 * is not its index; the one that is read is `MAX_INDEX` at most.
 */
export function readSpend(data: Data): SpendRedeemer | undefined {
  if (typeof data === "bigint") {
    if (data < 0n) return { type: "refuse", index: Number(-1n - data > MAX_INDEX ? MAX_INDEX : -1n - data) };
    return data <= MAX_INDEX ? { type: "contribute", index: Number(data) } : undefined;
  }
  if (fieldsOf(data, 0, 0)) return { type: "end" };
  if (fieldsOf(data, 1, 0)) return { type: "contribute" };
  if (fieldsOf(data, 3, 0)) return { type: "retract" };
  const [list] = fieldsOf(data, 2, 1) ?? [];
  const actions = readActions(list);
  if (actions) return { type: "modify", actions };
  const [crown, crowned] = fieldsOf(data, 4, 2) ?? [];
  const below = readActions(crowned);
  return below && crown instanceof Uint8Array ? { type: "modify", actions: below, crown } : undefined;
}

function readActions(list: Data | undefined): Action[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const actions = list.map((element: Data) => readAction(element));
  return actions.every((action) => action !== undefined) ? actions : undefined;
}

/** Reads a mint redeemer; undefined on anything not exactly right. */
export function readMint(data: Data): MintRedeemer | undefined {
  if (fieldsOf(data, 1, 0)) return { type: "burning" };
  const [txHash, index] = fieldsOf(fieldsOf(fieldsOf(data, 0, 1)?.[0], 0, 1)?.[0], 0, 2) ?? [];
  if (!(txHash instanceof Uint8Array) || txHash.length !== 32) return undefined;
  if (typeof index !== "bigint" || index < 0n || index > 65_535n) return undefined;
  return { type: "minting", seed: { txHash: toHex(txHash), index: Number(index) } };
}

/** The four items of each redeemer in a witness set: an array of quadruples or, since Conway, a map. */
export function redeemerItems(redeemers: Item): (readonly Item[])[] {
  return redeemers.type === "map"
    ? redeemers.value.map(([key, value]) => [...as(key, "array").value, ...as(value, "array").value])
    : as(redeemers, "array").value.map((one) => as(one, "array").value);
}
