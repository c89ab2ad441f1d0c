/**
 * Reads a whole Conway transaction. Parts that have no member in `ReadTransaction` are described in words under `unknown`,
 * so that nothing is skipped. Only the bytes are read; the spent outputs are not resolved here.
 */
import { toHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, decode, type Item, raw } from "#src/cardano/cbor.ts";
import { walkCertificate } from "#src/cardano/certificates.ts";
import { type Data, readData } from "#src/cardano/data.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import { type Output, type OutRef, readOutput, readRef, refKey } from "#src/cardano/output.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { partsOf } from "#src/cardano/transaction.ts";
import { type Assets, noAssets, readAssets } from "#src/cardano/value.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import { redeemerItems } from "#src/contract/redeemer.ts";
import { diagnostic } from "#src/contract/summary/diagnostic.ts";
import { scriptOf } from "#src/contract/summary/scripts.ts";
import { ambiguousEncodings } from "#src/contract/summary/ambiguousEncoding.ts";

/** A part of the transaction that the summary does not model, described in words. */
export type UnknownPart = Summary["unknown"][number];

/** A redeemer: the argument of one script run. */
export interface ReadRedeemer {
  readonly purpose: Summary["scripts"][number]["purpose"];
  readonly index: bigint;
  /** Undefined if it is not readable Plutus data. */
  readonly data: Data | undefined;
  readonly cbor: Uint8Array;
  readonly memory: bigint;
  readonly steps: bigint;
}

export interface ReadTransaction {
  readonly hash: string;
  readonly size: number;
  readonly valid: boolean;
  /** In the order of the body. */
  readonly inputs: readonly OutRef[];
  readonly outputs: readonly Output[];
  readonly fee: bigint;
  readonly validFrom: bigint | undefined;
  readonly validTo: bigint | undefined;
  readonly mint: Assets;
  readonly collateral: readonly OutRef[];
  readonly collateralReturn: Output | undefined;
  readonly totalCollateral: bigint | undefined;
  readonly requiredSigners: readonly string[];
  readonly references: readonly OutRef[];
  readonly redeemers: readonly ReadRedeemer[];
  readonly attached: Summary["attached"];
  /** Key hashes of the attached signatures. */
  readonly signatures: ReadonlySet<string>;
  readonly metadata: Summary["metadata"];
  /** Whether it moves lovelace by other means than inputs, outputs, minting and fee. */
  readonly otherMoney: boolean;
  readonly unknown: readonly UnknownPart[];
}

/**
 * References to every output that a transaction spends, uses as collateral or reads, without decoding the rest of it.
 *
 * @throws {CborError} if the bytes are not a transaction
 */
export function refsIn(transaction: Uint8Array): readonly OutRef[] {
  const walk = new Walk(transaction);
  walk.tuple("transaction", 4);
  const body = walk.raw();
  const none = new Uint8Array();
  const source = { index: 0, valid: true, body, witnesses: none, auxiliaryData: undefined, lastSlotIncluded: false };
  const { inputs, collateral, references } = new BodyTransaction(source);
  return [...new Map([...inputs, ...collateral, ...references].map((ref) => [refKey(ref), ref])).values()];
}

const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;

/** Body fields that are described only in words: code and description. */
const DESCRIBED_FIELDS: ReadonlyMap<bigint, readonly [code: string, what: string]> = new Map([
  [6n, ["field", "an update proposal of an older era"]],
  [15n, ["network_id", "a statement of the network that it is for"]],
  [19n, ["vote", "votes on governance actions"]],
  [20n, ["proposal", "governance proposals"]],
  [21n, ["treasury", "a statement of what the treasury holds"]],
  [22n, ["donation", "a donation to the treasury"]],
]);
/** Body fields that set `otherMoney`. */
const MONEY_FIELDS: ReadonlySet<bigint> = new Set([4n, 5n, 20n, 22n]);
const READ_FIELDS: ReadonlySet<bigint> = new Set([0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 14, 16, 17, 18].map(BigInt));

/** A map with integer keys. Of duplicate keys the last counts; `ambiguousEncodings` reports them. */
function fieldsOf(map: Item): Map<bigint, Item> {
  return new Map(as(map, "map").value.map(([key, value]) => [asInt(key), value]));
}

/**
 * Reads a transaction.
 *
 * @throws {CborError} if the bytes are not a transaction
 */
export function readTransaction(bytes: Uint8Array): ReadTransaction {
  const { body, witnesses, valid, auxiliary } = partsOf(bytes);
  const unknown: UnknownPart[] = [];
  const report = (code: string, message: string) => void unknown.push({ code, message });
  for (const message of ambiguousEncodings(body, "the body")) report("encoding", message);
  const fields = fieldsOf(body);
  const needed = (field: bigint, name: string): Item => {
    const item = fields.get(field);
    if (!item) throw new CborError(`a body without ${name}`);
    return item;
  };
  const natural = (field: bigint, item: Item) => {
    const value = asInt(item);
    if (value < 0n) report("encoding", `the body has a negative number in its field ${field}`);
    return value;
  };
  const maybe = <T>(field: bigint, read: (field: bigint, item: Item) => T): T | undefined => {
    const item = fields.get(field);
    return item && read(field, item);
  };
  const list = <T>(item: Item | undefined, one: (item: Item) => T): T[] => item ? asSet(item).map(one) : [];
  const output = (item: Item): Output => {
    for (const message of oddOutput(item)) report("encoding", message);
    return readOutput(item);
  };
  for (const [field, item] of fields) {
    const [code, what] = DESCRIBED_FIELDS.get(field) ??
      ["field", `a field ${field} of the body that is not known here`];
    if (!READ_FIELDS.has(field)) report(code, `There is ${what}: ${diagnostic(item)}.`);
  }
  for (const item of list(fields.get(4n), (one) => one)) {
    report("certificate", `There is a certificate: ${describeCertificate(item)}.`);
  }
  for (const [account, amount] of as(fields.get(5n) ?? EMPTY_MAP, "map").value) {
    const from = toHex(as(account, "bytes").value);
    report("withdrawal", `${asInt(amount)} lovelace of rewards are withdrawn from the account ${from}.`);
  }
  const read = {
    inputs: list(needed(0n, "inputs"), readRef),
    outputs: as(needed(1n, "outputs"), "array").value.map(output),
    fee: natural(2n, needed(2n, "a fee")),
    validFrom: maybe(8n, natural),
    validTo: maybe(3n, natural),
    mint: maybe(9n, (_, item) => readAssets(item)) ?? noAssets,
    collateral: list(fields.get(13n), readRef),
    collateralReturn: maybe(16n, (_, item) => output(item)),
    totalCollateral: maybe(17n, natural),
    requiredSigners: list(fields.get(14n), (item) => toHex(as(item, "bytes").value)),
    references: list(fields.get(18n), readRef),
  };
  const witnessed = readWitnesses(witnesses, report);
  if ((witnessed.redeemers.length > 0) !== fields.has(11n)) {
    report("script_data", "Arguments of scripts and the hash over them do not go together.");
  }
  return {
    hash: hash256(raw(body)),
    size: bytes.length,
    valid: as(valid, "bool").value,
    ...read,
    ...witnessed,
    metadata: readAuxiliary(auxiliary, fields.get(7n), report),
    otherMoney: [...MONEY_FIELDS].some((field) => fields.has(field)),
    unknown,
  };
}

const EMPTY_MAP = decode(Uint8Array.of(0xa0));

/** Unknown members of an output. */
function oddOutput(item: Item): string[] {
  if (item.type !== "map") return [];
  return item.value.flatMap(([key]) =>
    key.type === "int" && key.value >= 0n && key.value <= 3n ? [] : [`an output has a member ${diagnostic(key)}`]
  );
}

function describeCertificate(item: Item): string {
  try {
    return `${walkCertificate(new Walk(item.source, item.start)).kind}, ${diagnostic(item)}`;
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return diagnostic(item);
  }
}

function readWitnesses(witnesses: readonly (readonly [Item, Item])[], report: (code: string, message: string) => void) {
  const fields = new Map<bigint, Item>();
  for (const [key, value] of witnesses) {
    if (fields.has(asInt(key))) report("encoding", "the witnesses have one field twice");
    fields.set(asInt(key), value);
  }
  const list = (field: bigint): readonly Item[] => {
    const item = fields.get(field);
    return item ? asSet(item) : [];
  };
  for (const field of fields.keys()) {
    if (field < 0n || field > 7n) {
      report("witness_field", `There is a field ${field} of the witnesses that is not known here.`);
    }
  }
  if (list(2n).length > 0) report("bootstrap", "There are signatures of Byron keys.");
  if (list(4n).length > 0) report("datum", "Datums travel along.");
  const attached = [
    ...list(1n).map((item) => scriptOf("native", raw(item))),
    ...([[3n, "PlutusV1"], [6n, "PlutusV2"], [7n, "PlutusV3"]] as const).flatMap(([field, language]) =>
      list(field).map((item) => scriptOf(language, as(item, "bytes").value))
    ),
  ];
  for (const { hash, version } of attached) {
    if (version === null) report("attached_script", `A script ${hash} travels along that is not the contract.`);
  }
  return {
    attached,
    redeemers: readRedeemers(fields.get(5n), report),
    signatures: new Set(list(0n).map((item) => hash224(as(as(item, "array").value[0], "bytes").value))),
  };
}

function readRedeemers(item: Item | undefined, report: (code: string, message: string) => void): ReadRedeemer[] {
  if (!item) return [];
  const all = redeemerItems(item).map(([tag, index, data, units]): ReadRedeemer => {
    const [memory, steps] = as(units, "array").value;
    const purpose = PURPOSES[Number(asInt(tag))];
    if (!purpose || !data) throw new CborError("no redeemer");
    return {
      purpose,
      index: asInt(index),
      data: dataOf(data),
      cbor: raw(data),
      memory: asInt(memory),
      steps: asInt(steps),
    };
  });
  if (new Set(all.map(({ purpose, index }) => `${purpose} ${index}`)).size < all.length) {
    report("encoding", "one run of a script has two arguments");
  }
  return all;
}

function dataOf(item: Item): Data | undefined {
  try {
    return readData(item);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}

/** Metadata; scripts in the auxiliary data are described in words. */
function readAuxiliary(
  item: Item,
  hash: Item | undefined,
  report: (code: string, message: string) => void,
): Summary["metadata"] {
  const stated = hash && toHex(as(hash, "bytes").value);
  if (item.type === "null") {
    if (stated !== undefined) report("auxiliary_hash", "The auxiliary data that the body speaks of is missing.");
    return [];
  }
  if (stated !== hash256(raw(item))) report("auxiliary_hash", "The auxiliary data is not that of the body.");
  for (const message of ambiguousEncodings(item, "the auxiliary data")) report("encoding", message);
  let metadata: Item | undefined = item;
  if (item.type === "array") {
    metadata = item.value[0];
    if (item.value.length !== 2) report("auxiliary", "The auxiliary data has a form that is not known here.");
    if (as(item.value[1], "array").value.length > 0) {
      report("auxiliary_script", "Scripts travel along as auxiliary data.");
    }
  } else if (item.type === "tag") {
    if (item.tag !== 259n) throw new CborError("no auxiliary data");
    const fields = fieldsOf(item.value);
    metadata = fields.get(0n);
    if ([...fields.keys()].some((field) => field !== 0n)) {
      report("auxiliary_script", "Scripts travel along as auxiliary data.");
    }
  }
  return metadata === undefined ? [] : as(metadata, "map").value.map(([label, value]) => ({
    label: asInt(label),
    cbor: toHex(raw(value)),
    text: diagnostic(value),
  }));
}
