/**
 * Encodings that the ledger's decoder refuses below decoder version 12, although they are well-formed CBOR
 * (cardano-ledger-binary, `Decoder.hs`):
 *
 * - Strings in chunks: `decodeBytes` and `decodeString` read strings of definite length. Metadata (`decodeMetadatum`)
 *   and Plutus data (plutus-core, `decodeBoundedBytes`) may have chunks.
 * - Big numbers (tags 2 and 3): `decodeWord64` and `decodeIntegerBounded64` read plain integers. Fractions are read with
 *   `decodeInteger`, which takes a big number whose tag has one byte. Plutus data has a rule of its own.
 *
 * These checks are apart from the readers, because the chain of a devnet may hold transactions that an earlier release
 * accepted.
 */
import { fromHex } from "#src/base/bytes.ts";
import { as, asInt, CborError, decode, entry, type Item, raw } from "#src/cardano/cbor.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { hasBigNumber } from "#src/cardano/conway/bigNumber.ts";

/** Fields of the witness set that hold Plutus data, and no strings beside it: datums and redeemers. */
const OF_DATA: readonly bigint[] = [4n, 5n];
/** Fields of the body that are read with big numbers: minted quantities, and proposals. */
const WITH_INTEGERS: readonly bigint[] = [9n, 20n];

/**
 * Checks the encoding of the parts of a transaction; `read` is what the body says.
 *
 * @throws {CborError} if the ledger's decoder refuses it
 */
export function checkEncoding(body: Item, witnesses: Item, auxiliary: Item, read: Body): void {
  onlyDefinite(raw(body));
  for (const [field, value] of as(body, "map").value) {
    if (WITH_INTEGERS.includes(asInt(field)) && hasBigNumber(value)) throw new CborError("a big number in the body");
  }
  const { outputs, collateralReturn } = read;
  for (const { output: { script }, address } of collateralReturn ? [...outputs, collateralReturn] : outputs) {
    if (script) onlyDefinite(script);
    if (address.kind === "byron") checkByron(fromHex(address.hex));
  }
  for (const [field, value] of as(witnesses, "map").value) {
    if (!OF_DATA.includes(asInt(field))) onlyDefinite(raw(value));
  }
  for (const scripts of scriptsIn(auxiliary)) onlyDefinite(raw(scripts));
}

/** Throws unless all strings in CBOR are of definite length. */
function onlyDefinite(cbor: Uint8Array): void {
  new Walk(cbor).skip(false);
}

function checkByron(address: Uint8Array): void {
  onlyDefinite(address);
  const payload = as(as(decode(address), "array").value[0], "tag").value;
  onlyDefinite(as(payload, "bytes").value);
}

/** The scripts in auxiliary data, in each of its three forms. */
function scriptsIn(auxiliary: Item): readonly Item[] {
  if (auxiliary.type === "array") return auxiliary.value.slice(1);
  if (auxiliary.type !== "tag") return [];
  return [1, 2, 3, 4].flatMap((field) => entry(auxiliary.value, field) ?? []);
}
