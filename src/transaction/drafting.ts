/**
 * Drafts: transactions without signatures, with the size and the least fee that they have once signed.
 *
 * What a transaction does is fixed in a `DraftPlan`. Coins, change and fee vary from draft to draft until they agree
 * (`feeBalance.ts`), and execution units until they are those of the draft itself (`evaluation.ts`).
 */
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import { type NewOutput, type Redeemer, subjectOf, type TransactionParts } from "#src/cardano/transaction.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { type Collateral, lowered } from "#src/transaction/collateral.ts";
import { type FeeParameters, ledgerSize, minFee } from "#src/transaction/fee.ts";
import { refScriptBytes } from "#src/transaction/output.ts";
import { type KnownScript, Signers } from "#src/transaction/signers.ts";

/** Execution units by the redeemer's subject (`subjectOf`), since its index may change with the inputs. */
export type UnitsBySubject = ReadonlyMap<string, Units>;

/** The parts of a transaction that a draft decides. */
export interface DraftParts {
  readonly inputs: readonly OutRef[];
  readonly change: readonly NewOutput[];
  /** Lovelace. */
  readonly fee: bigint;
  readonly redeemers: readonly Redeemer[];
  readonly collateral?: Collateral | undefined;
  /** CBOR of the native scripts that its inputs need. */
  readonly nativeScripts: readonly Uint8Array[];
}

/** A transaction without signatures. */
export interface Draft {
  readonly transaction: Uint8Array;
  /** Bytes once signed, as the ledger counts them (`ledgerSize`). */
  readonly size: number;
  /** Minimum fee of the signed transaction, in lovelace. */
  readonly minFee: bigint;
  /** Inputs of the plan, then coins. */
  readonly inputs: readonly Utxo[];
  readonly redeemers: readonly Redeemer[];
  readonly collateral?: Collateral | undefined;
  /** Lovelace that the collateral lacks; 0 where there is enough or none is needed. */
  readonly missingCollateral: bigint;
}

/** Everything of a transaction except coins, change, fee and execution units. */
export interface DraftPlan extends Pick<TransactionParts, "mint" | "withdrawals"> {
  readonly parameters: FeeParameters & Pick<Parameters, "collateralPercentage">;
  /** Outputs that it spends in any case. */
  readonly inputs: readonly Utxo[];
  readonly references: readonly Utxo[];
  readonly redeemers: readonly Omit<Redeemer, "units">[];
  /** Hashes of keys that sign in any case. */
  readonly keys: Iterable<string>;
  /** Native scripts that it uses in any case. */
  readonly scripts: Iterable<KnownScript>;
  /** Native scripts of the addresses of coins, by hash. */
  readonly known: ReadonlyMap<string, KnownScript>;
  /** Chooses collateral for a fee; called only where there are redeemers. */
  readonly collateral?: (coins: readonly Coin[], fee: bigint) => Collateral | { readonly missing: bigint };
  /** CBOR of the transaction without signatures. */
  readonly write: (parts: DraftParts) => Uint8Array;
}

/**
 * Writes a draft. `costlier`: a draft with the same coins and a higher fee, whose collateral it keeps: fees cannot
 * alternate.
 */
export type WriteDraft = (
  coins: readonly Coin[],
  change: readonly NewOutput[],
  fee: bigint,
  costlier?: Draft,
) => Draft;

/** Units of a redeemer before its evaluation: their CBOR is as long as that of most real ones. */
const UNITS_GUESS: Units = { memory: 100_000n, steps: 100_000_000n };

/** Sum of execution units. */
export function totalUnits(units: Iterable<Units>): Units {
  let memory = 0n, steps = 0n;
  for (const each of units) {
    memory += each.memory;
    steps += each.steps;
  }
  return { memory, steps };
}

/** Creates the function that writes drafts of a plan. Redeemers without `units` get `UNITS_GUESS`. */
export function drafting(plan: DraftPlan, units: UnitsBySubject = new Map()): WriteDraft {
  const { parameters, keys, scripts, known } = plan;
  const redeemers = plan.redeemers.map((redeemer) => ({
    ...redeemer,
    units: units.get(subjectOf(redeemer.for)) ?? UNITS_GUESS,
  }));
  const spentUnits = totalUnits(redeemers.map((redeemer) => redeemer.units));
  const fixedScriptBytes = refScriptBytes([...plan.inputs, ...plan.references]);
  return (coins, change, fee, costlier) => {
    const spent = coins.map(({ utxo }) => utxo);
    const inputs = [...plan.inputs, ...spent];
    const chosen = redeemers.length === 0
      ? undefined
      : costlier?.collateral
      ? lowered(parameters, costlier.collateral, fee)
      : plan.collateral?.(coins, fee);
    const collateral = chosen && "inputs" in chosen ? chosen : undefined;
    const signers = new Signers(keys, scripts, known);
    for (const { output } of [...inputs, ...collateral?.inputs ?? []]) signers.spend(output.address);
    const transaction = plan.write({
      inputs: inputs.map(({ ref }) => ref),
      change,
      fee,
      redeemers,
      collateral,
      nativeScripts: signers.nativeScripts(),
    });
    const size = ledgerSize(transaction.length + signers.bytes());
    return {
      transaction,
      size,
      minFee: minFee(parameters, {
        size,
        units: spentUnits,
        refScriptBytes: fixedScriptBytes + refScriptBytes(spent),
      }),
      inputs,
      redeemers,
      collateral,
      missingCollateral: chosen && "missing" in chosen ? chosen.missing : 0n,
    };
  };
}
