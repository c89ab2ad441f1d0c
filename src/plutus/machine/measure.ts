/** Sizes of arguments for the costing functions (Plutus' `ExMemoryUsage`). */
import type { Assets } from "#src/plutus/machine/assets.ts";
import { byteWords, dataSize, nodeCount } from "#src/plutus/machine/data.ts";
import { MOST } from "#src/plutus/machine/costing.ts";
import { type Int, words } from "#src/plutus/machine/integer.ts";
import { length } from "#src/plutus/machine/list.ts";
import { Measure } from "#src/plutus/machine/measureKinds.ts";
import { bytes, data, integer, list, text, tokens } from "#src/plutus/machine/unlift.ts";
import type { Value } from "#src/plutus/machine/value.ts";

/**
 * Size of an argument.
 *
 * @throws {Failure} if its type is not the one that the measure is for.
 */
export function sizeOf(measure: Measure, value: Value): number {
  switch (measure) {
    case Measure.INTEGER:
      return words(integer(value));
    case Measure.LITERAL:
      return magnitude(integer(value));
    case Measure.BYTE_COUNT:
      return Math.floor((magnitude(integer(value)) - 1) / 8) + 1;
    case Measure.BYTES:
      return byteWords(bytes(value));
    case Measure.TEXT:
      return codePoints(text(value));
    case Measure.TEXT_BYTES:
      return utf8Length(text(value)) >>> 2;
    case Measure.DATA:
      return dataSize(data(value));
    case Measure.NODES:
      return nodeCount(data(value));
    case Measure.LIST:
      return length(list(value));
    case Measure.TOKENS:
      return tokens(value).size;
    case Measure.DEPTH:
      return depth(tokens(value));
    default:
      return 1;
  }
}

function magnitude(value: Int): number {
  return Math.min(Math.abs(Number(value)), MOST);
}

function codePoints(value: string): number {
  let count = value.length;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit >= 0xd800 && unit < 0xdc00) count--;
  }
  return count;
}

function utf8Length(value: string): number {
  let length = value.length;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    // the two units of a surrogate pair take four bytes together
    if (unit >= 0x80) length += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return length;
}

function depth(assets: Assets): number {
  return levels(assets.policies.length) + levels(assets.most);
}

function levels(size: number): number {
  return 32 - Math.clz32(size);
}
