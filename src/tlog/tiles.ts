/**
 * Tiles: the hashes of a log in files of at most 256, and its entries in bundles of as many (tlog-tiles). A tile of level L
 * holds hashes of complete subtrees of 256^L leaves; a full one never changes and its root is one hash of the level above.
 */
import { byteAt, concat, joined } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { HASH_BYTES, nodeHash } from "#src/tlog/hash.ts";
import { isSize, type SubtreeHash } from "#src/tlog/tree.ts";

/** Hashes in a full tile, and entries in a full bundle. */
export const TILE_WIDTH = 256;
/** log2 of `TILE_WIDTH`. */
const TILE_HEIGHT = 8;
/** The highest level of a tile: 256^6 leaves are below the largest size. */
const MAX_LEVEL = 6;
/** Most bytes in an entry. */
export const MAX_ENTRY_BYTES = 65_535;

/** Where a tile is. */
export interface TilePlace {
  readonly level: number;
  readonly index: number;
}

/** A file of a log: hashes of a level, or entries; `width` is below 256 for one that is not full. */
export interface TileFile {
  readonly level: number | "entries";
  readonly index: number;
  readonly width: number;
}

/** A tile with its hashes, 32 bytes each. */
export interface Tile extends TilePlace {
  readonly hashes: Uint8Array;
}

/** Path of a file below the prefix of a log, such as `tile/0/x001/067` or `tile/entries/000.p/44`. */
export function tilePath({ level, index, width }: TileFile): string {
  const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, "0");
  const groups = digits.match(/\d{3}/g) ?? [];
  const number = groups.map((group, i) => i < groups.length - 1 ? `x${group}` : group).join("/");
  return `tile/${level}/${number}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

/** The file of a path; undefined where it is not the one path of a possible file. */
export function parseTilePath(path: string): TileFile | undefined {
  const [, level, number, width] = /^tile\/(entries|\d)\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? [];
  if (level === undefined || number === undefined) return undefined;
  const file: TileFile = {
    level: level === "entries" ? level : Number(level),
    index: Number(number.replaceAll(/[x/]/g, "")),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  const possible = file.width >= 1 && file.width <= TILE_WIDTH && isSize(file.index) &&
    (file.level === "entries" || file.level <= MAX_LEVEL);
  return possible && tilePath(file) === path ? file : undefined;
}

/** Whether a log of that size has that file: a full tile, or a partial one of a size that the log had. */
export function hasTile(size: number, { level, index, width }: TileFile): boolean {
  const hashes = Math.floor(size / TILE_WIDTH ** (level === "entries" ? 0 : level));
  return index * TILE_WIDTH + width <= hashes;
}

/** Encodes a bundle of entries. @throws RangeError where an entry is too long. */
export function encodeEntries(entries: readonly Uint8Array[]): Uint8Array {
  return joined(entries.map((entry) => {
    if (entry.length > MAX_ENTRY_BYTES) throw new RangeError(`an entry has ${entry.length} bytes`);
    return concat(Uint8Array.of(entry.length >> 8, entry.length & 255), entry);
  }));
}

/** The entries of a bundle. */
export function decodeEntries(bytes: Uint8Array): Result<Uint8Array[], Failure<"bad_bundle">> {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    if (entries.length === TILE_WIDTH) return fail("bad_bundle", `The bundle has more than ${TILE_WIDTH} entries.`);
    if (at + 2 > bytes.length) return fail("bad_bundle", "The bundle ends within a length.");
    const end = at + 2 + byteAt(bytes, at) * 256 + byteAt(bytes, at + 1);
    if (end > bytes.length) return fail("bad_bundle", "The bundle ends within an entry.");
    entries.push(bytes.slice(at + 2, end));
    at = end;
  }
  return ok(entries);
}

/** Hashes of subtrees, read from tiles. `tileOf` gives the hashes of a tile, as many as there are. */
export function hashesOfTiles(tileOf: (place: TilePlace) => Uint8Array): SubtreeHash {
  return (level, index) => {
    const { place, first, width } = inTile(level, index);
    const part = tileOf(place).subarray(first * HASH_BYTES, (first + width) * HASH_BYTES);
    if (part.length !== width * HASH_BYTES) {
      throw new RangeError(
        `the tile ${place.index} of level ${place.level} has not the hashes of level ${level}, ${index}`,
      );
    }
    return fullHash(part);
  };
}

/** The tile with the hashes of a subtree, the place of the first of them, and their number. */
function inTile(level: number, index: number) {
  const width = 2 ** (level % TILE_HEIGHT);
  const first = index * width;
  const place = { level: Math.floor(level / TILE_HEIGHT), index: Math.floor(first / TILE_WIDTH) };
  return { place, first: first % TILE_WIDTH, width };
}

/** Gives the hashes of each of some tiles by its place, and none of others. */
export function tileLookup(tiles: readonly Tile[]): (place: TilePlace) => Uint8Array {
  const found = new Map(tiles.map((tile) => [keyOf(tile), tile.hashes]));
  return (place) => found.get(keyOf(place)) ?? new Uint8Array();
}

const keyOf = ({ level, index }: TilePlace) => `${level}/${index}`;

/** The tiles from which `work` reads hashes: it runs with hashes that mean nothing. */
export function tilesRead(work: (hashOf: SubtreeHash) => unknown): TilePlace[] {
  const places = new Map<string, TilePlace>();
  const blank = new Uint8Array(HASH_BYTES);
  work((level, index) => {
    const { place } = inTile(level, index);
    places.set(keyOf(place), place);
    return blank;
  });
  return [...places.values()];
}

/**
 * The tiles that change when leaves are appended to a log of some size. `openTile` gives the hashes that the last tile of a
 * level has, as many as there are, and none where it is full or missing.
 */
export function appendedTiles(
  size: number,
  leaves: readonly Uint8Array[],
  openTile: (place: TilePlace) => Uint8Array,
): Tile[] {
  const tiles: Tile[] = [];
  let added = leaves;
  for (let level = 0; added.length > 0; level++) {
    const before = Math.floor(size / TILE_WIDTH ** level);
    let index = Math.floor(before / TILE_WIDTH);
    const place = { level, index };
    const old = before % TILE_WIDTH === 0 ? new Uint8Array() : openTile(place);
    if (old.length !== (before % TILE_WIDTH) * HASH_BYTES) {
      throw new RangeError(`the tile ${index} of level ${level} has ${old.length} bytes`);
    }
    const hashes = concat(old, joined(added));
    const full: Uint8Array[] = [];
    for (let at = 0; at < hashes.length; at += TILE_WIDTH * HASH_BYTES, index++) {
      const part = hashes.slice(at, at + TILE_WIDTH * HASH_BYTES);
      tiles.push({ level, index, hashes: part });
      if (part.length === TILE_WIDTH * HASH_BYTES) full.push(fullHash(part));
    }
    added = full;
  }
  return tiles;
}

/** Root of a complete tree whose leaves are these hashes, a power of two. */
function fullHash(hashes: Uint8Array): Uint8Array {
  if (hashes.length === HASH_BYTES) return hashes.slice();
  const middle = hashes.length / 2;
  return nodeHash(fullHash(hashes.subarray(0, middle)), fullHash(hashes.subarray(middle)));
}
