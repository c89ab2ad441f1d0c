/** Failures of eras before Conway, by name. No node accepts such transactions any more, so their data stay CBOR. */
import { as, type Item } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import names from "#src/node/rejections/earlierFailures.json" with { type: "json" };
import { cborHex } from "#src/node/rejections/failureCodec.ts";
import { eraName, readSmallNumber } from "#src/node/protocols/values.ts";

/** The numbers of a rule: its failures, and the rules below it. */
interface RuleNumbers {
  readonly [number: number]: string | RuleNumbers;
}

const { ppup, deleg, pool } = names;
const utxos: RuleNumbers = { ...names.utxos, 2: ppup };

const utxoOfShelley: RuleNumbers = { ...names.utxoOfShelley, 7: ppup };
const utxoOfAllegra: RuleNumbers = { ...utxoOfShelley, ...names.utxoOfAllegra };
const utxoOfAlonzo: RuleNumbers = { ...utxoOfAllegra, ...names.utxoOfAlonzo, 7: utxos };
const utxoOfBabbage: RuleNumbers = { ...names.utxoOfBabbage, 1: utxoOfAlonzo };

const utxowOfShelley = (utxo: RuleNumbers): RuleNumbers => ({ ...names.utxowOfShelley, 4: utxo });
const utxowOfAlonzo = (utxo: RuleNumbers): RuleNumbers => ({ ...names.utxowOfAlonzo, 0: utxowOfShelley(utxo) });
const utxowOfBabbage: RuleNumbers = {
  ...names.utxowOfBabbage,
  1: utxowOfAlonzo(utxoOfBabbage),
  2: utxoOfBabbage,
};

const delpl: RuleNumbers = { 0: pool, 1: deleg };
/**
 * In older nodes 1 was `WithdrawalsNotInRewardsDELEGS` and DELPL was 2; the former has a map as its data, which
 * distinguishes them.
 */
const delegs: RuleNumbers = { 0: "DelegateeNotRegisteredDELEG", 1: delpl, 2: delpl };

const ledger = (utxow: RuleNumbers): RuleNumbers => ({ ...names.ledger, 0: utxow, 1: delegs });

/** Rule LEDGER by index of the era. */
const ledgers: readonly (RuleNumbers | undefined)[] = [
  undefined,
  ledger(utxowOfShelley(utxoOfShelley)),
  ledger(utxowOfShelley(utxoOfAllegra)),
  ledger(utxowOfShelley(utxoOfAllegra)),
  ledger(utxowOfAlonzo(utxoOfAlonzo)),
  ledger(utxowOfBabbage),
];

/**
 * Decodes a failure of an era from Byron to Babbage. Throws `CborError` if it is not an array that begins with a
 * number.
 */
export function readEarlierFailure(era: number, failure: Item): LedgerFailure {
  const cbor = cborHex(failure);
  const of = ledgers[era];
  // Byron's failures have another form, whose names are not listed here
  const name = of ? nameIn(of, failure) : "ApplyMempoolPayloadErr";
  if (name === undefined) return { name: "UnknownFailure", rule: `LEDGER of ${eraName(era)}`, cbor };
  return { name: "EarlierEraFailure", era: eraName(era), failure: name, cbor };
}

function nameIn(rule: RuleNumbers, item: Item): string | undefined {
  const [number, below] = as(item, "array").value;
  const found = rule[readSmallNumber(number)];
  if (typeof found !== "object") return found;
  if (rule === delegs && below?.type === "map") return "WithdrawalsNotInRewardsDELEGS";
  return below?.type === "array" ? nameIn(found, below) : undefined;
}
