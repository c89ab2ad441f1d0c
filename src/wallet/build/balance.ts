/** Completing a partial transaction, with the scripts of Plutus that it runs. */
import { fail, ok, type Result } from "#src/base/result.ts";
import { paymentKeyHash, rewardAddress } from "#src/cardano/address.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { type Redeemer, subjectOf, transactionHash } from "#src/cardano/transaction.ts";
import type { Value } from "#src/cardano/value.ts";
import { FREE_ROUNDS, type Measure, unitsOf } from "#src/transaction/balance.ts";
import { chooseCollateral, type Collateral } from "#src/transaction/collateral.ts";
import { total, type UnitsOf } from "#src/transaction/draft.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { refScriptSize } from "#src/transaction/output.ts";
import { FIRST_GUESS } from "#src/transaction/coinSource.ts";
import { Bag } from "#src/wallet/build/valueAccumulator.ts";
import { decodeTransaction } from "#src/wallet/build/decode.ts";
import { depositsOf } from "#src/wallet/build/deposits.ts";
import { refusal, tooBig } from "#src/wallet/build/failures.ts";
import { complete, indexed, type Partial, redeemersBytes } from "#src/wallet/build/partial.ts";
import { anySeed } from "#src/wallet/build/random.ts";
import { keysFor, reading, resolve, type Resolved } from "#src/wallet/build/resolve.ts";
import { type Framed, settle, type Settled } from "#src/wallet/build/feeBalance.ts";
import { shownCoin, shownOutput } from "#src/wallet/build/shown.ts";
import { isSpendable, knownScripts, Signers } from "#src/wallet/build/signers.ts";
import type { BalanceInput, BalanceTxFailure, Constructed, OwnCoin } from "#src/wallet/build/types.ts";

interface Draft extends Framed {
  readonly transaction: Uint8Array;
  readonly collateral?: Collateral | undefined;
  readonly redeemers: readonly Redeemer[];
}

/** Whether scripts are evaluated on the way: only then is `measure` of `balanceTransaction` called. */
export function runsScripts({ transaction, redeemers }: Pick<BalanceInput, "transaction" | "redeemers">): boolean {
  if (redeemers.length > 0) return true;
  const partial = reading(transaction);
  return partial.ok && partial.value.redeemers.length > 0;
}

/** The transaction with inputs, change, collateral, units and fee; what it had stays as it was, its own witnesses too. */
export function balanceTransaction(asked: BalanceInput, measure: Measure): Result<Constructed, BalanceTxFailure> {
  // One seed for all rounds: other coins each time would ask for another evaluation each time.
  const input = { ...asked, seed: asked.seed ?? anySeed() };
  const resolved = resolve(input);
  if (!resolved.ok) return resolved;
  const { partial, redeemers, inputs, references } = resolved.value;
  let units: UnitsOf = new Map();
  let evaluated = redeemers.length === 0 ? undefined : "";
  for (let round = 0;; round++) {
    const outcome = draft(input, resolved.value, units);
    if (!("settled" in outcome)) return { ok: false, error: outcome.failure };
    const { settled } = outcome;
    const all = [...inputs, ...settled.coins.map(({ utxo }) => utxo)];
    // Scripts see which inputs and how many outputs there are; amounts of lovelace cost them nothing (see src/balance).
    const shape = [...all.map(({ ref }) => refKey(ref)), settled.change.length].join();
    if (evaluated === undefined || evaluated === shape) return finished(input, resolved.value, settled);
    const { transaction, collateral } = settled.framed;
    const used = [...all, ...references, ...collateral?.inputs ?? []];
    const run = measure(transaction, used);
    if (!run.ok) return unmeasured(run);
    const refs = all.map(({ ref }) => ref);
    units = unitsOf(
      { ...indexed(partial.scanned, refs), redeemers: settled.framed.redeemers },
      run.redeemers,
      round < FREE_ROUNDS ? new Map() : units,
    );
    const { memory, steps } = total(units);
    const { maxTxUnits } = input.parameters;
    if (memory > maxTxUnits.memory || steps > maxTxUnits.steps) return { ok: false, error: tooBig };
    evaluated = shape;
  }
}

/** Why there are no units. */
function unmeasured(
  run: Extract<ReturnType<Measure>, { readonly ok: false }>,
): Extract<Result<never, BalanceTxFailure>, { readonly ok: false }> {
  switch (run.kind) {
    case "refused":
      return fail("redeemer_script_failure", `A script refuses the transaction: ${run.message}`, { logs: run.logs });
    case "over_limit":
      return { ok: false, error: tooBig };
    default:
      return fail("bad_request", `The scripts cannot be run on the transaction: ${run.message}`);
  }
}

/** It cannot be shown inline datums (`InlineDatumsNotSupported`), and anybody can send a wallet a coin with one. */
const PLUTUS_V1 = 0;

function draft(input: BalanceInput, resolved: Resolved, units: UnitsOf) {
  const { means, parameters, seed } = input;
  const { partial, inputs, references, languages } = resolved;
  const known = knownScripts(means.scripts);
  const carried = knownScripts(partial.natives);
  const spent = new Set(inputs.map(({ ref }) => refKey(ref)));
  const coins = means.coins.filter(({ utxo }) => !spent.has(refKey(utxo.ref))).filter(isSpendable(known))
    .filter(({ utxo }) => !languages.has(PLUTUS_V1) || !utxo.output.datum);
  const redeemers = resolved.redeemers.map((redeemer) => ({
    ...redeemer,
    units: units.get(subjectOf(redeemer.for)) ?? FIRST_GUESS,
  }));
  const collateralOf = collateralChooser(input);
  const scriptBytes = [...inputs, ...references].reduce(bytesOfScript, 0);
  const needs = { payments: [], surplus: surplusOf(input, resolved), hasInputs: inputs.length > 0 };
  return settle<Draft, BalanceTxFailure>({ ...means, coins }, needs, parameters, (chosen, change, fee) => {
    const collateral = redeemers.length > 0 ? collateralOf(fee) : undefined;
    if (collateral && "failure" in collateral) return collateral;
    const signers = new Signers(keysFor(partial.scanned, means.account?.credential), carried.values(), known);
    const spends = [...inputs, ...chosen.map(({ utxo }) => utxo)];
    for (const { output } of [...spends, ...collateral?.inputs ?? []]) signers.spend(output.address);
    const refs = spends.map(({ ref }) => ref);
    const transaction = complete(partial, {
      inputs: refs,
      change,
      fee,
      redeemers,
      collateral,
      scriptDataHash: integrity(input, partial, { inputs: refs, redeemers }, languages),
      natives: signers.nativeScripts().filter((bytes) => !partial.natives.some((one) => sameBytes(one, bytes))),
    });
    const size = ledgerSize(transaction.length + signers.bytes());
    const refScriptBytes = chosen.map(({ utxo }) => utxo).reduce(bytesOfScript, scriptBytes);
    const spentUnits = redeemers.length > 0
      ? total(new Map(redeemers.map((one) => [subjectOf(one.for), one.units])))
      : undefined;
    return {
      transaction,
      collateral,
      redeemers,
      size,
      minFee: minFee(parameters, { size, units: spentUnits, refScriptBytes }),
    };
  }, seed);
}

function bytesOfScript(sum: number, { output }: Utxo): number {
  return output.script ? sum + refScriptSize(output.script) : sum;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Hash over redeemers and datums; nothing where there are neither. */
function integrity(
  { parameters }: BalanceInput,
  { scanned, witnesses }: Partial,
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

/** Collateral by fee: the smallest coin without assets that suffices, else several of the largest. */
function collateralChooser({ means, parameters }: BalanceInput) {
  const own = means.coins.map(({ utxo }) => utxo)
    .filter(({ output }) => paymentKeyHash(output.address) !== undefined && output.script === undefined)
    .sort((a, b) => a.output.value.lovelace < b.output.value.lovelace ? -1 : 1);
  const { address } = means.change[0]!;
  return (fee: bigint): Collateral | { readonly failure: BalanceTxFailure } => {
    const chosen = chooseCollateral(parameters, own, address, fee);
    if (!("missing" in chosen)) return chosen;
    return {
      failure: refusal(
        "insufficient_collateral",
        `The wallet has too little for the collateral that scripts ask for: ${chosen.missing} lovelace more, best in one output without assets.`,
      ),
    };
  };
}

function surplusOf(input: BalanceInput, { partial: { scanned, body }, inputs }: Resolved): Value {
  const bag = Bag.of(...inputs.map(({ output }) => output.value)).add({ lovelace: 0n, assets: scanned.mint });
  for (const { value } of scanned.outputs) bag.add(value, -1n);
  for (const amount of scanned.withdrawals.values()) bag.lovelace += amount;
  bag.lovelace -= depositsOf(scanned.certificates, body, input.parameters, input);
  return { lovelace: bag.lovelace, assets: bag.held() };
}

function finished(
  input: BalanceInput,
  { partial, inputs, own }: Resolved,
  { framed, coins, change, fee }: Settled<Draft>,
): { readonly ok: true; readonly value: Constructed } {
  const { transaction, collateral } = framed;
  const paths = new Map(input.means.coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const put = (collateral?.inputs ?? []).map(({ ref }) => paths.get(refKey(ref))!);
  const { scanned } = partial;
  // what is others' has no path; with it, what comes in less what goes out is the fee
  const foreign = inputs.filter(({ ref }) => !paths.has(refKey(ref))).map((utxo): OwnCoin => ({ utxo, path: [] }));
  const spends = new Map([...own, ...coins, ...put].map(({ utxo: { ref } }) => [refKey(ref), ref]));
  return ok({
    transaction,
    txHash: transactionHash(transaction),
    fee,
    ...(scanned.validTo === undefined ? {} : { validTo: scanned.validTo }),
    size: framed.size + 1,
    selection: {
      inputs: [...own, ...foreign, ...coins].map(shownCoin),
      outputs: scanned.outputs.map(shownOutput),
      change: change.map(({ output, to }) => ({ ...shownOutput(output), path: to.path })),
      collateral: put.map(shownCoin),
      ...actionsOf(input, transaction),
    },
    spends: [...spends.values()],
  });
}

/** What a coin selection tells of the account, read out of the finished transaction. */
function actionsOf({ network, parameters, means, deposits }: BalanceInput, transaction: Uint8Array) {
  const { account } = means;
  const paid = account && deposits?.get(`${account.credential.kind}-${account.credential.hash}`);
  const decoded = decodeTransaction({
    transaction,
    network,
    keyDeposit: parameters.keyDeposit,
    owns: { addresses: [], coins: [], account },
    deposits: account && paid !== undefined
      ? new Map([[rewardAddress(network, account.credential).hex, paid]])
      : undefined,
  });
  if (!decoded.ok) throw new TypeError(`a finished transaction is not read: ${decoded.error.message}`);
  const { withdrawals, certificates, depositsTaken, depositsReturned, metadata } = decoded.value;
  return {
    withdrawals: withdrawals.flatMap(({ path, ...withdrawal }) => path ? [{ ...withdrawal, path }] : []),
    certificates: certificates.flatMap((certificate) => certificate.type === "other" ? [] : [certificate]),
    depositsTaken,
    depositsReturned,
    ...(metadata === undefined ? {} : { metadata }),
  };
}
