/** Balancing of a partial transaction, with the Plutus scripts that it runs. */
import { compareBytes } from "#src/base/bytes.ts";
import { mustGet } from "#src/base/maps.ts";
import { elementAt } from "#src/base/present.ts";
import { ok, type Result } from "#src/base/result.ts";
import { paymentKeyHash, rewardAddress } from "#src/cardano/address.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { refKey } from "#src/cardano/output.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { type Value, ValueSum } from "#src/cardano/value.ts";
import { chooseCollateral } from "#src/transaction/collateral.ts";
import { drafting, type DraftPlan } from "#src/transaction/drafting.ts";
import { evaluateUntilStable, type Measure, type MeasureFailure } from "#src/transaction/evaluation.ts";
import { balanceFee, type FeeBalanced } from "#src/transaction/feeBalance.ts";
import { randomSeed } from "#src/transaction/random.ts";
import { isSpendable, knownScripts } from "#src/transaction/signers.ts";
import { decodeTransaction } from "#src/wallets/builds/decode.ts";
import { depositsOf } from "#src/wallets/builds/deposits.ts";
import { balanceRefusal, refusal, tooBig } from "#src/wallets/builds/failures.ts";
import { feeFunds } from "#src/wallets/builds/funds.ts";
import { complete, indexed, type PartialTransaction, redeemersBytes } from "#src/wallets/builds/partial.ts";
import { keysFor, resolve, type ResolvedTransaction, tryReadPartial } from "#src/wallets/builds/resolve.ts";
import { shownChange, shownCoin, shownOutput } from "#src/wallets/builds/shown.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import type { BalanceInput, BalanceTxFailure, ConstructedTransaction, OwnCoin } from "#src/wallets/builds/types.ts";

/** Whether balancing evaluates scripts; otherwise `balanceTransaction` does not call `measure`. */
export function runsScripts({ transaction, redeemers }: Pick<BalanceInput, "transaction" | "redeemers">): boolean {
  if (redeemers.length > 0) return true;
  const partial = tryReadPartial(transaction);
  return partial.ok && partial.value.redeemers.length > 0;
}

/** Adds inputs, change, collateral, units and fee. What the transaction had stays byte for byte, its witnesses too. */
export function balanceTransaction(
  request: BalanceInput,
  measure: Measure,
): Result<ConstructedTransaction, BalanceTxFailure> {
  // one seed for all rounds: a new choice of coins each time would ask for another evaluation each time
  const input = { ...request, seed: request.seed ?? randomSeed() };
  const resolved = resolve(input);
  if (!resolved.ok) return resolved;
  const { funds, parameters, seed } = input;
  const { inputs } = resolved.value;
  const plan = planOf(input, resolved.value);
  const needs = { payments: [], surplus: surplusOf(input, resolved.value), hasInputs: inputs.length > 0 };
  const from = feeFunds(funds, coinsFor(input, resolved.value), seed);
  const balanced = evaluateUntilStable<FeeBalanced<OwnCoin>, BalanceTxFailure>(plan, parameters, measure, (units) => {
    const outcome = balanceFee(from, needs, parameters, drafting(plan, units));
    return outcome.balanced ? ok(outcome.balanced) : { ok: false, error: balanceRefusal(outcome.failure) };
  }, notMeasured);
  return balanced.ok ? ok(finished(input, resolved.value, balanced.value)) : balanced;
}

/** Why there are no units. */
function notMeasured(run: MeasureFailure): BalanceTxFailure {
  switch (run.kind) {
    case "refused":
      return refusal(
        "redeemer_script_failure",
        `I was unable to assign execution units to one of your redeemers; Its execution is failing with the following error: ${run.message}`,
        { logs: run.logs },
      );
    case "over_limit":
      return tooBig;
    default:
      return refusal("bad_request", `The scripts of the transaction cannot be evaluated: ${run.message}`);
  }
}

/**
 * Plutus V1 cannot be shown inline datums (`InlineDatumsNotSupported`), and anybody can send a wallet a coin with one.
 */
const PLUTUS_V1 = 0;

/** Coins that the transaction can spend. */
function coinsFor({ funds }: BalanceInput, { inputs, languages }: ResolvedTransaction): readonly OwnCoin[] {
  const spent = new Set(inputs.map(({ ref }) => refKey(ref)));
  return funds.coins.filter(({ utxo }) => !spent.has(refKey(utxo.ref))).filter(isSpendable(knownScripts(funds.scripts)))
    .filter(({ utxo }) => !languages.has(PLUTUS_V1) || !utxo.output.datum);
}

function planOf(
  input: BalanceInput,
  { partial, inputs, references, redeemers, languages }: ResolvedTransaction,
): DraftPlan {
  const { funds, parameters } = input;
  const { scanned, natives } = partial;
  return {
    ...indexed(scanned),
    parameters,
    inputs,
    references,
    redeemers,
    keys: keysFor(scanned, funds.account?.credential),
    scripts: knownScripts(natives).values(),
    known: knownScripts(funds.scripts),
    collateral: collateralChooser(input),
    write: ({ nativeScripts, ...parts }) =>
      complete(partial, {
        ...parts,
        scriptDataHash: integrity(input, partial, parts, languages),
        natives: nativeScripts.filter((bytes) => !natives.some((one) => compareBytes(one, bytes) === 0)),
      }),
  };
}

/** Script data hash; undefined where there are neither redeemers nor datums. */
function integrity(
  { parameters }: BalanceInput,
  { scanned, witnesses }: PartialTransaction,
  completion: Parameters<typeof redeemersBytes>[1],
  languages: ReadonlySet<number>,
): string | undefined {
  return scriptDataHash({
    redeemers: redeemersBytes(scanned, completion),
    datums: witnesses.get(4n),
    languages,
    parameters,
  });
}

/** Chooses collateral: the smallest coin without assets that suffices, else several of the largest. */
function collateralChooser({ funds, parameters }: BalanceInput): NonNullable<DraftPlan["collateral"]> {
  const own = funds.coins.map(({ utxo }) => utxo)
    .filter(({ output }) => paymentKeyHash(output.address) !== undefined && output.script === undefined)
    .sort((a, b) => a.output.value.lovelace < b.output.value.lovelace ? -1 : 1);
  const { address } = elementAt(funds.change, 0);
  return (_coins, fee) => chooseCollateral(parameters, own, address, fee);
}

function surplusOf(input: BalanceInput, { partial: { scanned }, inputs }: ResolvedTransaction): Value {
  const sum = new ValueSum().add({ lovelace: 0n, assets: scanned.mint });
  for (const { output } of inputs) sum.add(output.value);
  for (const { value } of scanned.outputs) sum.add(value, -1n);
  for (const amount of scanned.withdrawals.values()) sum.lovelace += amount;
  sum.lovelace -= depositsOf(scanned, input.parameters, input);
  return sum;
}

function finished(
  input: BalanceInput,
  { partial, inputs, own }: ResolvedTransaction,
  { draft: { transaction, collateral, size }, coins, change, fee }: FeeBalanced<OwnCoin>,
): ConstructedTransaction {
  const paths = new Map(input.funds.coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const collateralCoins = (collateral?.inputs ?? []).map(({ ref }) => mustGet(paths, refKey(ref)));
  const { scanned } = partial;
  // foreign inputs are listed too, so that inputs less outputs give the fee
  const foreign = inputs.filter(({ ref }) => !paths.has(refKey(ref))).map((utxo): OwnCoin => ({ utxo, path: [] }));
  const spends = new Map([...own, ...coins, ...collateralCoins].map(({ utxo: { ref } }) => [refKey(ref), ref]));
  return {
    transaction,
    txHash: transactionHash(transaction),
    fee,
    ...(scanned.validTo === undefined ? {} : { validTo: scanned.validTo }),
    size: size + 1,
    selection: {
      inputs: [...own, ...foreign, ...coins].map(shownCoin),
      outputs: scanned.outputs.map(shownOutput),
      change: shownChange(change, input.funds.change),
      collateral: collateralCoins.map(shownCoin),
      ...actionsOf(input, transaction),
    },
    spends: [...spends.values()],
  };
}

/** Account actions of a coin selection, decoded from the finished transaction. */
function actionsOf({ network, parameters, funds, deposits }: BalanceInput, transaction: Uint8Array) {
  const { account } = funds;
  const paid = account && deposits?.get(ownedCredential(account.credential));
  const decoded = decodeTransaction({
    transaction,
    network,
    keyDeposit: parameters.keyDeposit,
    owns: { addresses: [], coins: [], account, drep: funds.drep },
    deposits: account && paid !== undefined
      ? new Map([[rewardAddress(network, account.credential).hex, paid]])
      : undefined,
  });
  if (!decoded.ok) throw new TypeError(`a finished transaction is not read: ${decoded.error.message}`);
  const { withdrawals, certificates, votes, proposals, depositsReturned, metadata } = decoded.value;
  const own = votes.filter(({ path }) => path !== undefined);
  return {
    withdrawals: withdrawals.flatMap(({ path, ...withdrawal }) => path ? [{ ...withdrawal, path }] : []),
    certificates: certificates.flatMap((certificate) => certificate.type === "other" ? [] : [certificate]),
    ...(own.length === 0 ? {} : { votes: own }),
    // the wallet pays for what it completes
    depositsTaken: [...decoded.value.depositsTaken, ...proposals.map(({ deposit }) => deposit)],
    depositsReturned,
    ...(metadata === undefined ? {} : { metadata }),
  };
}
