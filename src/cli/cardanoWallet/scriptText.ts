/**
 * Scripts as the command line has them: `at_least 1 [KEY, all [KEY, active_from 120, active_until 150]]`. Whitespace does
 * not matter. A leaf is a key or its hash, or a cosigner in templates of shared wallets.
 */
import { concat, fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { CliError } from "#src/cli/error.ts";
import { leavesOf } from "#src/wallets/shared/script.ts";
import type { ScriptForm } from "#src/wallets/shared/types.ts";

/** The ledger bounds the depth by the size of a transaction alone; scripts written by hand have a few levels. */
const DEEPEST = 500;
const MOST_SLOT = (1n << 64n) - 1n;
/** Most signatures that `at_least` may require. */
const MOST_REQUIRED = 255n;

/** The refusal of a text that is no script, as clients know it. */
export const MALFORMED =
  "Parsing of the script failed. The script should be composed of nested lists, the verification keys should be " +
  "bech32-encoded or base16-encoded, and timelocks must use non-negative numbers as slots.";

class Reader {
  at = 0;
  constructor(private readonly text: string) {}

  /** The next token that a pattern matches, after whitespace. */
  take(pattern: RegExp): string | undefined {
    this.at += /^\s*/.exec(this.text.slice(this.at, this.at + 4_096))?.[0].length ?? 0;
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  must(pattern: RegExp): string {
    const found = this.take(pattern);
    if (found === undefined) throw new CliError(MALFORMED);
    return found;
  }

  number(most: bigint): bigint {
    const value = BigInt(this.must(/\d{1,30}/));
    if (value > most) throw new CliError(MALFORMED);
    return value;
  }
}

const exact = (slot: bigint) => slot <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(slot) : slot;

function readScript(reader: Reader, leaf: (text: string) => boolean, depth: number): ScriptForm {
  if (depth > DEEPEST) throw new CliError(`${MALFORMED} At most ${DEEPEST} lists may be nested.`);
  const list = (): ScriptForm[] => {
    reader.must(/\[/);
    const parts: ScriptForm[] = [];
    if (reader.take(/\]/) !== undefined) return parts;
    for (;;) {
      parts.push(readScript(reader, leaf, depth + 1));
      if (reader.take(/,/) !== undefined) continue;
      reader.must(/\]/);
      return parts;
    }
  };
  const word = reader.must(/[A-Za-z0-9_#]+/);
  switch (word) {
    case "all":
      return { all: list() };
    case "any":
      return { any: list() };
    case "at_least":
      return { some: { at_least: Number(reader.number(MOST_REQUIRED)), from: list() } };
    case "active_from":
      return { active_from: exact(reader.number(MOST_SLOT)) };
    case "active_until":
      return { active_until: exact(reader.number(MOST_SLOT)) };
    default:
      if (!leaf(word)) throw new CliError(MALFORMED);
      return word;
  }
}

/** Reads a script whose leaves satisfy a condition. @throws {CliError} where the text is no script */
function parse(text: string, leaf: (text: string) => boolean): ScriptForm {
  const reader = new Reader(text);
  const script = readScript(reader, leaf, 0);
  if (reader.take(/[^]/) !== undefined) throw new CliError(MALFORMED);
  return script;
}

/** A template of a shared wallet, whose leaves are `cosigner#0` … `cosigner#255`. */
export function parseTemplate(text: string): ScriptForm {
  return parse(text, (leaf) => /^cosigner#\d{1,3}$/.test(leaf) && Number(leaf.slice(9)) < 256);
}

/** A script of keys with the hashes of its leaves. */
export interface KeyScript {
  readonly script: ScriptForm;
  /** 56 hexadecimal digits for each leaf. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Uses of its keys, such as `addr_shared`; undefined where hashes came without a prefix. */
  readonly roles: ReadonlySet<string | undefined>;
}

/** A script whose leaves are keys or their hashes, in bech32 or hexadecimal. */
export function parseKeyScript(text: string): KeyScript {
  const leaves = new Map<string, Leaf>();
  const script = parse(text, (leaf) => {
    const read = readLeaf(leaf);
    if (read) leaves.set(leaf, read);
    return read !== undefined;
  });
  const used = leavesOf(script).flatMap((leaf) => leaves.get(leaf) ?? []);
  return {
    script,
    hashes: new Map([...leaves].map(([leaf, { hash }]) => [leaf, hash])),
    roles: new Set(used.map(({ role }) => role)),
  };
}

interface Leaf {
  readonly hash: string;
  readonly role: string | undefined;
}

/** Roles of governance, whose hashes CIP-129 puts a byte before: that of a key hash, and that of a script hash. */
const GOVERNANCE: Readonly<Record<string, readonly [key: number, script: number]>> = {
  drep: [0x22, 0x23],
  cc_cold: [0x12, 0x13],
  cc_hot: [0x02, 0x03],
};

function readLeaf(text: string): Leaf | undefined {
  const bech32 = isHex(text) ? { prefix: "", bytes: fromHex(text) } : fromBech32(text);
  if (!bech32) return undefined;
  const { prefix, bytes } = bech32;
  const [, name = "", form = ""] = /^(.*?)(?:_(vkh|vk|xvk))?$/.exec(prefix) ?? [];
  const byte = GOVERNANCE[name]?.[0];
  if (form === "" && byte !== undefined && bytes.length === 29 && bytes[0] === byte) {
    return { hash: toHex(bytes.subarray(1)), role: name };
  }
  const known = ["addr", "addr_shared", "stake", "stake_shared", "policy", "script"].includes(name)
    ? form !== ""
    : byte !== undefined;
  if (prefix !== "" && !known) return undefined;
  const lengths =
    { vkh: [28], vk: [32], xvk: [64], "": prefix === "" ? [28, 32, 64] : [28] }[form as "vkh" | "vk" | "xvk" | ""];
  if (!lengths.includes(bytes.length)) return undefined;
  const hash = bytes.length === 28 ? toHex(bytes) : keyHash(bytes.subarray(0, 32));
  // payment keys with and without the prefix of shared wallets go together
  return { hash, role: prefix === "" || name === "script" ? undefined : name.replace("_shared", "") };
}

/** Text of the hash of a key of a role: `…_vkh`, or for governance the form of CIP-129 unless `cip0105`. */
export function keyHashText(hash: Uint8Array, role: string, cip0105: boolean): { prefix: string; bytes: Uint8Array } {
  const byte = GOVERNANCE[role]?.[0];
  if (byte === undefined || cip0105) return { prefix: `${role}_vkh`, bytes: hash };
  return { prefix: role, bytes: concat(Uint8Array.of(byte), hash) };
}

/** As `keyHashText`, for the hash of a script whose keys have this role: `script…` or, for governance, `drep…`. */
export function scriptHashText(hash: Uint8Array, role: string | undefined, cip0105: boolean): string {
  const byte = GOVERNANCE[role ?? ""]?.[1];
  if (byte === undefined) return toBech32("script", hash);
  return cip0105 ? toBech32(`${role}_script`, hash) : toBech32(role ?? "", concat(Uint8Array.of(byte), hash));
}
