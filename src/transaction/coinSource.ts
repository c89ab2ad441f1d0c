/** What pays for a transaction: choosing among the outputs on offer until inputs, outputs, fee and change agree. */
import { fail } from "#src/base/result.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters, Units } from "#src/cardano/parameters.ts";
import {
  encodeTransaction,
  madeOutput,
  type NewOutput,
  subjectOf,
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
import { makeChange } from "#src/transaction/change.ts";
import { chooseCollateral, type Collateral, lowered, neededCollateral } from "#src/transaction/collateral.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { type Composed, type Paid, type Payer, type Skeleton, total, type UnitsOf } from "#src/transaction/draft.ts";
import { leastLovelace, refScriptSize } from "#src/transaction/output.ts";
import { inOrder, select } from "#src/transaction/select.ts";

/** Bytes of an input, `[hash, index]`, with an index below 256. */
const INPUT_BYTES = 37;
/** Stands for the script data hash, which is worked out once the transaction is finished. */
const ANY_HASH = "00".repeat(32);
/** Units that take as many bytes as most real ones, until there are real ones. */
export const FIRST_GUESS: Units = { memory: 100_000n, steps: 100_000_000n };

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
        const { missing } = chosen;
        const countless = this.available.length > this.most;
        return missing.assets.size > 0 || countless
          ? notEnough("transaction", missing)
          : this.lacking("transaction", units);
      }
      const draft = this.compose(chosen.utxos, units);
      if (draft.missing === 0n) return draft.missingCollateral === 0n ? { draft } : this.lacking("collateral", units);
      const held = sumValues(chosen.utxos.map(({ output }) => output.value)).lovelace;
      const more = { ...this.need, lovelace: held + draft.missing };
      const next = select(this.available, more, this.most).type;
      if (next !== "chosen") {
        // Nothing more to add: what is too little for an output of its own goes to the fee.
        const burning = this.composeWithoutChange(chosen.utxos, units);
        if (burning?.missingCollateral === 0n) return { draft: burning };
        return next === "crowded" ? crowded(this.most) : this.lacking("transaction", units);
      }
      this.need = more;
    }
  }

  /** How much one more output of the address would have to hold, found out with one that holds a lot. */
  private lacking(purpose: "transaction" | "collateral", units: UnitsOf): Paid {
    const { address } = this.payer;
    const held = sumValues(this.available.map(({ output }) => output.value)).lovelace;
    const plenty = (this.need.lovelace > held ? this.need.lovelace - held : 0n) + PLENTY;
    const another = { ref: NO_OUTPUT, output: madeOutput({ address, value: lovelace(plenty) }) };
    const draft = this.compose([another, ...this.available], units);
    const change = draft.change[0]!;
    const spare = change.value.lovelace - leastLovelace(this.parameters, change);
    const collateral = draft.collateral ? neededCollateral(this.parameters, draft.fee) : 0n;
    const enough = plenty - spare > collateral ? plenty - spare : collateral;
    return notEnough(purpose, lovelace(enough), draft);
  }

  /** The transaction with these inputs, at the least fee that is right for itself. */
  private compose(chosen: readonly Utxo[], units: UnitsOf): Composed {
    const left = this.left(chosen);
    const tried = new Set<bigint>();
    let kept: Collateral | undefined;
    for (let fee = minFee(this.parameters, { size: 0 });;) {
      const change = makeChange(this.parameters, this.payer.address, { ...left, lovelace: left.lovelace - fee });
      const composed = this.assemble(chosen, units, fee, change.outputs, change.missing, kept);
      const right = this.feeOf(composed);
      // An amount that needs fewer bytes at the higher of two fees has no fee that is right to the lovelace: the higher one it is.
      if (right === fee || (right < fee && tried.has(right) && kept)) return composed;
      // Collateral for a higher fee does for a lower one; choosing anew could swing for ever between a large and a small form.
      if (right < fee) kept = composed.collateral ?? NO_COLLATERAL;
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
    kept?: Collateral,
  ): Composed {
    const { skeleton } = this;
    const inputs = [...skeleton.inputs, ...chosen];
    const collateral = skeleton.redeemers.length > 0 ? this.collateral(chosen, fee, kept) : undefined;
    const settled = collateral && "inputs" in collateral ? collateral : undefined;
    const signers = new Set(skeleton.requiredSigners);
    for (const { output } of [...inputs, ...(settled?.inputs ?? [])]) {
      const key = paymentKeyHash(output.address);
      if (key) signers.add(key);
    }
    const parts: TransactionParts = {
      inputs: inputs.map(({ ref }) => ref),
      outputs: [...skeleton.outputs, ...change],
      fee,
      validFrom: skeleton.validFrom,
      validTo: skeleton.validTo,
      mint: skeleton.mint,
      scriptDataHash: skeleton.redeemers.length > 0 ? ANY_HASH : undefined,
      collateral: settled?.inputs.map(({ ref }) => ref),
      requiredSigners: skeleton.requiredSigners,
      collateralReturn: settled?.return,
      totalCollateral: settled?.total,
      references: skeleton.references.map(({ ref }) => ref),
      redeemers: skeleton.redeemers.map((redeemer) => ({
        ...redeemer,
        units: units.get(subjectOf(redeemer.for)) ?? FIRST_GUESS,
      })),
      scripts: skeleton.scripts,
    };
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
  private collateral(chosen: readonly Utxo[], fee: bigint, kept?: Collateral) {
    if (kept && kept !== NO_COLLATERAL) return lowered(this.parameters, kept, fee);
    const spent = [...this.own, ...chosen];
    const near = chooseCollateral(this.parameters, spent, this.payer.address, fee);
    if ("inputs" in near && near.inputs.length === 1 && near.inputs[0]!.output.value.assets.size === 0) return near;
    const liked = new Set([...spent, ...this.available]);
    return chooseCollateral(this.parameters, [...liked], this.payer.address, fee);
  }
}

/** An output that there is not, and lovelace that is enough for any fee and change. */
const NO_OUTPUT: OutRef = { txHash: "00".repeat(32), index: 65_535 };
const PLENTY = 100_000_000n;
const NO_COLLATERAL: Collateral = { inputs: [], total: 0n };

function negated(assets: Assets): Assets {
  return new Map([...assets].map(([asset, quantity]) => [asset, -quantity]));
}
