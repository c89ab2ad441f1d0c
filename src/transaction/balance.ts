/**
 * Balancing of a transaction given by what it must do: inputs, change, collateral, execution units and fee (tokens,
 * faucet).
 */
import { onlyOf } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import {
  encodeRedeemers,
  encodeTransaction,
  madeOutput,
  type NewOutput,
  type Redeemer,
  transactionHash,
  type TransactionParts,
} from "#src/cardano/transaction.ts";
import { type Assets, lovelace, noAssets, sumValues, type Value, ValueSum } from "#src/cardano/value.ts";
import { changeOutputs, planChange } from "#src/transaction/change.ts";
import { type Coin, lackingAssets, priorityOrder } from "#src/transaction/coinPool.ts";
import { chooseCollateral, exactCollateral, neededCollateral } from "#src/transaction/collateral.ts";
import type { Needs } from "#src/transaction/coinSelection.ts";
import {
  drafting,
  type DraftParts,
  type DraftPlan,
  totalUnits,
  type UnitsBySubject,
} from "#src/transaction/drafting.ts";
import { evaluateUntilStable, type Measure, type MeasureFailure } from "#src/transaction/evaluation.ts";
import { minFee } from "#src/transaction/fee.ts";
import { balanceFee, type FeeBalanced, withLeastFee } from "#src/transaction/feeBalance.ts";
import { leastLovelace } from "#src/transaction/output.ts";

/** What a transaction must do. */
export interface Skeleton {
  /** Inputs that it must spend, beside those that pay for it. */
  readonly inputs: readonly Utxo[];
  /** Its first outputs, in this order; change follows. */
  readonly outputs: readonly NewOutput[];
  readonly mint?: Assets | undefined;
  readonly redeemers: readonly Omit<Redeemer, "units">[];
  readonly references: readonly Utxo[];
  /** Plutus V3 scripts that travel along. */
  readonly scripts: readonly Uint8Array[];
  /** Key hashes. */
  readonly requiredSigners: readonly string[];
  /** First slot in which it is no longer valid. */
  readonly validTo?: number | undefined;
  readonly validFrom?: number | undefined;
  /** Votes and proposals, as in `TransactionParts`. */
  readonly votes?: Uint8Array | undefined;
  readonly proposals?: readonly Uint8Array[] | undefined;
  /** Lovelace that proposals deposit. */
  readonly deposits?: bigint | undefined;
  /** Key hashes that sign beside `requiredSigners`, without being in the body. */
  readonly signers?: readonly string[] | undefined;
}

/** The address that pays and gets the change. */
interface Payer {
  /** Address, its bytes in hexadecimal. */
  readonly address: string;
  /** Unspent outputs of payment keys. */
  readonly available: readonly Coin[];
}

/**
 * Why there is no such transaction. Details: `not_enough_money` `{shortfall, for}` with the lovelace missing, for
 * `transaction` or `collateral` (and `assets` where those are missing); `too_large` `{what, size, limit}` with `what`
 * one of `bytes`, `memory`, `steps`, `inputs`; `script_refused` `{logs}`; `not_evaluated` `{errors}`, the ledger's
 * reasons (`CollectErrors`) why scripts cannot be run on it.
 */
export type BalanceFailure = Failure<"not_enough_money" | "too_large" | "script_refused" | "not_evaluated">;

/** A finished transaction. */
export interface BalancedTransaction {
  /** CBOR, without signatures. */
  readonly transaction: Uint8Array;
  readonly hash: string;
  /** Lovelace. */
  readonly fee: bigint;
  /** Bytes once signed. */
  readonly size: number;
  /** Sum over its scripts. */
  readonly units: Units;
  /** All inputs: those of the skeleton, then those that pay. */
  readonly inputs: readonly Utxo[];
  readonly collateral: readonly Utxo[];
  readonly change: readonly NewOutput[];
}

/** Bytes of an input, `[hash, index]`, with an index below 256. */
const INPUT_BYTES = 37;
const PLUTUS_V3 = 2;
/** An output that does not exist, and lovelace that is enough for any fee and change. */
const NO_OUTPUT: OutRef = { txHash: "00".repeat(32), index: 65_535 };
const PLENTY = 100_000_000n;

/** A round of balancing; with `failure`, the transaction that would be made if the address had the money. */
type Round = FeeBalanced<Coin> & { readonly failure?: BalanceFailure };

/** Everything that does not change from round to round. */
interface Balancing {
  readonly plan: DraftPlan;
  readonly needs: Needs;
  readonly address: string;
  readonly coins: readonly Coin[];
  /** Most inputs that pay. */
  readonly most: number;
  readonly parameters: Parameters;
}

/**
 * Finishes a transaction. Coins are spent in the order of their priority, as few as possible. Takes as long as
 * `measure`, once or seldom twice, and a few milliseconds.
 */
export function balance(
  skeleton: Skeleton,
  payer: Payer,
  parameters: Parameters,
  measure: Measure,
): Result<BalancedTransaction, BalanceFailure> {
  const balancing = prepare(skeleton, payer, parameters);
  const round = evaluateUntilStable<Round, BalanceFailure>(
    balancing.plan,
    parameters,
    measure,
    (units) => balanceWith(balancing, units),
    (run, { failure }) => failure ?? notMeasured(run, parameters),
  );
  if (!round.ok) return round;
  const { draft, change, fee, failure } = round.value;
  if (failure) return { ok: false, error: failure };
  const { transaction, size, inputs, collateral, redeemers } = draft;
  return ok({
    transaction,
    hash: transactionHash(transaction),
    fee,
    size: size + 1,
    units: totalUnits(redeemers.map(({ units }) => units)),
    inputs,
    collateral: collateral?.inputs ?? [],
    change,
  });
}

function prepare(skeleton: Skeleton, { address, available }: Payer, parameters: Parameters): Balancing {
  const { inputs, outputs, references, redeemers, mint = noAssets } = skeleton;
  const fixed = new Set(inputs.map(({ ref }) => refKey(ref)));
  const coins = priorityOrder(available).filter(({ utxo }) => !fixed.has(refKey(utxo.ref)));
  const surplus = new ValueSum().add({ lovelace: 0n, assets: mint });
  for (const { output } of inputs) surplus.add(output.value);
  for (const { value } of outputs) surplus.add(value, -1n);
  surplus.add(lovelace(skeleton.deposits ?? 0n), -1n);
  const plan: DraftPlan = {
    parameters,
    inputs,
    references,
    redeemers,
    mint,
    keys: [...skeleton.requiredSigners, ...skeleton.signers ?? []],
    scripts: [],
    known: new Map(),
    collateral: collateralChooser(skeleton, address, coins, parameters),
    write: (parts) => encodeTransaction(partsOf(skeleton, parts, parameters)),
  };
  const change = changeOutputs(changeOf(parameters, address, lovelace(1n)), 0n);
  const left = parameters.maxTxSize - drafting(plan)([], change, parameters.feeFixed).size;
  return {
    plan,
    needs: { payments: [], surplus, hasInputs: inputs.length > 0 },
    address,
    coins,
    most: Math.max(parameters.maxCollateralInputs, Math.floor(left / INPUT_BYTES)),
    parameters,
  };
}

function changeOf(parameters: Parameters, address: string, left: Value) {
  return planChange({ parameters, minimum: leastLovelace }, [left], 0n, [address]);
}

/** Prefers outputs that are spent anyway, all of them: then no other build is disturbed, and signers know their value. */
function collateralChooser({ inputs }: Skeleton, address: string, coins: readonly Coin[], parameters: Parameters) {
  const own = inputs.filter(({ output }) =>
    output.script === undefined && paymentKeyHash(output.address) !== undefined
  );
  return (chosen: readonly Coin[], fee: bigint) => {
    const spent = [...own, ...chosen.map(({ utxo }) => utxo)];
    const exact = exactCollateral(parameters, spent, address, fee);
    if (exact) return exact;
    const near = chooseCollateral(parameters, spent, address, fee);
    if ("inputs" in near && near.inputs.length === 1 && onlyOf(near.inputs).output.value.assets.size === 0) return near;
    const all = new Set([...spent, ...coins.map(({ utxo }) => utxo)]);
    return chooseCollateral(parameters, [...all], address, fee);
  };
}

function partsOf(skeleton: Skeleton, draft: DraftParts, parameters: Parameters): TransactionParts {
  const { mint, references, requiredSigners, scripts, validFrom, validTo, votes, proposals } = skeleton;
  const { inputs, redeemers, collateral, fee, change } = draft;
  const encoded = encodeRedeemers({ inputs, mint, redeemers });
  return {
    inputs,
    outputs: [...skeleton.outputs, ...change],
    fee,
    validFrom,
    validTo,
    mint,
    scriptDataHash: scriptDataHash({ redeemers: encoded, languages: encoded ? [PLUTUS_V3] : [], parameters }),
    collateral: collateral?.inputs.map(({ ref }) => ref),
    requiredSigners,
    collateralReturn: collateral?.return,
    totalCollateral: collateral?.total,
    references: references.map(({ ref }) => ref),
    votes,
    proposals,
    redeemers,
    scripts,
  };
}

/**
 * Balances with these units. A failure for want of lovelace comes with the transaction that lacks it, so that its units
 * count too.
 */
function balanceWith(balancing: Balancing, units: UnitsBySubject): Result<Round, BalanceFailure> {
  const { plan, needs, address, coins, most, parameters } = balancing;
  const write = drafting(plan, units);
  const funds = { coins, change: [address], strategy: "by-priority" as const, most };
  const outcome = balanceFee(funds, needs, parameters, write);
  if (outcome.balanced) return ok(outcome.balanced);
  const { failure } = outcome;
  switch (failure.reason) {
    case "too_large":
      return over("bytes", failure.size, parameters.maxTxSize);
    case "crowded":
      return fail(
        "too_large",
        "The outputs at this address are too small: the payment needs more inputs than a transaction can have.",
        { what: "inputs", limit: most },
      );
    case "no_coins":
    case "not_enough": {
      if (failure.missing === undefined) break;
      const missing = missingOf(failure.missing, parameters);
      if (missing.assets.size > 0 || coins.length > most) {
        return { ok: false, error: notEnough("transaction", missing) };
      }
    }
  }
  return lacking(balancing, units, failure.reason === "collateral" ? "collateral" : "transaction");
}

function missingOf(sum: ValueSum, parameters: Parameters): Value {
  const amount = minFee(parameters, { size: 0 }) - sum.lovelace;
  return { lovelace: amount > 0n ? amount : 0n, assets: new Map(lackingAssets(sum)) };
}

/** How much one more output of the address would have to hold: what an output with plenty would not need, taken off. */
function lacking(
  { plan, needs, address, coins, parameters }: Balancing,
  units: UnitsBySubject,
  purpose: "transaction" | "collateral",
): Result<Round, BalanceFailure> {
  const held = sumValues([needs.surplus, ...coins.map(({ utxo }) => utxo.output.value)]);
  const plenty = PLENTY + (held.lovelace < 0n ? -held.lovelace : 0n);
  const another = { utxo: { ref: NO_OUTPUT, output: madeOutput({ address, value: lovelace(plenty) }) } };
  const change = changeOf(parameters, address, { ...held, lovelace: held.lovelace + plenty });
  const { missing, ...balanced } = withLeastFee(parameters, drafting(plan, units), [another, ...coins], change);
  if (balanced.draft.size > parameters.maxTxSize) return over("bytes", balanced.draft.size, parameters.maxTxSize);
  const collateral = balanced.draft.collateral ? neededCollateral(parameters, balanced.fee) : 0n;
  const enough = plenty + missing;
  return ok({ ...balanced, failure: notEnough(purpose, lovelace(enough > collateral ? enough : collateral)) });
}

function notEnough(purpose: "transaction" | "collateral", { lovelace, assets }: Value): BalanceFailure {
  const what = assets.size > 0 ? "assets" : `${lovelace} lovelace`;
  return fail("not_enough_money", `The address lacks ${what} for the ${purpose}.`, {
    shortfall: lovelace,
    for: purpose,
    ...(assets.size > 0 ? { assets } : {}),
  }).error;
}

/** Why there are no units, as a failure of the build. */
function notMeasured(run: MeasureFailure, { maxTxUnits: limit }: Parameters): BalanceFailure {
  switch (run.kind) {
    case "refused":
      return fail("script_refused", `A script rejects this transaction: ${run.message}`, { logs: run.logs }).error;
    case "over_limit": {
      const { memory, steps } = run.units;
      return (memory > limit.memory ? over("memory", memory, limit.memory) : over("steps", steps, limit.steps)).error;
    }
    default: {
      const { message, errors = [] } = run;
      return fail("not_evaluated", `The scripts of this transaction cannot be evaluated: ${message}`, { errors }).error;
    }
  }
}

function over(what: string, size: number | bigint, limit: number | bigint) {
  return fail("too_large", `The transaction would need ${size} ${what}; the limit is ${limit}.`, { what, size, limit });
}
