/**
 * Native scripts (CDDL `native_script`): signatures and times, read, written, hashed and judged. The ledger bounds their depth by the size of a
 * transaction alone, which is thousands of levels: what reads or judges them does not recurse.
 */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { as, CborError, decode, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { major, Walk } from "#src/cardano/walk.ts";

/** A native script. Key hashes are hexadecimal; slots and counts are whole numbers. */
export type NativeScript =
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "all" | "any"; readonly scripts: readonly NativeScript[] }
  | { readonly kind: "at least"; readonly count: bigint; readonly scripts: readonly NativeScript[] }
  /** Satisfied from a slot on (inclusive), or before a slot (exclusive). */
  | { readonly kind: "from" | "before"; readonly slot: bigint };

const KINDS = ["key", "all", "any", "at least", "from", "before"] as const;
const KEY_BYTES = 28;

/** A script whose parts are being read. */
interface Open {
  /** Where its array begins. */
  readonly start: number;
  /** Parts that it has, or -1 until a break. */
  readonly count: number;
  readonly scripts: NativeScript[];
  readonly whole: (scripts: readonly NativeScript[]) => NativeScript;
}

/**
 * Reads a native script of any depth, as strictly as the ledger does.
 *
 * @throws {CborError} if it is malformed
 */
export function readNative(item: Item | undefined): NativeScript {
  const { source, start } = as(item, "array");
  const walk = new Walk(source, start);
  const open: Open[] = [];
  for (;;) {
    let value: NativeScript | undefined = walkNative(walk, open);
    for (let inner = open.at(-1); inner; inner = open.at(-1)) {
      if (value) inner.scripts.push(value);
      if (walk.more(inner.scripts.length, inner.count)) break;
      open.pop();
      walk.close(inner.start);
      value = inner.whole(inner.scripts);
    }
    if (value && open.length === 0) return value;
  }
}

/** Reads a script without parts, or opens one that has some. */
function walkNative(walk: Walk, open: Open[]): NativeScript | undefined {
  const start = walk.at;
  // the elements of an array that ends with a break are not counted ahead: that would take time for each level
  const length = walk.array();
  const kind = KINDS[walk.uint()];
  if (!kind || (length !== -1 && length !== (kind === "at least" ? 3 : 2))) throw new CborError("no native script");
  switch (kind) {
    case "key": {
      const value = walk.bytes();
      if (value.length !== KEY_BYTES) throw new CborError(`a key hash of ${value.length} bytes`);
      walk.close(start);
      return { kind, hash: toHex(value) };
    }
    case "all":
    case "any":
      open.push({ start, count: walk.array(), scripts: [], whole: (scripts) => ({ kind, scripts }) });
      return undefined;
    case "at least": {
      const count = walkCount(walk);
      open.push({ start, count: walk.array(), scripts: [], whole: (scripts) => ({ kind, count, scripts }) });
      return undefined;
    }
    default: {
      if (walk.major !== major.uint) throw new CborError("no slot");
      const slot = walk.int();
      walk.close(start);
      return { kind, slot };
    }
  }
}

/** The number of scripts that must be satisfied: a 64-bit integer, which may be negative. */
function walkCount(walk: Walk): bigint {
  const count = walk.major === major.tag ? undefined : walk.int();
  if (count === undefined || BigInt.asIntN(64, count) !== count) throw new CborError("no count");
  return count;
}

/** A script with the results of its parts, computed from the inside out. `down` makes what holds for its parts of what holds for a script. */
function folded<C, R>(
  script: NativeScript,
  context: C,
  down: (script: NativeScript, context: C) => C,
  up: (script: NativeScript, context: C, parts: readonly R[]) => R,
): R {
  interface Level {
    readonly script: NativeScript;
    readonly context: C;
    readonly parts: R[];
  }
  const outside: Level[] = [];
  let level: Level = { script, context, parts: [] };
  for (;;) {
    const inner = "scripts" in level.script ? level.script.scripts[level.parts.length] : undefined;
    if (inner) {
      outside.push(level);
      level = { script: inner, context: down(level.script, level.context), parts: [] };
      continue;
    }
    const result = up(level.script, level.context, level.parts);
    const outer = outside.pop();
    if (!outer) return result;
    outer.parts.push(result);
    level = outer;
  }
}

function encodable(script: NativeScript): Encodable {
  const tag = KINDS.indexOf(script.kind);
  switch (script.kind) {
    case "key":
      return [tag, fromHex(script.hash)];
    case "all":
    case "any":
      return [tag, script.scripts.map(encodable)];
    case "at least":
      return [tag, script.count, script.scripts.map(encodable)];
    default:
      return [tag, script.slot];
  }
}

/** CBOR of a native script. */
export function encodeNative(script: NativeScript): Uint8Array {
  return encode(encodable(script));
}

/** Hash of a native script, over its CBOR as it came: its policy id, and its credential in addresses. 56 hexadecimal digits. */
export function nativeHash(script: Uint8Array): string {
  return hash224(concat(Uint8Array.of(0), script));
}

/**
 * Whether a native script agrees (ledger: `evalTimelock`): to the keys that signed and the slots in which the transaction is
 * valid, from `from` and before `before`.
 */
export function agrees(
  script: NativeScript,
  signers: ReadonlySet<string>,
  interval: { readonly from?: bigint | undefined; readonly before?: bigint | undefined },
): boolean {
  return folded<undefined, boolean>(script, undefined, () => undefined, (one, _, parts) => {
    switch (one.kind) {
      case "key":
        return signers.has(one.hash);
      case "all":
        return parts.every(Boolean);
      case "any":
        return parts.some(Boolean);
      case "at least":
        return BigInt(parts.filter(Boolean).length) >= one.count;
      case "from":
        return interval.from !== undefined && one.slot <= interval.from;
      case "before":
        return interval.before !== undefined && interval.before <= one.slot;
    }
  });
}

/** A native script from its CBOR; undefined if it cannot be read: chains have some with extreme nesting. */
export function knownNative(bytes: Uint8Array): NativeScript | undefined {
  try {
    return readNative(decode(bytes));
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

/** Hashes of all keys in a native script, in its order, each once. */
export function keysOf(script: NativeScript): readonly string[] {
  const keys = new Set<string>();
  folded<undefined, void>(script, undefined, () => undefined, (one) => {
    if (one.kind === "key") keys.add(one.hash);
  });
  return [...keys];
}

/** How many keys a script has, and how many of them may sign at the most without it agreeing: none are -1, where it always agrees. */
interface Span {
  readonly keys: number;
  readonly short: number;
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

/** `must`: nothing is valid unless this script agrees, so that its times are met; others may be met or not. */
function spanOf(script: NativeScript, must: boolean, spans: readonly Span[]): Span {
  if (script.kind === "key") return { keys: 1, short: 0 };
  if (!("scripts" in script)) return { keys: 0, short: must ? -1 : 0 };
  const doubtful = spans.filter(({ short }) => short >= 0);
  const wanted = script.kind === "at least" ? Number(script.count) : script.kind === "any" ? 1 : spans.length;
  // so many may agree without the whole agreeing: those with the most keys whose signatures do not suffice
  const agreeing = wanted - 1 - (spans.length - doubtful.length);
  if (agreeing < 0) return { keys: total(spans.map(({ keys }) => keys)), short: -1 };
  const gains = doubtful.map(({ keys, short }) => keys - short).sort((a, b) => b - a);
  return {
    keys: total(spans.map(({ keys }) => keys)),
    short: total(doubtful.map(({ short }) => short)) + total(gains.slice(0, agreeing)) +
      total(spans.filter(({ short }) => short < 0).map(({ keys }) => keys)),
  };
}

/**
 * The maximum number of signatures that a native script needs, if nothing is signed after it is satisfied; used for the fee.
 * Exact if no key occurs twice in the script, otherwise an upper bound.
 */
export function signaturesNeeded(script: NativeScript): number {
  const { short } = folded<boolean, Span>(script, true, ({ kind }, must) => must && kind === "all", spanOf);
  return Math.min(keysOf(script).length, short + 1);
}
