/** Script contexts of drafted transactions. */
import { Constr, constr, type Data } from "#src/cardano/data.ts";
import { fromHex } from "#src/base/bytes.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import type { ContextErrorName } from "#src/plutus/context/error.ts";
import { type PosixTime, posixTime } from "#src/plutus/context/interval.ts";
import { translate } from "#src/plutus/context/translate.ts";
import { type Draft, slots, type World } from "../ledger/draft.ts";

/** What a translation depends on in addition to the transaction. */
export interface Terms {
  readonly major?: number;
  readonly time?: PosixTime;
}

export function read(bytes: Uint8Array): Transaction {
  const transaction = readTransaction(bytes);
  if (!transaction.ok) throw new Error(transaction.error.message);
  return transaction.value;
}

/**
 * Arguments of the script that a redeemer of a drafted transaction is for, or the name of the failure where a language
 * cannot represent the transaction.
 */
export function shown(
  language: 1 | 2 | 3,
  world: World,
  draft: Draft | Uint8Array,
  pointer: RedeemerPointer = { purpose: "mint", index: 0 },
  { major = 10, time = posixTime(slots) }: Terms = {},
): readonly Data[] | ContextErrorName {
  const transaction = read(draft instanceof Uint8Array ? draft : world.write(draft));
  const made = translate(language, { transaction, resolved: world.outputs, time, protocolMajor: major });
  if (!made.ok) return made.error.reason;
  const stated = transaction.witnesses.redeemers.find(({ purpose, index }) =>
    purpose === pointer.purpose && index === pointer.index
  );
  const redeemer = stated ?? { ...pointer, data: -1n, units: { memory: 0n, steps: 0n } };
  const args = made.value(redeemer);
  return args.ok ? args.value : args.error.reason;
}

const FIELDS = {
  1: ["inputs", "outputs", "fee", "mint", "certificates", "withdrawals", "range", "signers", "datums", "id"],
  2: [
    ...["inputs", "references", "outputs", "fee", "mint", "certificates", "withdrawals", "range", "signers"],
    ...["redeemers", "datums", "id"],
  ],
  3: [
    ...["inputs", "references", "outputs", "fee", "mint", "certificates", "withdrawals", "range", "signers"],
    ...["redeemers", "datums", "id", "votes", "proposals", "treasury", "donation"],
  ],
} as const;

type Field = (typeof FIELDS)[3][number];

/** A field of `TxInfo`, in a transaction that mints with a redeemer for each language. */
export function field(
  language: 1 | 2 | 3,
  name: Field,
  world: World,
  draft: Draft | Uint8Array,
  terms: Terms = {},
): Data | ContextErrorName {
  const args = shown(language, world, minting(draft), undefined, terms);
  if (typeof args === "string") return args;
  const context = args.at(-1) as Constr;
  const at = (FIELDS[language] as readonly string[]).indexOf(name);
  const info = context.fields[0] as Constr;
  if (info.tag !== 0 || info.fields.length !== FIELDS[language].length) throw new Error("no TxInfo");
  return info.fields[at]!;
}

/** The policy under which `field` mints. */
export const POLICY = "ab".repeat(28);

function minting(draft: Draft | Uint8Array): Draft | Uint8Array {
  return draft instanceof Uint8Array ? draft : { mint: new Map([[POLICY, 1n]]), redeemers: [[1, 0]], ...draft };
}

// values of the ledger API as data
export const hash = fromHex;
export const key = (of: string) => constr(0, hash(of));
export const script = (of: string) => constr(1, hash(of));
export const just = (data: Data) => constr(0, data);
export const nothing = constr(1);
export const no = constr(0);
export const yes = constr(1);
