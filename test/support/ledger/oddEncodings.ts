/**
 * Other encodings of the same CBOR. The ledger's decoder accepts many of them; the code behind a decoder must not
 * depend on the encoding that a sender chose.
 */
import { concat, utf8 } from "#src/base/bytes.ts";
import { decodeAll, head, type Item, raw } from "#src/cardano/cbor.ts";

/** One style of encoding an item; undefined if it does not apply to that kind of item. */
type Style = (item: Item, inner: (item: Item) => Uint8Array) => Uint8Array | undefined;

const BREAK = Uint8Array.of(0xff);

/** A head whose argument takes `width` bytes, however small it is; undefined if it needs more. */
function wide(major: number, argument: number | bigint, width: 1 | 8): Uint8Array | undefined {
  if (width === 1 && argument > 255) return undefined;
  const bytes = new Uint8Array(1 + width);
  bytes[0] = (major << 5) | (width === 1 ? 24 : 27);
  if (width === 1) bytes[1] = Number(argument);
  else new DataView(bytes.buffer).setBigUint64(1, BigInt(argument));
  return bytes;
}

const elements = (item: Item): readonly Item[] =>
  item.type === "array" ? item.value : item.type === "map" ? item.value.flat() : [];

/** An item with a head of a larger width. */
function behind(item: Item, inner: (item: Item) => Uint8Array, width: 1 | 8): Uint8Array | undefined {
  const headed = (major: number, argument: number | bigint, ...content: readonly Uint8Array[]) => {
    const first = wide(major, argument, width);
    return first && concat(first, ...content);
  };
  switch (item.type) {
    case "int":
      return item.value < 0n ? headed(1, -1n - item.value) : headed(0, item.value);
    case "bytes":
      return headed(2, item.value.length, item.value);
    case "text":
      return headed(3, utf8(item.value).length, utf8(item.value));
    case "array":
      return headed(4, item.value.length, ...elements(item).map(inner));
    case "map":
      return headed(5, item.value.length, ...elements(item).map(inner));
    case "tag":
      return headed(6, item.tag, inner(item.value));
    default:
      return undefined;
  }
}

function bigInteger(value: bigint, zeros: number): Uint8Array {
  const magnitude = value < 0n ? -1n - value : value;
  const digits = magnitude === 0n ? "" : magnitude.toString(16);
  const bytes = Uint8Array.from(
    (digits.length % 2 === 1 ? `0${digits}` : digits).match(/../g) ?? [],
    (pair) => parseInt(pair, 16),
  );
  return concat(head(6, value < 0n ? 3 : 2), head(2, zeros + bytes.length), new Uint8Array(zeros), bytes);
}

function inPieces(
  item: Item,
  cut: (content: Uint8Array) => readonly Uint8Array[] | undefined,
): Uint8Array | undefined {
  if (item.type !== "bytes" && item.type !== "text") return undefined;
  const major = item.type === "text" ? 3 : 2;
  const parts = cut(item.type === "text" ? utf8(item.value) : item.value);
  return parts && concat(
    Uint8Array.of((major << 5) | 31),
    ...parts.flatMap((part) => [head(major, part.length), part]),
    BREAK,
  );
}

const STYLES = {
  indefinite: (item, inner) =>
    (item.type === "array" || item.type === "map") && !item.indefinite
      ? concat(Uint8Array.of(item.type === "array" ? 0x9f : 0xbf), ...elements(item).map(inner), BREAK)
      : undefined,
  definite: (item, inner) =>
    (item.type === "array" || item.type === "map") && item.indefinite
      ? concat(head(item.type === "array" ? 4 : 5, item.value.length), ...elements(item).map(inner))
      : undefined,
  "1-byte head": (item, inner) => behind(item, inner, 1),
  "8-byte head": (item, inner) => behind(item, inner, 8),
  "one piece": (item) => inPieces(item, (content) => [content]),
  "empty pieces": (item) => inPieces(item, (content) => [new Uint8Array(), content, new Uint8Array()]),
  "no pieces": (item) => inPieces(item, (content) => content.length === 0 ? [] : undefined),
  "two pieces": (item) =>
    inPieces(item, (content) => content.length > 1 ? [content.subarray(0, 1), content.subarray(1)] : undefined),
  "big integer": (item) => item.type === "int" ? bigInteger(item.value, 0) : undefined,
  "big integer with zeros": (item) => item.type === "int" ? bigInteger(item.value, 3) : undefined,
  reversed: (item, inner) =>
    item.type === "map" && item.value.length > 1
      ? concat(head(5, item.value.length), ...item.value.toReversed().flat().map(inner))
      : undefined,
  "set tag": (item, inner) =>
    item.type === "array" ? concat(head(6, 258), head(4, item.value.length), ...item.value.map(inner)) : undefined,
  "no set tag": (item, inner) => item.type === "tag" && item.tag === 258n ? inner(item.value) : undefined,
  "constructor by number": (item, inner) => byNumber(item, inner, false),
  "constructor by number, indefinite": (item, inner) => byNumber(item, inner, true),
} satisfies Readonly<Record<string, Style>>;

function byNumber(item: Item, inner: (item: Item) => Uint8Array, indefinite: boolean): Uint8Array | undefined {
  if (item.type !== "tag" || item.tag < 121n || item.tag > 127n) return undefined;
  const number = head(0, item.tag - 121n);
  if (!indefinite) return concat(head(6, 102), head(4, 2), number, inner(item.value));
  return concat(
    head(6, 102),
    Uint8Array.of(0x9f),
    number,
    Uint8Array.of(0x9f),
    ...elements(item.value).map(inner),
    BREAK,
    BREAK,
  );
}

/** An item with the parts that `chosen` selects encoded in another style; CBOR inside tag 24 is re-encoded too. */
function rewritten(item: Item, style: Style, chosen: (item: Item) => boolean): Uint8Array {
  const inner = (part: Item): Uint8Array => {
    const other = chosen(part) ? style(part, inner) : undefined;
    if (other) return other;
    switch (part.type) {
      case "array":
      case "map": {
        const open = part.type === "array" ? 4 : 5;
        const parts = elements(part).map(inner);
        return part.indefinite
          ? concat(Uint8Array.of((open << 5) | 31), ...parts, BREAK)
          : concat(head(open, part.value.length), ...parts);
      }
      case "tag": {
        if (part.tag !== 24n || part.value.type !== "bytes") return concat(head(6, part.tag), inner(part.value));
        const content = inner(decodeAll(part.value.value));
        const other = chosen(part.value) ? style({ ...part.value, value: content } as Item, inner) : undefined;
        return concat(head(6, 24), other ?? concat(head(2, content.length), content));
      }
      default:
        return raw(part);
    }
  };
  return inner(item);
}

/** All items within an item, the item itself first; also those of CBOR inside tag 24. */
function* within(item: Item, path: string): Generator<readonly [Item, string]> {
  yield [item, path];
  if (item.type === "array") {
    for (const [i, one] of item.value.entries()) yield* within(one, `${path}/${i}`);
  } else if (item.type === "map") {
    for (const [i, [key, value]] of item.value.entries()) {
      yield* within(key, `${path}/key ${i}`);
      yield* within(value, `${path}/${key.type === "int" ? key.value : i}`);
    }
  } else if (item.type === "tag") {
    yield* within(item.value, `${path}/tag ${item.tag}`);
    if (item.tag === 24n && item.value.type === "bytes") {
      yield* within(decodeAll(item.value.value), `${path}/embedded`);
    }
  }
}

/** The name of a style. */
export type StyleName = keyof typeof STYLES;

const styleNames = Object.keys(STYLES).filter((name): name is StyleName => Object.hasOwn(STYLES, name));

/** CBOR in another encoding, and a description of it. */
export interface OddEncoding {
  readonly name: string;
  /** Where the item is that is encoded otherwise; undefined if all are. */
  readonly path?: string;
  readonly style: StyleName;
  readonly bytes: Uint8Array;
}

/**
 * Every encoding of some CBOR in which one item has one other style, then those in which all items have it. The
 * ledger's decoder does not accept all of them as transactions: check with the decoder.
 */
export function* oddEncodings(bytes: Uint8Array): Generator<OddEncoding> {
  const item = decodeAll(bytes);
  for (const name of styleNames) {
    const style: Style = STYLES[name];
    for (const [target, path] of within(item, "")) {
      const at = `${target.start} ${target.source.length}`;
      const only = (part: Item) =>
        `${part.start} ${part.source.length}` === at && part.type === target.type && part.end === target.end;
      if (style(target, raw)) {
        yield { name: `${path || "/"} ${name}`, path, style: name, bytes: rewritten(item, style, only) };
      }
    }
    yield { name: `everything ${name}`, style: name, bytes: rewritten(item, style, () => true) };
  }
}
