/** The kinds of thing that a search text may name. */
import { fromHex, isHex, toHex, utf8 } from "#src/base/bytes.ts";
import { hexAddressText, type NetworkId, parseAddress } from "#src/cardano/address.ts";
import type { DigitRange } from "#src/devnet/index/reads/beginnings.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { parseDrepId } from "#src/cardano/drepId.ts";
import { parseActionText } from "#src/cardano/governanceId.ts";
import { drepKey } from "#src/ledger/state.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";

/** Something that a text may name. Hashes are hexadecimal in lower case, addresses are texts. */
export type SearchTerm =
  | { readonly kind: "height" | "slot" | "epoch"; readonly number: number }
  | { readonly kind: "block" | "transaction" | "datum" | "pool" | "policy" | "script"; readonly hash: string }
  /** The beginning of a hash of a block or a transaction, and its end where a page has shortened it in the middle. */
  | { readonly kind: "beginning"; readonly hash: string; readonly end: string }
  /** The same of an id in bech32, as the range of its bytes in hexadecimal. */
  | {
    readonly kind: "address beginning" | "account beginning" | "pool beginning";
    readonly range: DigitRange;
    readonly text: string;
    readonly end: string;
  }
  | { readonly kind: "address" | "account"; readonly text: string }
  | { readonly kind: "unit"; readonly unit: string }
  | { readonly kind: "fingerprint"; readonly text: string }
  | { readonly kind: "drep"; readonly key: string }
  | { readonly kind: "action"; readonly action: ActionId }
  /** A name in hexadecimal; `begins`: also the beginning of a name. */
  | { readonly kind: "asset name"; readonly name: string; readonly begins: boolean }
  | { readonly kind: "pool name"; readonly text: string; readonly begins: boolean };

/** What a text may name, and what it looks like. */
export interface SearchTerms {
  readonly understood: string;
  readonly terms: readonly SearchTerm[];
}

const MOST = 2 ** 31 - 1;
/** Fewest characters of the beginning of a hash, or of an id behind its prefix. */
const FEWEST = 6;
/** Fewest characters of the beginning of a name. */
const FEWEST_OF_NAME = 3;
/** Characters of bech32 in the order of their values, of five bits each. */
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
/** What the beginning of an id in bech32 may be of: its kind, and bits of the header and the first hash. */
const BEGINNINGS = {
  addr: ["address beginning", "an address", 232, 1],
  addr_test: ["address beginning", "an address", 232, 0],
  stake: ["account beginning", "a stake address", 232, 1],
  stake_test: ["account beginning", "a stake address", 232, 0],
  pool: ["pool beginning", "a pool", 224, undefined],
} as const;
/** Greatest index of an output or an action. */
const MOST_INDEX = 65_535;
const NUMBERS = { block: "height", height: "height", slot: "slot", epoch: "epoch" } as const;

/** Reads a text. `terms` is empty where it can name nothing on this network. */
export function searchTerms(given: string, network: NetworkId): SearchTerms {
  const text = given.trim();
  const lower = text.toLowerCase();
  const [, word, digits] = /^(?:(block|height|slot|epoch)\s*[#:]?\s*)?#?(\d{1,10})$/.exec(lower.replace(/,/g, "")) ??
    [];
  if (digits !== undefined && Number(digits) <= MOST) {
    const read = numbers(Number(digits), word);
    return word === undefined ? orBeginning(read, lower) : read;
  }
  const [, hash, index] = /^([0-9a-f]{64})#(\d{1,10})$/.exec(lower) ?? [];
  if (hash !== undefined) {
    const terms: SearchTerm[] = [{ kind: "transaction", hash }];
    if (Number(index) <= MOST_INDEX) terms.push({ kind: "action", action: { txHash: hash, index: Number(index) } });
    return { understood: "an output of a transaction, or a governance action", terms };
  }
  if (isHex(lower) && lower.length > 0) return orBeginning(hexadecimal(lower, network), lower);
  return orBeginning(bech32(text, lower, network) ?? bech32Beginning(lower, network) ?? named(text), lower);
}

/** The beginning of an address or a pool's id in bech32, with its end where a page has shortened it in the middle. */
function bech32Beginning(lower: string, network: NetworkId): SearchTerms | undefined {
  const [, prefix, data = "", end = ""] =
    /^(addr|addr_test|stake|stake_test|pool)1([02-9ac-hj-np-z]{5,110})(?:(?:…|\.\.\.)([02-9ac-hj-np-z]{0,110}))?$/
      .exec(lower) ?? [];
  if (prefix === undefined || data.length + end.length < FEWEST) return undefined;
  const [kind, name, most, of] = BEGINNINGS[prefix as keyof typeof BEGINNINGS];
  if (of !== undefined && of !== network) return { understood: "an address of another network", terms: [] };
  const bits = [...data].map((one) => BECH32.indexOf(one).toString(2).padStart(5, "0")).join("").slice(0, most);
  const digits = (filler: string) =>
    bits.padEnd(Math.ceil(bits.length / 4) * 4, filler).replace(/.{4}/g, (four) => parseInt(four, 2).toString(16));
  const range = { from: digits("0"), to: `${digits("1")}g` };
  return {
    understood: `the beginning of ${name}`,
    terms: [{ kind, range, text: `${prefix}1${data}`, end }],
  };
}

/** The same, or also the beginning of a hash: `ab12cd34`, or `ab12cd34ef…56ab12cd` as pages shorten it. */
function orBeginning({ understood, terms }: SearchTerms, lower: string): SearchTerms {
  const [, hash = "", end = ""] = /^([0-9a-f]{1,55})(?:(?:…|\.\.\.)([0-9a-f]{0,55}))?$/.exec(lower) ?? [];
  if (hash.length < FEWEST || hash.length + end.length >= 64) return { understood, terms };
  return {
    understood: `${understood}, or the beginning of a hash`,
    terms: [...terms, { kind: "beginning", hash, end }],
  };
}

function numbers(number: number, word: string | undefined): SearchTerms {
  const kind = NUMBERS[word as keyof typeof NUMBERS];
  if (kind !== undefined) {
    return { understood: `the number of a ${kind === "height" ? "block" : kind}`, terms: [{ kind, number }] };
  }
  const terms = (["height", "epoch", "slot"] as const).map((kind) => ({ kind, number }));
  return { understood: "a number: a block, an epoch or a slot", terms };
}

function hexadecimal(hex: string, network: NetworkId): SearchTerms {
  const name = { kind: "asset name", name: hex, begins: hex.length >= 2 * FEWEST_OF_NAME } as const;
  if (hex.length === 64) {
    const terms = [
      ...(["transaction", "block", "datum"] as const).map((kind) => ({ kind, hash: hex })),
      ...namesUpTo(name),
    ];
    return { understood: "a hash of a transaction, a block or a datum, or the name of an asset", terms };
  }
  if (hex.length === 56) {
    const credential = { kind: "address", text: toBech32("addr_vkh", fromHex(hex)) } as const;
    const terms = [...(["pool", "policy", "script"] as const).map((kind) => ({ kind, hash: hex })), credential];
    return { understood: "a pool, a policy, a script or a key hash", terms };
  }
  const address = hexAddressText(hex);
  if (address !== undefined && parseAddress(address, network).ok) {
    const { understood, terms } = addressTerms(address.startsWith("stake"), address);
    // an asset's id may look like an address
    return hex.length <= 120 ? { understood, terms: [...terms, { kind: "unit", unit: hex }] } : { understood, terms };
  }
  if (hex.length > 56 && hex.length <= 120) return { understood: "an asset", terms: [{ kind: "unit", unit: hex }] };
  return { understood: "the name of an asset", terms: namesUpTo(name) };
}

const namesUpTo = (term: Extract<SearchTerm, { kind: "asset name" }>): SearchTerm[] =>
  term.name.length <= 64 && term.name.length > 0 ? [term] : [];

function addressTerms(isAccount: boolean, text: string): SearchTerms {
  return isAccount
    ? { understood: "a stake address", terms: [{ kind: "account", text }] }
    : { understood: "an address", terms: [{ kind: "address", text }] };
}

function bech32(text: string, lower: string, network: NetworkId): SearchTerms | undefined {
  const address = parseAddress(text, network);
  if (address.ok) return addressTerms(address.value.kind === "reward", text);
  const other = parseAddress(text);
  if (other.ok) return { understood: "an address of another network", terms: [] };
  const read = fromBech32(lower);
  if (!read) return undefined;
  const hash = toHex(read.bytes);
  const drep = parseDrepId(lower);
  if (drep !== undefined) return { understood: "a representative", terms: [{ kind: "drep", key: drepKey(drep) }] };
  const action = parseActionText(lower);
  if (action !== undefined) return { understood: "a governance action", terms: [{ kind: "action", action }] };
  switch (read.prefix) {
    case "pool":
      return { understood: "a pool", terms: [{ kind: "pool", hash }] };
    case "asset":
      return { understood: "the fingerprint of an asset", terms: [{ kind: "fingerprint", text: lower }] };
    case "script":
      return { understood: "a script", terms: [{ kind: "script", hash }, { kind: "address", text: lower }] };
    case "addr_vkh":
    case "addr_vk":
      return { understood: "a payment key", terms: [{ kind: "address", text: lower }] };
    default:
      return { understood: `an id with the prefix ${read.prefix}, which the explorer has no page for`, terms: [] };
  }
}

function named(text: string): SearchTerms {
  const name = toHex(utf8(text));
  const begins = [...text].length >= FEWEST_OF_NAME;
  const terms: SearchTerm[] = text === "" ? [] : [
    ...namesUpTo({ kind: "asset name", name, begins }),
    { kind: "pool name", text, begins },
  ];
  return { understood: `the name${begins ? ", or its beginning," : ""} of an asset or of a pool`, terms };
}
