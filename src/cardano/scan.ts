/**
 * The block scanner: raw blocks and transactions to what projections read, without judging them.
 *
 * Hypotheses: a block on the chain is valid, so nothing is checked here that the ledger checked, and odd things that it let through
 * (a 56-byte pool hash in a certificate) pass; hashes are over the bytes as they came; eras Shelley to Conway differ in nothing that
 * is read here, save that blocks before Alonzo have no list of invalid transactions and transactions before it no validity flag.
 */
import { toHex } from "#src/base/bytes.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { as, asInt, asSet, CborError, decodeAll, type Item, raw } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { readOutput, readRef } from "#src/cardano/output.ts";
import { noAssets, readAssets } from "#src/cardano/value.ts";

/** Era tags of `[era, block]` whose blocks have the shape that is read here. */
const SHELLEY = 2;
const CONWAY = 7;

/** Scans `[era, block]`. Throws `CborError` on other bytes, and on eras that are not Shelley to Conway. */
export function scanBlock(bytes: Uint8Array): ScannedBlock {
  const [tag, block] = as(decodeAll(bytes), "array").value;
  const era = Number(asInt(tag));
  if (era < SHELLEY || era > CONWAY) throw new CborError(`blocks of era ${era} are not read`);
  const [header, bodies, witnessSets, auxiliary, invalid] = as(block, "array").value;
  const [height, slot, previous, issuer] = as(as(header, "array").value[0], "array").value;
  const refused = new Set(invalid ? as(invalid, "array").value.map((index) => Number(asInt(index))) : []);
  const auxiliaryData = new Map(as(auxiliary, "map").value.map(([index, data]) => [Number(asInt(index)), data]));
  const witnesses = as(witnessSets, "array").value;
  const transactions = as(bodies, "array").value;
  if (transactions.length !== witnesses.length) throw new CborError("bodies and witness sets differ in number");
  return {
    slot: Number(asInt(slot)),
    hash: hash256(raw(header!)),
    height: Number(asInt(height)),
    ...(previous?.type === "bytes" ? { previous: toHex(previous.value) } : {}),
    era,
    size: block!.end - block!.start,
    issuer: toHex(as(issuer, "bytes").value),
    transactions: transactions.map((body, index) =>
      read(index, body, witnesses[index]!, !refused.has(index), auxiliaryData.get(index))
    ),
  };
}

/** Scans a whole transaction, as it is submitted. Throws `CborError` on anything else. Its `index` is 0. */
export function scanTransaction(bytes: Uint8Array): ScannedTransaction {
  const parts = as(decodeAll(bytes), "array").value;
  const [body, witnesses] = parts;
  if ((parts.length !== 3 && parts.length !== 4) || !body || !witnesses) throw new CborError("not a transaction");
  as(witnesses, "map");
  const valid = parts.length === 4 ? as(parts[2], "bool").value : true;
  const auxiliary = parts[parts.length - 1]!;
  return read(0, body, witnesses, valid, auxiliary.type === "null" ? undefined : auxiliary);
}

function read(
  index: number,
  body: Item,
  witnesses: Item,
  valid: boolean,
  auxiliary: Item | undefined,
): ScannedTransaction {
  const fields = new Map<number, Item>();
  for (const [key, value] of as(body, "map").value) fields.set(Number(asInt(key)), value);
  const list = (key: number) => {
    const field = fields.get(key);
    return field ? asSet(field) : [];
  };
  const slot = (key: number) => {
    const field = fields.get(key);
    return field ? Number(asInt(field)) : undefined;
  };
  const validTo = slot(3);
  const validFrom = slot(8);
  const mint = fields.get(9);
  const collateralReturn = fields.get(16);
  const withdrawals = fields.get(5);
  return {
    hash: hash256(raw(body)),
    index,
    valid,
    inputs: asSet(fields.get(0)).map(readRef),
    collateral: list(13).map(readRef),
    references: list(18).map(readRef),
    outputs: as(fields.get(1), "array").value.map(readOutput),
    ...(collateralReturn ? { collateralReturn: readOutput(collateralReturn) } : {}),
    fee: asInt(fields.get(2)),
    mint: mint ? readAssets(mint) : noAssets,
    ...(validFrom === undefined ? {} : { validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    certificates: list(4),
    withdrawals: new Map(
      (withdrawals ? as(withdrawals, "map").value : [])
        .map(([account, amount]) => [toHex(as(account, "bytes").value), asInt(amount)]),
    ),
    body: raw(body),
    witnesses: raw(witnesses),
    ...(auxiliary ? { auxiliaryData: raw(auxiliary) } : {}),
  };
}
