/** Names of things on the chain, from their ids. */
import { fromHex, fromUtf8, isHex } from "#src/base/bytes.ts";

/** Policy and name of an asset's unit. */
export interface AssetParts {
  readonly policy: string;
  /** The name as text where it is text, else in hexadecimal; empty for the asset without a name. */
  readonly name: string;
  /** CIP-67: what the label in front of the name says that the token is for. */
  readonly role?: string;
}

/** Labels of CIP-67 with their checksums. */
const ROLES: Readonly<Record<string, string>> = {
  "000643b0": "reference token",
  "000de140": "NFT",
  "0014df10": "fungible token",
  "001bc280": "rich fungible token",
};

/** Bytes as text where they are text that can be shown; undefined for other bytes, and for what is not hexadecimal. */
export function shownText(hex: string): string | undefined {
  const text = hex === "" ? "" : isHex(hex) ? fromUtf8(fromHex(hex)) : undefined;
  // control characters, and those that change the writing direction of what follows
  return text === undefined || /[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u.test(text) ? undefined : text;
}

/** The parts of an asset's unit. */
export function assetParts(unit: string): AssetParts {
  const policy = unit.slice(0, 56);
  const hex = unit.slice(56);
  const role = ROLES[hex.slice(0, 8)];
  const rest = role === undefined ? hex : hex.slice(8);
  const name = shownText(rest) ?? rest;
  return { policy, name, ...(role === undefined ? {} : { role }) };
}

/** Pages by the kind of what they show. */
const PAGES = {
  block: "block",
  transaction: "tx",
  address: "address",
  account: "address",
  asset: "asset",
  policy: "asset",
  pool: "pool",
  epoch: "epoch",
  script: "script",
  datum: "datum",
  drep: "representative",
  action: "action",
} as const;
type PageKind = keyof typeof PAGES;

const hasPage = (kind: string): kind is PageKind => Object.hasOwn(PAGES, kind);

/** Where the explorer shows what an id names; undefined where it has no page for it. */
export function pageOf(kind: PageKind, id: string): string;
export function pageOf(kind: string, id: string): string | undefined;
export function pageOf(kind: string, id: string): string | undefined {
  return hasPage(kind) ? `/${PAGES[kind]}/${encodeURIComponent(id)}` : undefined;
}

/** The page of an id whose form names its kind; undefined for other texts. */
export function pageOfText(text: string): string | undefined {
  if (/^(addr|addr_test|stake|stake_test)1[0-9a-z]+$/.test(text)) return pageOf("address", text);
  if (/^pool1[0-9a-z]+$/.test(text)) return pageOf("pool", text);
  if (/^drep(1|_always_)[0-9a-z_]+$/.test(text)) return pageOf("drep", text);
  if (/^gov_action1[0-9a-z]+$/.test(text)) return pageOf("action", text);
  const [, hash] = /^([0-9a-f]{64})#\d+$/.exec(text) ?? [];
  return hash === undefined ? undefined : pageOf("transaction", hash);
}

/** Names of governance actions by their kinds. */
export const ACTION_NAMES: Readonly<Record<string, string>> = {
  parameters: "Change of parameters",
  "hard fork": "Hard fork",
  treasury: "Treasury withdrawal",
  "no confidence": "No confidence",
  committee: "New committee",
  constitution: "New constitution",
  info: "Info",
};

/** Names of those who vote, by role. */
export const ROLE_NAMES = { committee: "Committee", drep: "Representatives", pool: "Stake pools" } as const;

/** A part of a sentence of the ledger: words, an id (of an output with its index), or an amount of lovelace. */
export type SentencePart =
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "id"; readonly text: string }
  | { readonly kind: "lovelace"; readonly amount: string };

/** A sentence of the ledger in parts, so that ids can be shortened and amounts shown in ada. */
export function sentenceParts(text: string): SentencePart[] {
  const parts: SentencePart[] = [];
  let at = 0;
  for (const found of text.matchAll(/\b([0-9a-f]{56,128}(?:#\d+)?)\b|\b(\d+) lovelace\b/g)) {
    if (found.index > at) parts.push({ kind: "words", text: text.slice(at, found.index) });
    at = found.index + found[0].length;
    parts.push(found[1] === undefined ? { kind: "lovelace", amount: found[2] ?? "0" } : { kind: "id", text: found[1] });
  }
  if (at < text.length) parts.push({ kind: "words", text: text.slice(at) });
  return parts;
}

/** Reasons of a refusal with missing inputs first: what else is refused mostly follows from them. */
export const causesFirst = <T extends { readonly name: string }>(reasons: readonly T[]): T[] =>
  [...reasons].sort((a, b) => Number(b.name === "BadInputsUTxO") - Number(a.name === "BadInputsUTxO"));
