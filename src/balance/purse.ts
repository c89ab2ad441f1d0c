/** What pays for a transaction: choosing among the outputs on offer until inputs, outputs, fee and change agree. */
import { fail, type Failure } from "#src/base/result.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import {
  encodeRedeemers,
  encodeTransaction,
  type NewOutput,
  type RedeemerFor,
  type TransactionParts,
  witnessBytes,
} from "#src/cardano/transaction.ts";
import {
  addAssets,
  type Assets,
  lovelace,
  noAssets,
  subtractValues,
  sumValues,
  type Value,
} from "#src/cardano/value.ts";
import { makeChange } from "#src/balance/change.ts";
import { chooseCollateral, type Collateral } from "#src/balance/collateral.ts";
import { ledgerSize, minFee } from "#src/balance/fee.ts";
import { refScriptSize } from "#src/balance/output.ts";
import { type Candidate, inOrder, select } from "#src/balance/select.ts";

/** What a transaction must do. */
export interface Skeleton {
  /** Inputs that it must spend, beside those that pay for it. */
  readonly inputs: readonly Utxo[];
  /** Its first outputs, in this order; change follows. */
  readonly outputs: readonly NewOutput[];
  readonly mint?: Assets | undefined;
  readonly redeemers: readonly { readonly for: RedeemerFor; readonly data: Uint8Array }[];
  readonly references: readonly Utxo[];
  /** Plutus V3 scripts that travel along. */
  readonly scripts: readonly Uint8Array[];
  /** Key hashes. */
  readonly requiredSigners: readonly string[];
  /** First slot in which it is no longer valid. */
  readonly validTo?: number | undefined;
  readonly validFrom?: number | undefined;
}

/** Who pays, and gets the change. */
export interface Payer {
  /** Address, its bytes in hexadecimal. */
  readonly address: string;
  /** Unspent outputs of payment keys. */
  readonly available: readonly Candidate[];
}

/**
 * Why there is no such transaction. Details: `not_enough_money` `{shortfall, for}` with the lovelace missing, for `transaction` or `collateral`
 * (and `assets` where those are missing); `too_large` `{what, size, limit}` with `what` one of `bytes`, `memory`, `steps`, `inputs`;
 * `script_refused` `{logs}`.
 */
export type BalanceFailure = Failure<"not_enough_money" | "too_large" | "script_refused">;

const PLUTUS_V3 = 2;
/** Bytes of an input, `[hash, index]`, with an index below 256. */
const INPUT_BYTES = 37;
/** Units that take as many bytes as most real ones, until there are real ones. */
const FIRST_GUESS: Units = { memory: 100_000n, steps: 100_000_000n };

/** Units by what the redeemer is for: its index may change with the inputs. */
export type UnitsOf = ReadonlyMap<string, Units>;

/** Key of a redeemer in `UnitsOf`. */
export function keyOf(target: RedeemerFor): string {
  return target.purpose === "spend" ? refKey(target.ref) : target.policy;
}

/** Sum of units. */
export function total(units: UnitsOf): Units {
  let memory = 0n, steps = 0n;
  for (const each of units.values()) {
    memory += each.memory;
    steps += each.steps;
  }
  return { memory, steps };
}

/** A whole transaction; where it lacks lovelace, with the least change that it could have. */
export interface Composed {
  readonly parts: TransactionParts;
  readonly transaction: Uint8Array;
  readonly fee: bigint;
  readonly size: number;
  readonly units: UnitsOf;
  readonly inputs: readonly Utxo[];
  readonly collateral?: Collateral;
  readonly change: readonly NewOutput[];
  /** Lovelace. */
  readonly missing: bigint;
  readonly missingCollateral: bigint;
}

/** A transaction, or why there is none and what it would have been. */
export type Paid =
  | { readonly draft: Composed; readonly failure?: never }
  | { readonly draft?: Composed; readonly failure: BalanceFailure };

function notEnough(purpose: "transaction" | "collateral", missing: Value, draft?: Composed): Paid {
  const what = missing.assets.size > 0 ? "assets" : `${missing.lovelace} lovelace`;
  const { error } = fail("not_enough_money", `The address lacks ${what} for the ${purpose}.`, {
    shortfall: missing.lovelace,
    for: purpose,
    ...(missing.assets.size > 0 ? { assets: missing.assets } : {}),
  });
  return draft ? { failure: error, draft } : { failure: error };
}

function crowded(limit: number): Paid {
  const message = "The outputs at this address are so small that paying takes more inputs than a transaction can have.";
  return { failure: fail("too_large", message, { what: "inputs", limit }).error };
}

function secured(draft: Composed): Paid {
  if (draft.missingCollateral === 0n) return { draft };
  return notEnough("collateral", lovelace(draft.missingCollateral), draft);
}

/** What pays for one transaction: the outputs on offer, and how much of them is known to be needed. */
export class Purse {
  private readonly available: readonly Utxo[];
  private readonly own: readonly Utxo[];
  private readonly before: Value;
  private readonly refScriptBytes: number;
  private readonly most: number;
  private need: Value;

  constructor(
    private readonly skeleton: Skeleton,
    private readonly payer: Payer,
    private readonly parameters: Parameters,
  ) {
    const { inputs, outputs, references, mint = noAssets } = skeleton;
    const fixed = new Set(inputs.map(({ ref }) => refKey(ref)));
    this.available = inOrder(payer.available).filter(({ ref }) => !fixed.has(refKey(ref)));
    this.own = inputs.filter(({ output }) =>
      output.script === undefined && paymentKeyHash(output.address) !== undefined
    );
    const spent = sumValues(inputs.map(({ output }) => output.value));
    this.before = subtractValues(
      { lovelace: spent.lovelace, assets: addAssets(spent.assets, mint) },
      sumValues(outputs.map(({ value }) => value)),
    );
    this.refScriptBytes = [...inputs, ...references]
      .reduce((bytes, { output }) => bytes + (output.script ? refScriptSize(output.script) : 0), 0);
    const left = parameters.maxTxSize - this.compose([], new Map()).size;
    this.most = Math.max(parameters.maxCollateralInputs, Math.floor(left / INPUT_BYTES));
    this.need = subtractValues(lovelace(minFee(parameters, { size: 0 })), this.before);
  }

  /**
   * A transaction whose fee is right for these units. What is once known to be needed stays so: a later call never chooses less.
   * A failure for want of lovelace comes with the transaction that lacks it.
   */
  pay(units: UnitsOf): Paid {
    for (;;) {
      const chosen = select(this.available, this.need, this.most);
      if (chosen.type === "crowded") return crowded(this.most);
      if (chosen.type === "missing") {
        if (chosen.missing.assets.size > 0 || this.available.length > this.most) {
          return notEnough("transaction", chosen.missing);
        }
        const draft = this.compose(this.available, units);
        return notEnough("transaction", lovelace(draft.missing), draft);
      }
      const draft = this.compose(chosen.utxos, units);
      if (draft.missing === 0n) return secured(draft);
      const held = sumValues(chosen.utxos.map(({ output }) => output.value)).lovelace;
      const more = { ...this.need, lovelace: held + draft.missing };
      const next = select(this.available, more, this.most).type;
      if (next !== "chosen") {
        // Nothing more to add: what is too little for an output of its own goes to the fee.
        const burning = this.composeWithoutChange(chosen.utxos, units);
        if (burning) return secured(burning);
        return next === "crowded" ? crowded(this.most) : notEnough("transaction", lovelace(draft.missing), draft);
      }
      this.need = more;
    }
  }

  /** The transaction with these inputs, at the least fee that is right for itself. */
  private compose(chosen: readonly Utxo[], units: UnitsOf): Composed {
    const left = this.left(chosen);
    const tried = new Set<bigint>();
    for (let fee = minFee(this.parameters, { size: 0 });;) {
      const change = makeChange(this.parameters, this.payer.address, { ...left, lovelace: left.lovelace - fee });
      const composed = this.assemble(chosen, units, fee, change.outputs, change.missing);
      const right = this.feeOf(composed);
      // An amount that needs fewer bytes at the higher of two fees has no fee that is right to the lovelace: the higher one it is.
      if (right === fee || (right < fee && tried.has(right))) return composed;
      tried.add(fee);
      fee = right;
    }
  }

  /** The transaction that leaves everything to the fee, if that is enough. */
  private composeWithoutChange(chosen: readonly Utxo[], units: UnitsOf): Composed | undefined {
    const left = this.left(chosen);
    if (left.assets.size > 0 || left.lovelace <= 0n) return undefined;
    const composed = this.assemble(chosen, units, left.lovelace, [], 0n);
    return this.feeOf(composed) <= left.lovelace ? composed : undefined;
  }

  /** What inputs and mint have over outputs, before the fee. */
  private left(chosen: readonly Utxo[]): Value {
    const spent = sumValues(chosen.map(({ output }) => output.value));
    return subtractValues(spent, { lovelace: -this.before.lovelace, assets: negated(this.before.assets) });
  }

  private feeOf({ size, units }: Composed): bigint {
    return minFee(this.parameters, {
      size: ledgerSize(size),
      units: total(units),
      refScriptBytes: this.refScriptBytes,
    });
  }

  private assemble(
    chosen: readonly Utxo[],
    units: UnitsOf,
    fee: bigint,
    change: readonly NewOutput[],
    missing: bigint,
  ): Composed {
    const { skeleton, parameters } = this;
    const inputs = [...skeleton.inputs, ...chosen];
    const collateral = skeleton.redeemers.length > 0 ? this.collateral(chosen, fee) : undefined;
    const settled = collateral && "inputs" in collateral ? collateral : undefined;
    const signers = new Set(skeleton.requiredSigners);
    for (const { output } of [...inputs, ...(settled?.inputs ?? [])]) {
      const key = paymentKeyHash(output.address);
      if (key) signers.add(key);
    }
    const unhashed: TransactionParts = {
      inputs: inputs.map(({ ref }) => ref),
      outputs: [...skeleton.outputs, ...change],
      fee,
      validFrom: skeleton.validFrom,
      validTo: skeleton.validTo,
      mint: skeleton.mint,
      collateral: settled?.inputs.map(({ ref }) => ref),
      requiredSigners: skeleton.requiredSigners,
      collateralReturn: settled?.return,
      totalCollateral: settled?.total,
      references: skeleton.references.map(({ ref }) => ref),
      redeemers: skeleton.redeemers.map((redeemer) => ({
        ...redeemer,
        units: units.get(keyOf(redeemer.for)) ?? FIRST_GUESS,
      })),
      scripts: skeleton.scripts,
    };
    const redeemers = encodeRedeemers(unhashed);
    const languages = redeemers ? [PLUTUS_V3] : [];
    const parts = { ...unhashed, scriptDataHash: scriptDataHash({ redeemers, languages, parameters }) };
    const transaction = encodeTransaction(parts);
    return {
      parts,
      transaction,
      fee,
      size: transaction.length + witnessBytes(signers.size),
      units,
      inputs,
      ...(settled ? { collateral: settled } : {}),
      change,
      missing,
      missingCollateral: collateral && "missing" in collateral ? collateral.missing : 0n,
    };
  }

  /** Preferably outputs that are spent anyway: no other build is disturbed. */
  private collateral(chosen: readonly Utxo[], fee: bigint) {
    const liked = new Set([...this.own, ...chosen, ...this.available]);
    return chooseCollateral(this.parameters, [...liked], this.payer.address, fee);
  }
}

function negated(assets: Assets): Assets {
  return new Map([...assets].map(([asset, quantity]) => [asset, -quantity]));
}
