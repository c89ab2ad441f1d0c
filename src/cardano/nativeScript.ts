/** Native scripts (CDDL `native_script`): signatures and times, read, written, hashed and judged. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { as, asInt, CborError, decode, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";

/** A native script. Key hashes are hexadecimal; slots and counts are whole numbers. */
export type NativeScript =
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "all" | "any"; readonly scripts: readonly NativeScript[] }
  | { readonly kind: "at least"; readonly count: bigint; readonly scripts: readonly NativeScript[] }
  /** Agrees from a slot on, and up to a slot that is itself too late. */
  | { readonly kind: "from" | "before"; readonly slot: bigint };

const KINDS = ["key", "all", "any", "at least", "from", "before"] as const;
const KEY_BYTES = 28;
const MAX_SLOT = (1n << 64n) - 1n;

/** Reads a native script as strictly as the ledger does. Throws `CborError`. */
export function readNative(item: Item | undefined): NativeScript {
  const [tag, first, second, ...more] = as(item, "array").value;
  const kind = KINDS[Number(as(tag, "int").value)];
  if (!kind || !first || more.length > 0 || (second === undefined) === (kind === "at least")) {
    throw new CborError("no native script");
  }
  switch (kind) {
    case "key": {
      const { value } = as(first, "bytes");
      if (value.length !== KEY_BYTES) throw new CborError(`a key hash of ${value.length} bytes`);
      return { kind, hash: toHex(value) };
    }
    case "all":
    case "any":
      return { kind, scripts: as(first, "array").value.map(readNative) };
    case "at least":
      return { kind, count: asInt(first), scripts: as(second, "array").value.map(readNative) };
    default: {
      const slot = as(first, "int").value;
      if (slot < 0n || slot > MAX_SLOT) throw new CborError("no slot");
      return { kind, slot };
    }
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
  const inner = (one: NativeScript) => agrees(one, signers, interval);
  switch (script.kind) {
    case "key":
      return signers.has(script.hash);
    case "all":
      return script.scripts.every(inner);
    case "any":
      return script.scripts.some(inner);
    case "at least":
      return BigInt(script.scripts.filter(inner).length) >= script.count;
    case "from":
      return interval.from !== undefined && script.slot <= interval.from;
    case "before":
      return interval.before !== undefined && interval.before <= script.slot;
  }
}

/** A native script out of its CBOR, or `undefined` where it cannot be read: a chain holds some that are nested past all sense. */
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
  if (script.kind === "key") return [script.hash];
  return "scripts" in script ? [...new Set(script.scripts.flatMap(keysOf))] : [];
}

/** How many keys a script has, and how many of them may sign at the most without it agreeing: none are -1, where it always agrees. */
interface Span {
  readonly keys: number;
  readonly short: number;
}

const total = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

/** `must`: nothing is valid unless this script agrees, so that its times are met; others may be met or not. */
function spanOf(script: NativeScript, must: boolean): Span {
  if (script.kind === "key") return { keys: 1, short: 0 };
  if (!("scripts" in script)) return { keys: 0, short: must ? -1 : 0 };
  const { scripts } = script;
  const spans = scripts.map((one) => spanOf(one, must && script.kind === "all"));
  const doubtful = spans.filter(({ short }) => short >= 0);
  const wanted = script.kind === "at least" ? Number(script.count) : script.kind === "any" ? 1 : scripts.length;
  // so many may agree without the whole agreeing: those that most keys can sign in vain
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
 * Most signatures that come together under a native script when nobody signs once it agrees: what its fee is reckoned with. Exact where
 * no key stands in it twice, an upper bound otherwise.
 */
export function signaturesNeeded(script: NativeScript): number {
  return Math.min(keysOf(script).length, spanOf(script, true).short + 1);
}
