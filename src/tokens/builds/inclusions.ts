/** Proofs that entries are in the log, computed in the builder threads: each tile with an entry takes some 250 hashes. */
import { ok, type Result } from "#src/base/result.ts";
import { multiProof } from "#src/tlog/multiProof.ts";
import { hashesOfTiles, type Tile, tileLookup } from "#src/tlog/tiles.ts";

export interface InclusionsInput {
  /** Indices of entries, ascending. */
  readonly indices: readonly number[];
  /** Entries of the checkpoint. */
  readonly size: number;
  /** The tiles that `multiProof` reads. */
  readonly tiles: readonly Tile[];
}

/** The hashes that lead from the entries to the root of the first `size` entries. */
export function inclusions({ indices, size, tiles }: InclusionsInput): Result<Uint8Array[], never> {
  return ok(multiProof(indices, size, hashesOfTiles(tileLookup(tiles))));
}
