/** Blocks of the eras Shelley to Conway: one layout, save that lists of invalid transactions came with Alonzo. */
import { elementAt } from "#src/base/present.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { Walk } from "#src/cardano/walk.ts";

const SHELLEY = 2;
const ALONZO = 5;

/** Scans the block at the position of a walk and moves past it. @throws {CborError} if it is malformed */
export function scanShelley(walk: Walk, era: number): ScannedBlock {
  const start = walk.at;
  walk.tuple("block", era < ALONZO ? 4 : 5);
  const header = walk.raw();
  const bodies = walk.each(walk.array(), () => walk.raw());
  const witnesses = walk.each(walk.array(), () => walk.raw());
  if (bodies.length !== witnesses.length) throw new CborError("bodies and witness sets differ in number");
  const auxiliary = auxiliaryData(walk);
  const refused = era < ALONZO ? undefined : indices(walk);
  walk.close(start);
  const transactions: ScannedTransaction[] = bodies.map((body, index) =>
    new BodyTransaction({
      index,
      valid: !refused?.has(index),
      body,
      witnesses: elementAt(witnesses, index),
      auxiliaryData: auxiliary?.get(index),
      lastSlotIncluded: era === SHELLEY,
    })
  );
  return { ...readHeader(header), era, size: walk.at - start, header, transactions };
}

/** The beginning of a header's body, which is the same in both of its layouts. */
function readHeader(header: Uint8Array) {
  const walk = new Walk(header);
  walk.tuple("header", 2);
  walk.tuple("header body", 10, 15);
  const height = walk.uint();
  const slot = walk.uint();
  const previous = walk.nil() ? undefined : walk.hex();
  return { slot, hash: hash256(header), height, ...(previous === undefined ? {} : { previous }), issuer: walk.hex() };
}

/** Auxiliary data by the index of its transaction. Dingo writes `null` where there is none. */
function auxiliaryData(walk: Walk): ReadonlyMap<number, Uint8Array> | undefined {
  if (walk.nil()) return undefined;
  const count = walk.map();
  return count === 0 ? undefined : new Map(walk.each(count, () => [walk.uint(), walk.raw()]));
}

function indices(walk: Walk): ReadonlySet<number> | undefined {
  const count = walk.array();
  return count === 0 ? undefined : new Set(walk.each(count, () => walk.uint()));
}
