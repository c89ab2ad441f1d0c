/** Construction of a wallet's transaction from a payment intent. */
import { fromHex } from "#src/base/bytes.ts";
import { present } from "#src/base/present.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { encodeNative } from "#src/cardano/nativeScript.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import {
  encodeOutput,
  encodeTransaction,
  type NewOutput,
  transactionHash,
  type TransactionParts,
} from "#src/cardano/transaction.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { nameOf, policyOf, type Value, ValueSum } from "#src/cardano/value.ts";
import { type AccountCertificate, type DRepCertificate, encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { type GovernanceActions, governanceActions, inOrder } from "#src/wallets/builds/governance.ts";
import type { Needs } from "#src/transaction/coinSelection.ts";
import { drafting } from "#src/transaction/drafting.ts";
import { balanceFee, type FeeBalanced } from "#src/transaction/feeBalance.ts";
import { MAX_QUANTITY } from "#src/transaction/change.ts";
import { atLeast, neededLovelace, stableMinimum, valueSize } from "#src/transaction/output.ts";
import { isSpendable, type KnownScript, knownScripts } from "#src/transaction/signers.ts";
import { type AccountActions, accountActions } from "#src/wallets/builds/account.ts";
import { ada, balanceRefusal, inputsNotAvailable, textOf, TOO_LITTLE_ADA } from "#src/wallets/builds/failures.ts";
import { feeFunds } from "#src/wallets/builds/funds.ts";
import { mintingOf, type MintPlan } from "#src/wallets/builds/mint.ts";
import { policyOfTemplate } from "#src/wallets/builds/policy.ts";
import { shownChange, shownCoin, shownOutput } from "#src/wallets/builds/shown.ts";
import { intervalOf, type ValidityInterval } from "#src/wallets/builds/validity.ts";
import type {
  BuiltCertificate,
  CoinControl,
  CoinSelection,
  ConstructedTransaction,
  ConstructFailure,
  ConstructInput,
  FeeEstimate,
  OwnCoin,
  Payment,
  SelectionFailure,
} from "#src/wallets/builds/types.ts";

/** Everything of a transaction except coins, change and fee. */
interface Plan {
  /** Payments first, then outputs of minted assets. */
  readonly outputs: readonly NewOutput[];
  readonly needs: Needs;
  readonly parts: Omit<TransactionParts, "inputs" | "outputs" | "fee">;
  /** Hashes of keys that sign in any case. */
  readonly keys: readonly string[];
  /** Scripts that the transaction carries in any case. */
  readonly scripts: readonly KnownScript[];
  readonly references: readonly Utxo[];
  readonly actions: AccountActions;
  readonly governance: GovernanceActions;
  /** Coins that the intent spends in any case. */
  readonly required: readonly OwnCoin[];
  /** Coins that it may spend beside them. */
  readonly coins: readonly OwnCoin[];
}

/** Constructs the unsigned transaction of an intent. Takes a few ms, some tens of ms with 10,000 coins. */
export function construct(input: ConstructInput): Result<ConstructedTransaction, ConstructFailure> {
  const plan = planOf(input);
  return plan.ok ? build(input, plan.value, input.seed) : plan;
}

/** Number of coin choices that a fee estimate is made from. */
const TRIALS = 8;

/**
 * Range of fees of the transaction: the fee depends on the coins, which are chosen at random. Where the coins cover the
 * payments but not the fee, the fee that they would have to cover.
 */
export function estimateFees(input: ConstructInput): Result<FeeEstimate, ConstructFailure> {
  const plan = planOf(input);
  if (!plan.ok) return plan;
  const { parameters, intent, seed = 0 } = input;
  const fees: bigint[] = [];
  for (let trial = 0; trial < TRIALS; trial++) {
    const { balanced, failure } = balance(input, plan.value, seed + trial);
    if (balanced) fees.push(balanced.fee);
    else if (failure.reason === "fee") fees.push(failure.fee);
    else return { ok: false, error: balanceRefusal(failure) };
  }
  return ok({
    least: fees.reduce((a, b) => a < b ? a : b),
    most: fees.reduce((a, b) => a > b ? a : b),
    minimums: plan.value.outputs.slice(0, intent.payments?.length ?? 0).map((output) =>
      stableMinimum(parameters, output)
    ),
    deposit: [...plan.value.actions.taken, ...plan.value.governance.taken].reduce((a, b) => a + b, 0n),
  });
}

function planOf(input: ConstructInput): Result<Plan, ConstructFailure> {
  const { intent, funds, parameters, network, references = [], boundary, redeemed } = input;
  const { payments = [], mintBurn = [], delegations = [] } = intent;
  const governance = governanceActions(input);
  if (!governance.ok) return governance;
  if (
    payments.length + mintBurn.length + delegations.length + governance.value.keys.length === 0 && !intent.metadata &&
    !intent.vote && !intent.withdrawal
  ) {
    return fail(
      "created_invalid_transaction",
      "It looks like I've created an empty transaction that does not have any payments, withdrawals, delegations, metadata nor minting. " +
        "Include at least one of them.",
    );
  }
  const actions = accountActions(intent, { account: funds.account, redeemed }, network, parameters);
  if (!actions.ok) return actions;
  const { withdrawals, withdrawing, certificates } = actions.value;
  const interval = intervalOf(input, intent.validity, withdrawals.length > 0 ? boundary : undefined);
  if (!interval.ok) return interval;
  const minting = mintingOf(mintBurn, funds.policyKey, references, interval.value);
  if (!minting.ok) return minting;
  const paid = outputsOf(parameters, [...payments, ...minting.value.payments]);
  if (!paid.ok) return paid;
  const outputs = withScript(paid.value, input);
  if (!outputs.ok) return outputs;
  const minted = outputs.value.slice(payments.length);
  const known = knownScripts(funds.scripts);
  const divided = divideCoins(funds.coins.filter(isSpendable(known)), intent.coins);
  if (!divided.ok) return divided;
  const { required } = divided.value;
  const acting = [
    ...(certificates.length > 0 && funds.account ? [funds.account.credential] : []),
    ...(withdrawals.length > 0 && withdrawing ? [withdrawing.credential] : []),
  ];
  const actingScripts = acting.flatMap(({ kind, hash }) => kind === "script" ? known.get(hash) ?? [] : []);
  if (actingScripts.length < acting.filter(({ kind }) => kind === "script").length) {
    return fail("missing_reward_account", "The script of the wallet's stake account is unknown.");
  }
  return ok({
    outputs: outputs.value,
    needs: {
      payments: outputs.value.slice(0, payments.length).map(({ value }) => value),
      surplus: surplusOf(minting.value, [actions.value, governance.value], minted, required),
      hasInputs: required.length > 0,
    },
    parts: {
      ...slotsOf(interval.value, minting.value.timed),
      certificates: inOrder<AccountCertificate | DRepCertificate>(
        governance.value,
        governance.value.certificates,
        certificates,
      ).map(encodeCertificate),
      votes: governance.value.votes,
      withdrawals,
      mint: minting.value.mint,
      references: minting.value.references.map(({ ref }) => ref),
      auxiliary: intent.metadata === undefined ? undefined : fromHex(intent.metadata),
    },
    keys: [
      ...acting.flatMap(({ kind, hash }) => kind === "key" ? [hash] : []),
      ...governance.value.keys,
      ...(minting.value.natives.length > 0 && funds.policyKey !== undefined ? [funds.policyKey] : []),
    ],
    scripts: [...minting.value.scripts, ...actingScripts],
    references: minting.value.references,
    actions: actions.value,
    governance: governance.value,
    ...divided.value,
  });
}

/** Body field 8 (first slot) is left out unless the intent states it or a script checks it. */
function slotsOf({ from, before }: ValidityInterval, timed: boolean): Pick<TransactionParts, "validFrom" | "validTo"> {
  const first = from ?? (timed ? 0n : undefined);
  return { validTo: before, ...(first === undefined ? {} : { validFrom: first }) };
}

/** The coins that an intent must spend, and those that it may spend. */
function divideCoins(
  coins: readonly OwnCoin[],
  control: CoinControl | undefined,
): Result<Pick<Plan, "required" | "coins">, ConstructFailure> {
  if (!control) return ok({ required: [], coins });
  const spend = new Map(control.spend.map((ref) => [refKey(ref), ref]));
  const required = coins.filter(({ utxo }) => spend.has(refKey(utxo.ref)));
  for (const { utxo } of required) spend.delete(refKey(utxo.ref));
  if (spend.size > 0) {
    const missing = [...spend.values()].map((ref) => ({ ref, reason: "not_spendable" as const }));
    return { ok: false, error: inputsNotAvailable(missing) };
  }
  const excluded = new Set([...control.spend, ...control.avoid].map(refKey));
  return ok({ required, coins: control.only ? [] : coins.filter(({ utxo }) => !excluded.has(refKey(utxo.ref))) });
}

/** What comes in beside coins, less what goes out beside payments, fee and change. */
function surplusOf(
  { mint }: MintPlan,
  actions: readonly (Pick<AccountActions, "taken" | "returned"> & Partial<Pick<AccountActions, "withdrawals">>)[],
  minted: readonly NewOutput[],
  required: readonly OwnCoin[],
): Value {
  const sum = new ValueSum().add({ lovelace: 0n, assets: mint });
  for (const { withdrawals = [], returned, taken } of actions) {
    for (const { amount } of withdrawals) sum.lovelace += amount;
    for (const deposit of returned) sum.lovelace += deposit;
    for (const deposit of taken) sum.lovelace -= deposit;
  }
  for (const { value } of minted) sum.add(value, -1n);
  for (const { utxo } of required) sum.add(utxo.output.value);
  return sum;
}

/** The outputs, the first with the reference script of the intent. */
function withScript(
  outputs: readonly NewOutput[],
  { intent, funds, parameters }: ConstructInput,
): Result<readonly NewOutput[], ConstructFailure> {
  if (intent.referencePolicy === undefined) return ok(outputs);
  const policy = policyOfTemplate(intent.referencePolicy, funds.policyKey);
  if (!policy.ok) return policy;
  const [first, ...others] = outputs;
  if (!first) return fail("created_invalid_transaction", "A reference script needs a payment whose output carries it.");
  const script = encode([0, new Encoded(encodeNative(policy.value.native))]);
  return ok([atLeast(parameters, { ...first, script }), ...others]);
}

function build(
  input: ConstructInput,
  plan: Plan,
  seed: number | undefined,
): Result<ConstructedTransaction, ConstructFailure> {
  const { balanced, failure } = balance(input, plan, seed);
  return balanced ? ok(constructed(input, plan, balanced)) : { ok: false, error: balanceRefusal(failure) };
}

/** Finds coins, change and fee of a plan. */
function balance({ funds, parameters }: ConstructInput, plan: Plan, seed: number | undefined) {
  const known = knownScripts(funds.scripts);
  // encoded once: a transaction is drafted many times until coins, change and fee agree
  const outputs = plan.outputs.map((output) => new Encoded(encodeOutput(output)));
  const write = drafting({
    ...plan,
    parameters,
    known,
    inputs: plan.required.map(({ utxo }) => utxo),
    redeemers: [],
    write: ({ inputs, change, fee, nativeScripts }) =>
      encodeTransaction({ ...plan.parts, inputs, outputs: [...outputs, ...change], fee, nativeScripts }),
  });
  // required inputs belong to no payment: all payments share them
  const selection = plan.required.length > 0 ? "round-robin" : funds.selection;
  return balanceFee(feeFunds({ ...funds, selection }, plan.coins, seed), plan.needs, parameters, write);
}

function constructed(
  { funds, intent }: ConstructInput,
  { outputs, parts, actions, governance, required }: Plan,
  { draft: { transaction, size }, coins: chosen, change, fee }: FeeBalanced<OwnCoin>,
): ConstructedTransaction {
  const coins = [...required, ...chosen];
  const selection: CoinSelection = {
    inputs: coins.map(shownCoin),
    outputs: outputs.map(shownOutput),
    change: shownChange(change, funds.change),
    collateral: [],
    withdrawals: actions.withdrawals.map(({ account, amount }) => ({
      account,
      lovelace: amount,
      path: present(actions.withdrawing, "the account of a withdrawal").path,
    })),
    certificates: inOrder<BuiltCertificate>(governance, governance.shown, actions.shown),
    ...(governance.voters.length === 0 ? {} : { votes: governance.voters }),
    depositsTaken: inOrder(governance, governance.taken, actions.taken),
    depositsReturned: inOrder(governance, governance.returned, actions.returned),
    ...(intent.metadata === undefined ? {} : { metadata: intent.metadata }),
  };
  return {
    transaction,
    txHash: transactionHash(transaction),
    fee,
    ...(parts.validTo === undefined ? {} : { validTo: Number(parts.validTo) }),
    size: size + 1,
    selection,
    spends: coins.map(({ utxo }) => utxo.ref),
  };
}

type OutputParameters = Pick<Parameters, "utxoCostPerByte" | "maxValueSize">;

/** A payment as an output, with the least lovelace where it states none; or why the ledger would refuse it. */
function outputOf(
  parameters: OutputParameters,
  payment: Payment,
  index: number,
): Result<NewOutput, SelectionFailure> {
  const { address, lovelace } = payment;
  const assets = new Map(payment.assets?.filter(([, quantity]) => quantity !== 0n));
  const output: NewOutput = { address, value: { lovelace, assets } };
  for (const [asset, quantity] of assets) {
    if (quantity <= MAX_QUANTITY) continue;
    return fail(
      "output_token_quantity_exceeds_limit",
      "One of the token quantities you've specified is greater than the maximum quantity allowed in a single transaction output. Try " +
        "splitting this quantity across two or more outputs. " +
        `Destination address: ${textOf(address)}. Token policy identifier: ${policyOf(asset)}. Asset name: ${
          nameOf(asset)
        }. ` +
        `Token quantity specified: ${quantity}. Maximum allowable token quantity: ${MAX_QUANTITY}.`,
      {
        address: textOf(address),
        policy_id: policyOf(asset),
        asset_name: nameOf(asset),
        quantity,
        max_quantity: MAX_QUANTITY,
      },
    );
  }
  const least = stableMinimum(parameters, output);
  const complete = lovelace === 0n ? { address, value: { lovelace: least, assets } } : output;
  if (valueSize(complete.value) > parameters.maxValueSize) {
    return fail(
      "output_token_bundle_size_exceeds_limit",
      "One of the outputs you've specified contains too many assets. Try splitting these assets across two or more outputs. " +
        `Destination address: ${textOf(address)}. Asset count: ${assets.size}.`,
      { address: textOf(address), bundle_size: assets.size },
    );
  }
  if (complete.value.lovelace < neededLovelace(parameters, complete)) {
    return fail(
      "utxo_too_small",
      TOO_LITTLE_ADA,
      {
        tx_output_index: index,
        tx_output_lovelace_specified: ada(lovelace),
        tx_output_lovelace_required_minimum: ada(least),
      },
    );
  }
  return ok(complete);
}

/** All payments as outputs, in order; the first that the ledger would refuse fails. */
function outputsOf(
  parameters: OutputParameters,
  payments: readonly Payment[],
): Result<readonly NewOutput[], SelectionFailure> {
  const outputs: NewOutput[] = [];
  for (const [index, payment] of payments.entries()) {
    const output = outputOf(parameters, payment, index);
    if (!output.ok) return output;
    outputs.push(output.value);
  }
  return ok(outputs);
}
