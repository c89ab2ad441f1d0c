/**
 * The whole ledger's verdict on a transaction of the published contract: the transaction gets fees, balance and
 * signatures, and every rule judges it.
 */
import { readAddressHex } from "#src/cardano/address.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { scriptDataHash } from "#src/cardano/integrity.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { addWitness, encodeRedeemers, encodeTransaction, transactionHash } from "#src/cardano/transaction.ts";
import { addAssets, subtractValues, sumValues } from "#src/cardano/value.ts";
import { fromHex } from "#src/base/bytes.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { newState } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { published, slots } from "./contractLedger.ts";
import { coin, type Person, person } from "../wallets/person.ts";
import { partsOf, type Whole } from "./wholeTransaction.ts";

const FEE = 3_000_000n;
/** The slot of the judgement. */
export const SLOT = 500;
const payer = person("payer");
const people = new Map(
  ["owner", "alice", "bob", "mallory", "payer"].map(person).map((one): [string, Person] => [one.key, one]),
);

/** The signer of an output: the key of its address, none for a script. */
function keyOf({ address }: Output): string[] {
  const read = readAddressHex(address);
  if (!read.ok || (read.value.kind !== "base" && read.value.kind !== "enterprise")) throw new TypeError("odd address");
  return read.value.payment.kind === "key" ? [read.value.payment.hash] : [];
}

/**
 * Complete bytes of the transaction, and the outputs that it refers to. The remainder goes to a payer, in the last
 * output.
 */
export function complete(whole: Whole) {
  const money = coin(payer.enterprise, 200_000_000n);
  const collateral = coin(payer.enterprise, 10_000_000n);
  const spends = [...whole.spends, { utxo: money }];
  const parts = partsOf({ ...whole, spends }, { fee: FEE, collateral: [collateral.ref] });
  const held = sumValues(spends.map(({ utxo }) => utxo.output.value));
  const made = sumValues(whole.outputs.map(({ value }) => value));
  const minted = { ...held, assets: addAssets(held.assets, whole.mint ?? new Map()) };
  const over = subtractValues(minted, made);
  const change = { address: payer.enterprise, value: { ...over, lovelace: over.lovelace - FEE } };
  const weightOf = ({ largest }: { readonly largest?: boolean }) => largest ? 5n : 1n;
  const weights = parts.redeemers.reduce((sum, redeemer) => sum + weightOf(redeemer), 0n);
  const { memory, steps } = parameters.maxTxUnits;
  const redeemers = parts.redeemers.map((redeemer) => {
    const share = (whole: bigint) => whole * weightOf(redeemer) / weights;
    return { ...redeemer, units: { memory: share(memory), steps: share(steps) } };
  });
  const ready = { ...parts, redeemers, outputs: [...parts.outputs, change] };
  const hash = scriptDataHash({
    redeemers: encodeRedeemers(ready),
    languages: redeemers.length > 0 ? [2] : [],
    parameters,
  });
  const unsigned = encodeTransaction({ ...ready, scriptDataHash: hash });
  const id = fromHex(transactionHash(unsigned));
  const signers = new Set([...whole.signers, ...spends.flatMap(({ utxo }) => keyOf(utxo.output))]);
  const witnesses = [...signers].map((key) => {
    const { seed } = people.get(key)!;
    return { key: publicKey(seed), signature: sign(seed, id) };
  });
  return {
    transaction: addWitness(unsigned, ...witnesses),
    utxos: [...spends.map(({ utxo }) => utxo), collateral, published],
  };
}

/** Failures that the ledger reports; none for a valid transaction. */
export async function judged(whole: Whole): Promise<readonly LedgerFailure[]> {
  const { transaction, utxos } = complete(whole);
  const state = newState({ parameters, outputs: new Map(utxos.map(({ ref, output }) => [refKey(ref), output])) });
  const verdict = await validate(state, transaction, SLOT, (input) => Promise.resolve(evaluateScripts(input)), slots);
  return verdict.ok ? [] : verdict.error;
}
