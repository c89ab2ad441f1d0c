/**
 * What all transactions of a token have in common. Builds are pure: plain values in, plain values out (they cross threads as
 * they are), the evaluation of scripts handed in.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type NetworkId, readAddressHex } from "#src/cardano/address.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { balance, type BalancedTransaction, type BalanceFailure, type Skeleton } from "#src/transaction/balance.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { type KeyAddress, keyAddress } from "#src/cage/plutus_address.ts";
import type { CageScript } from "#src/cage/script.ts";
import type { Evaluation, EvaluationInput } from "#src/plutus/types.ts";

/** What may be set. */
export interface BuildSettings {
  /** How long a transaction stays valid, in ms: time to sign and submit it. Two hours unless set, at most 36 hours. */
  readonly validForMs?: number | undefined;
  /** Lovelace that a request offers to the owner who applies it; see `offeredFee`. */
  readonly offeredFee?: bigint | undefined;
}

/** What every build starts from. */
export interface BuildInput {
  readonly parameters: Parameters;
  readonly slots: SlotConfig;
  /** The slot it is now: the tip's, or a later one that the clock says. */
  readonly slot: number;
  /** The first slot that has no time yet, where that is known. */
  readonly horizon?: number | undefined;
  readonly network: NetworkId;
  readonly script: CageScript;
  /** An unspent output that carries the script; without one the script travels along. */
  readonly reference?: Utxo | undefined;
  /** Who asks: the bytes of the address in hexadecimal. It pays, signs and gets the change. */
  readonly address: string;
  /** Unspent outputs at the address, with how gladly each is spent. */
  readonly available: readonly Coin[];
  readonly settings?: BuildSettings | undefined;
}

/** A transaction to be signed. */
export interface Built {
  /** CBOR, without signatures. */
  readonly transaction: Uint8Array;
  readonly txHash: string;
  /** Lovelace. */
  readonly fee: bigint;
  /** First slot in which it is no longer valid. */
  readonly validTo: number;
  /** Bytes once signed. */
  readonly size: number;
  /** Outputs of the address that it spends or puts up as collateral: what a reservation covers. */
  readonly spends: readonly Utxo[];
  /** Whether scripts of Plutus run in it. */
  readonly runsScripts: boolean;
}

/**
 * Why there is no transaction. `bad_address`: not a base or enterprise address of a key on this network; `not_owner`: of the token or of the
 * request; the rest as in `BalanceFailure`.
 */
export type BuildFailure = BalanceFailure | Failure<"bad_address" | "not_owner">;

const DEFAULT_VALID_MS = 2 * 3600 * 1000;
/** How far ahead a node tells the time of a slot on the public networks, at the least (3k/f slots of a second). */
const MAX_VALID_MS = 36 * 3600 * 1000;

/**
 * The first slot in which a transaction built now is no longer valid. Scripts see it as a time, so it is none that has no time yet: the
 * ledger would not run them (`TimeTranslationPastHorizon`); the bound itself has one on some nodes, and on others (Dingo) none.
 */
export function validTo(
  { slot, horizon = Infinity, slots, settings }: Pick<BuildInput, "slot" | "horizon" | "slots" | "settings">,
): number {
  const ms = Math.min(settings?.validForMs ?? DEFAULT_VALID_MS, MAX_VALID_MS);
  return Math.max(slot + 1, Math.min(slot + Math.floor(ms / slots.slotLength), horizon - 1));
}

/** The address of who asks, as the contract sees it. */
export function requester(
  { address, network }: Pick<BuildInput, "address" | "network">,
): Result<KeyAddress, BuildFailure> {
  const key = keyAddress(address);
  if (!key) {
    return fail("bad_address", "An address of a payment key is needed: base or enterprise.", { reason: "kind" });
  }
  const read = readAddressHex(address);
  if (read.ok && read.value.network === network) return ok(key);
  return fail("bad_address", "The address is one of another network.", { reason: "network" });
}

/** An evaluator as the balancer wants it. */
export function measuring(
  evaluate: (input: EvaluationInput) => Evaluation,
  { parameters, slots }: Pick<BuildInput, "parameters" | "slots">,
): Measure {
  return (transaction, utxos) => evaluate({ transaction, utxos, parameters, slots });
}

/** What a build says of its transaction beside what all of them have. */
export type Doing = Pick<Skeleton, "inputs" | "outputs" | "redeemers"> & Partial<Skeleton>;

/** Finishes a transaction that the address signs. */
export function finish(
  input: BuildInput,
  signer: KeyAddress,
  doing: Doing,
  measure: Measure,
): Result<Built, BalanceFailure> {
  const { script, reference, address, available, parameters } = input;
  const until = validTo(input);
  const runs = doing.redeemers.length > 0;
  const skeleton: Skeleton = {
    references: runs && reference ? [reference] : [],
    scripts: runs && !reference ? [script.compiledCode] : [],
    requiredSigners: runs ? [signer.payment] : [],
    validTo: until,
    ...doing,
  };
  const balanced = balance(skeleton, { address, available }, parameters, measure);
  return balanced.ok ? ok({ ...built(balanced.value, until, address), runsScripts: runs }) : balanced;
}

function built(balanced: BalancedTransaction, until: number, address: string): Omit<Built, "runsScripts"> {
  const { transaction, hash, fee, size, inputs, collateral } = balanced;
  const own = new Set([...inputs, ...collateral].filter(({ output }) => output.address === address));
  return { transaction, txHash: hash, fee, size, validTo: until, spends: [...own] };
}
