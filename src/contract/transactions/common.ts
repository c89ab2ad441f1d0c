/**
 * Shared by all transactions of a token. Builds are pure: they take and give plain values (which cross threads without
 * encoding), and the script evaluator is a parameter.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type NetworkId, readAddressHex } from "#src/cardano/address.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import { balance, type BalancedTransaction, type BalanceFailure, type Skeleton } from "#src/transaction/balance.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { type KeyAddress, keyAddress } from "#src/contract/plutusAddress.ts";
import type { CageScript } from "#src/contract/script.ts";
import type { Evaluation, EvaluationInput } from "#src/plutus/types.ts";

/** Settings of a build. */
interface BuildSettings {
  /** How long the transaction stays valid, in ms; default 2 hours, at most 36 hours. */
  readonly validForMs?: number | undefined;
  /** Lovelace that a request offers to the token's owner; by default the result of `offeredFee()` in `fee.ts`. */
  readonly offeredFee?: bigint | undefined;
}

/** Input of every build. */
export interface BuildInput {
  readonly parameters: Parameters;
  readonly slots: SlotConfig;
  /** The current slot: the tip's, or a later one by the clock. */
  readonly slot: number;
  /** Horizon: the first slot whose time is not known yet (end of the node's era summary); undefined if unknown. */
  readonly horizon?: number | undefined;
  readonly network: NetworkId;
  readonly script: CageScript;
  /** An unspent output with the reference script; without one the script is in the witnesses. */
  readonly reference?: Utxo | undefined;
  /** Address (bytes in hexadecimal) of the token's owner or the requester, who signs. */
  readonly address: string;
  /** Unspent outputs that pay, with the spend priority of each: at the address, or at any of its wallet's. */
  readonly available: readonly Coin[];
  /** Address of the change, bytes in hexadecimal; default: `address`. */
  readonly change?: string | undefined;
  readonly settings?: BuildSettings | undefined;
}

/** An unsigned transaction. */
export interface Built {
  /** CBOR, without signatures. */
  readonly transaction: Uint8Array;
  readonly txHash: string;
  /** Lovelace. */
  readonly fee: bigint;
  /** First slot in which the transaction is no longer valid. */
  readonly validTo: number;
  /** Size in bytes when signed. */
  readonly size: number;
  /** Available outputs that the transaction spends or uses as collateral: the ones to reserve. */
  readonly spends: readonly Utxo[];
  /** Whether Plutus scripts run in it. */
  readonly runsScripts: boolean;
}

/**
 * Why no transaction was built. `bad_address`: not a base or enterprise address of a key on this network; `not_owner`: the
 * address does not own the token or the request; the others are those of `BalanceFailure`.
 */
export type BuildFailure = BalanceFailure | Failure<"bad_address" | "not_owner">;

const DEFAULT_VALID_MS = 2 * 3600 * 1000;
/** On public networks, slot times are known at least this far ahead, in ms: 3k/f slots of one second. */
const MAX_VALID_MS = 36 * 3600 * 1000;

/**
 * The first slot in which a transaction built now is no longer valid. Scripts see it as a time, so it must be before the
 * horizon; otherwise the ledger rejects it (`TimeTranslationPastHorizon`). The horizon itself has a time on some
 * nodes and none on others (Dingo), so the bound is one slot earlier. At least `slot + 1`, even past the horizon.
 */
function validTo(
  { slot, horizon = Infinity, slots, settings }: Pick<BuildInput, "slot" | "horizon" | "slots" | "settings">,
): number {
  const ms = Math.min(settings?.validForMs ?? DEFAULT_VALID_MS, MAX_VALID_MS);
  return Math.max(slot + 1, Math.min(slot + Math.floor(ms / slots.slotLength), horizon - 1));
}

/** Parses an address; `bad_address` unless it is a base or enterprise address of a payment key on this network. */
export function keyAddressOf(
  { address, network }: Pick<BuildInput, "address" | "network">,
): Result<KeyAddress, BuildFailure> {
  const key = keyAddress(address);
  if (!key) {
    return fail("bad_address", "The address must be a base or enterprise address with a payment key.", {
      reason: "kind",
    });
  }
  const read = readAddressHex(address);
  if (read.ok && read.value.network === network) return ok(key);
  return fail("bad_address", "The address is on another network.", { reason: "network" });
}

/** Gives the balancer's `Measure` from a script evaluator and the parameters and slots of a build. */
export function measureWith(
  evaluate: (input: EvaluationInput) => Evaluation,
  { parameters, slots }: Pick<BuildInput, "parameters" | "slots">,
): Measure {
  return (transaction, utxos) => evaluate({ transaction, utxos, parameters, slots });
}

/** The parts of a transaction that a builder sets; `finish` has defaults for the rest. */
type BuildParts = Pick<Skeleton, "inputs" | "outputs" | "redeemers"> & Partial<Skeleton>;

/** Adds script, required signer and validity interval, and balances the transaction from the address's outputs. */
export function finish(
  input: BuildInput,
  signer: KeyAddress,
  parts: BuildParts,
  measure: Measure,
): Result<Built, BalanceFailure> {
  const { script, reference, address, available, change = address, parameters } = input;
  const until = validTo(input);
  const runs = parts.redeemers.length > 0;
  const skeleton: Skeleton = {
    references: runs && reference ? [reference] : [],
    scripts: runs && !reference ? [script.compiledCode] : [],
    requiredSigners: runs ? [signer.payment] : [],
    validTo: until,
    ...parts,
  };
  const balanced = balance(skeleton, { address: change, available }, parameters, measure);
  return balanced.ok ? ok({ ...built(balanced.value, until, available), runsScripts: runs }) : balanced;
}

function built(balanced: BalancedTransaction, until: number, available: readonly Coin[]): Omit<Built, "runsScripts"> {
  const { transaction, hash, fee, size, inputs, collateral } = balanced;
  const coins = new Set(available.map(({ utxo }) => refKey(utxo.ref)));
  const own = new Set([...inputs, ...collateral].filter(({ ref }) => coins.has(refKey(ref))));
  return { transaction, txHash: hash, fee, size, validTo: until, spends: [...own] };
}

/** What is too large, its size and its limit, from the details of a `too_large` failure; undefined if they have no size. */
export function excessIn(
  details: unknown,
): { readonly what: unknown; readonly size: number; readonly limit: number } | undefined {
  if (typeof details !== "object" || details === null) return undefined;
  if (!("what" in details && "size" in details && "limit" in details)) return undefined;
  const { what, size, limit } = details;
  return isNumeric(size) && isNumeric(limit) ? { what, size: Number(size), limit: Number(limit) } : undefined;
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
