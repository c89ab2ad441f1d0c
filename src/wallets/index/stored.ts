/** Reads chain bytes that rows hold. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { type Output, walkOutput } from "#src/cardano/output.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { ByronTransaction } from "#src/cardano/scanByron.ts";
import { Walk } from "#src/cardano/walk.ts";

const BYRON = 1;
const SHELLEY = 2;

/** Bytes of a row as a plain `Uint8Array`: the database client returns a subclass. */
const plain = ({ buffer, byteOffset, byteLength }: Uint8Array) => new Uint8Array(buffer, byteOffset, byteLength);

/** The output of a row. */
export function storedOutput(bytes: Uint8Array): Output {
  return walkOutput(new Walk(plain(bytes)));
}

/** Columns of a transaction. */
export interface StoredTransaction {
  readonly hash: string;
  readonly index: number;
  readonly era: number;
  readonly valid: boolean;
  readonly body: Uint8Array;
  readonly witnesses: Uint8Array;
  readonly auxiliary: Uint8Array | null;
}

/**
 * The transaction of a row. Its hash is that of the row: a provider that gives no bytes of transactions has them encoded
 * from their parts, so that they do not hash to it.
 */
export function storedTransaction(
  { hash, index, era, valid, body, witnesses, auxiliary }: StoredTransaction,
): ScannedTransaction {
  if (era <= BYRON) return new ByronTransaction(index, plain(body), plain(witnesses), hash);
  return new BodyTransaction({
    hash,
    index,
    valid,
    body: plain(body),
    witnesses: plain(witnesses),
    auxiliaryData: auxiliary === null ? undefined : plain(auxiliary),
    lastSlotIncluded: era === SHELLEY,
  });
}
