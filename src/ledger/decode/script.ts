/** Scripts: native ones read and judged, Plutus ones with their language and hash. */
import { concat } from "#src/base/bytes.ts";
import { as, asInt, CborError, decode, type Item, raw } from "#src/cardano/cbor.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { hash, tuple, uint } from "#src/ledger/decode/strict.ts";

/** A native script (CDDL `native_script`). */
export type NativeScript =
  | { readonly kind: "key"; readonly hash: string }
  | { readonly kind: "all" | "any"; readonly scripts: readonly NativeScript[] }
  | { readonly kind: "at least"; readonly count: bigint; readonly scripts: readonly NativeScript[] }
  | { readonly kind: "from" | "before"; readonly slot: bigint };

/** A script with its hash. */
export type Script =
  & { readonly hash: string }
  & (
    | { readonly language: 0; readonly native: NativeScript; readonly size: number }
    | { readonly language: 1 | 2 | 3; readonly bytes: Uint8Array; readonly size: number }
  );

/** A script of Plutus. */
export type PlutusScript = Extract<Script, { bytes: Uint8Array }>;

/** Reads a native script. */
export function readNative(item: Item | undefined): NativeScript {
  const [tag, ...rest] = tuple(item, "native script", 2, 3);
  const [first, second] = rest;
  const kind = Number(uint(tag, "kind of native script", 5n));
  if (rest.length !== (kind === 3 ? 2 : 1)) throw new CborError("native script of the wrong length");
  const inner = (scripts: Item | undefined) => as(scripts, "array").value.map(readNative);
  switch (kind) {
    case 0:
      return { kind: "key", hash: hash(first, "key hash", 28) };
    case 1:
    case 2:
      return { kind: kind === 1 ? "all" : "any", scripts: inner(first) };
    case 3:
      return { kind: "at least", count: asInt(first), scripts: inner(second) };
    default:
      return { kind: kind === 4 ? "from" : "before", slot: uint(first, "slot") };
  }
}

/** A native script out of an item, with its hash (over the bytes as they came). */
export function nativeScript(item: Item): Script {
  const bytes = raw(item);
  return {
    language: 0,
    native: readNative(item),
    hash: hash224(concat(Uint8Array.of(0), bytes)),
    size: bytes.length,
  };
}

/** A Plutus script with its hash. `bytes` is what the byte string in the witness set holds. */
export function plutusScript(language: 1 | 2 | 3, bytes: Uint8Array): PlutusScript {
  return { language, bytes, hash: hash224(concat(Uint8Array.of(language), bytes)), size: bytes.length };
}

/** Reads `script` as outputs refer to it: `[language, script]`. */
export function readScript(bytes: Uint8Array): Script {
  const [tag, content] = tuple(decode(bytes), "script", 2);
  const language = Number(uint(tag, "language", 3n));
  if (language === 0) return nativeScript(content!);
  return plutusScript(language as 1 | 2 | 3, as(content, "bytes").value);
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
