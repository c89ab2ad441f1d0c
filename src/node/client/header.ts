/** Point and height of a block, read from `[era tag, block]`. */
import type { Tip } from "#src/cardano/block.ts";
import { scanBlock, UnknownEraError } from "#src/cardano/scan.ts";
import { major, Walk } from "#src/cardano/walk.ts";
import { nodeError } from "#src/node/errors.ts";
import { CONWAY, eraName } from "#src/node/protocols/values.ts";

/**
 * A block's point and height. Throws `CborError` for other bytes, and `NodeError` (`era_unknown`) for an unknown era.
 */
export function readHeader(block: Uint8Array): Tip {
  try {
    const { slot, hash, height } = scanBlock(block);
    return { slot, hash, height };
  } catch (error) {
    if (!(error instanceof UnknownEraError)) throw error;
    throw nodeError(
      "era_unknown",
      `The node's chain is in an era (${eraName(error.era - 1)}) that is not supported; ${
        eraName(CONWAY)
      } is the newest that is.`,
    );
  }
}

/** A block's height; from Shelley on only its first bytes are read. Throws as `readHeader` does. */
export function heightOf(block: Uint8Array): number {
  const [pair, tag = 0, parts = 0, header, body = 0] = block;
  const plain = pair === 0x82 && tag >= 2 && tag <= CONWAY + 1 && parts >> 5 === major.array && header === 0x82;
  // [tag, [[[height, …
  return plain && body >> 5 === major.array ? new Walk(block, 5).uint() : readHeader(block).height;
}
