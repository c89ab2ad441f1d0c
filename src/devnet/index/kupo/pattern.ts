/**
 * Patterns of Kupo: what outputs they match, as a pure type with its text form.
 *
 * Two patterns of one text form are equal. Credentials are hashes without their kind, so a pattern matches keys and
 * scripts of any network.
 */
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";

/** A pattern. Hashes, addresses and names are lower-case hexadecimal. */
export type Pattern =
  | { readonly kind: "any" }
  /** Outputs at addresses since Shelley. */
  | { readonly kind: "shelley" }
  | { readonly kind: "address"; readonly address: string }
  /** Outputs at addresses with these parts, at least one. */
  | { readonly kind: "credentials"; readonly payment?: string; readonly stake?: string }
  /** Outputs of a transaction, or one of them. */
  | { readonly kind: "output"; readonly txHash: string; readonly index?: number }
  /** Outputs with assets of a policy, or with one of them. */
  | { readonly kind: "asset"; readonly policy: string; readonly name?: string }
  /** Outputs of transactions with a label of metadata, in decimal. */
  | { readonly kind: "label"; readonly label: string };

/** An output, as far as patterns see it. */
export interface PatternedOutput {
  readonly txHash: string;
  readonly index: number;
  /** Bytes in hexadecimal. */
  readonly address: string;
  /** Hashes of its credentials; an address of Byron has none. */
  readonly payment?: string | undefined;
  readonly stake?: string | undefined;
  /** Policy and name of each asset. */
  readonly units: readonly string[];
  /** Labels of the metadata of its transaction. */
  readonly labels: readonly string[];
}

/** The pattern that matches everything. */
export const WILDCARD = "*";

const HASH_BYTES = 28;
const KEY_BYTES = 32;
const LARGEST_INDEX = 65_535;
const LARGEST_LABEL = (1n << 64n) - 1n;

/** Reads the text of a pattern; undefined where it is none. */
export function parsePattern(text: string): Pattern | undefined {
  if (text === WILDCARD) return { kind: "any" };
  return parseAddressPattern(text) ?? parseCredentials(text) ?? parseOutput(text) ?? parseAsset(text) ??
    parseLabel(text);
}

function parseAddressPattern(text: string): Pattern | undefined {
  const read = text !== "" && isHex(text) ? readAddressHex(text) : parseAddress(text);
  if (!read.ok) return undefined;
  const { value } = read;
  return value.kind === "reward"
    ? { kind: "credentials", stake: value.stake.hash }
    : { kind: "address", address: value.hex };
}

function parseCredentials(text: string): Pattern | undefined {
  const [first, second, more] = text.split("/");
  if (first === undefined || second === undefined || more !== undefined) return undefined;
  if (first === WILDCARD && second === WILDCARD) return { kind: "shelley" };
  const payment = first === WILDCARD ? undefined : parseCredential(first);
  const stake = second === WILDCARD ? undefined : parseCredential(second);
  if (first !== WILDCARD && payment === undefined || second !== WILDCARD && stake === undefined) return undefined;
  return {
    kind: "credentials",
    ...(payment === undefined ? {} : { payment }),
    ...(stake === undefined ? {} : { stake }),
  };
}

/** The hash of a credential from a hash or a key. */
function parseCredential(text: string): string | undefined {
  if (isHex(text, HASH_BYTES)) return text.toLowerCase();
  if (isHex(text, KEY_BYTES)) return hash224(fromHex(text));
  const { prefix = "", bytes } = fromBech32(text) ?? {};
  if (bytes?.length === KEY_BYTES && /^(addr_|stake_)?vk$/.test(prefix)) return hash224(bytes);
  if (bytes?.length === HASH_BYTES && /^((addr_|stake_)?vkh|script)$/.test(prefix)) return toHex(bytes);
  return undefined;
}

function parseOutput(text: string): Pattern | undefined {
  const [, index = "", txHash = ""] = /^(\*|\d{1,5})@([0-9a-f]{64})$/i.exec(text) ?? [];
  if (txHash === "" || Number(index) > LARGEST_INDEX) return undefined;
  const all = { kind: "output", txHash: txHash.toLowerCase() } as const;
  return index === WILDCARD ? all : { ...all, index: Number(index) };
}

function parseAsset(text: string): Pattern | undefined {
  const [, policy = "", name = ""] = /^([0-9a-f]{56})\.(\*|(?:[0-9a-f]{2}){0,32})$/i.exec(text) ?? [];
  if (policy === "") return undefined;
  const all = { kind: "asset", policy: policy.toLowerCase() } as const;
  return name === WILDCARD ? all : { ...all, name: name.toLowerCase() };
}

function parseLabel(text: string): Pattern | undefined {
  const [, label] = /^\{(\d{1,20})\}$/.exec(text) ?? [];
  if (label === undefined || BigInt(label) > LARGEST_LABEL) return undefined;
  return { kind: "label", label: String(BigInt(label)) };
}

/** The text of a pattern, as Kupo lists it. */
export function patternText(pattern: Pattern): string {
  switch (pattern.kind) {
    case "any":
      return WILDCARD;
    case "shelley":
      return "*/*";
    case "address":
      return pattern.address;
    case "credentials":
      return `${pattern.payment ?? WILDCARD}/${pattern.stake ?? WILDCARD}`;
    case "output":
      return `${pattern.index ?? WILDCARD}@${pattern.txHash}`;
    case "asset":
      return `${pattern.policy}.${pattern.name ?? WILDCARD}`;
    case "label":
      return `{${pattern.label}}`;
  }
}

/** Hashes of the credentials in an address (its bytes in hexadecimal); none in one of Byron. */
export function credentialHashes(address: string): Pick<PatternedOutput, "payment" | "stake"> {
  const { payment, stake } = credentialsOf(address);
  return { payment: payment?.slice(1), stake: stake?.slice(1) };
}

/** Whether a pattern matches an output. */
export function matches(pattern: Pattern, output: PatternedOutput): boolean {
  switch (pattern.kind) {
    case "any":
      return true;
    case "shelley":
      return output.payment !== undefined;
    case "address":
      return output.address === pattern.address;
    case "credentials":
      return (pattern.payment === undefined || pattern.payment === output.payment) &&
        (pattern.stake === undefined || pattern.stake === output.stake);
    case "output":
      return output.txHash === pattern.txHash && (pattern.index === undefined || pattern.index === output.index);
    case "asset": {
      const { policy, name } = pattern;
      return output.units.some((unit) => name === undefined ? unit.startsWith(policy) : unit === policy + name);
    }
    case "label":
      return output.labels.includes(pattern.label);
  }
}

/** Whether a pattern matches all that another one matches, whatever the outputs are. */
export function includes(pattern: Pattern, other: Pattern): boolean {
  if (pattern.kind === "any") return true;
  if (other.kind === "address") return matchesAddress(pattern, other.address);
  switch (pattern.kind) {
    case "shelley":
      return other.kind === "shelley" || other.kind === "credentials";
    case "credentials":
      return other.kind === "credentials" &&
        (pattern.payment === undefined || pattern.payment === other.payment) &&
        (pattern.stake === undefined || pattern.stake === other.stake);
    case "output":
      return other.kind === "output" && pattern.txHash === other.txHash &&
        (pattern.index === undefined || pattern.index === other.index);
    case "asset":
      return other.kind === "asset" && pattern.policy === other.policy &&
        (pattern.name === undefined || pattern.name === other.name);
    case "label":
      return other.kind === "label" && pattern.label === other.label;
    case "address":
      return false;
  }
}

/** Whether an address is among those that a pattern of addresses names. */
function matchesAddress(pattern: Pattern, address: string): boolean {
  if (pattern.kind === "output" || pattern.kind === "asset" || pattern.kind === "label") return false;
  return matches(pattern, { txHash: "", index: 0, address, ...credentialHashes(address), units: [], labels: [] });
}

/**
 * Whether two patterns name outputs in common. As at Kupo, patterns of different families (addresses, transactions,
 * assets, labels) do not overlap, except with those that match all addresses.
 */
export function overlap(one: Pattern, other: Pattern): boolean {
  if (isWide(one) || isWide(other) || includes(one, other) || includes(other, one)) return true;
  // parts that both name are equal
  return one.kind === "credentials" && other.kind === "credentials" &&
    (one.payment === undefined || other.payment === undefined || one.payment === other.payment) &&
    (one.stake === undefined || other.stake === undefined || one.stake === other.stake);
}

const isWide = ({ kind }: Pattern) => kind === "any" || kind === "shelley";
