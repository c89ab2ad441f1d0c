/** Ids of governance actions and of members of the constitutional committee as people write them (CIP-129). */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";

const HASH_BYTES = 32;

/** The id of an action, `gov_action1…`: its transaction, and its index in as few bytes as hold it. */
export function actionText({ txHash, index }: ActionId): string {
  const bytes = index < 256 ? [index] : [index >> 8, index & 255];
  return toBech32("gov_action", concat(fromHex(txHash), Uint8Array.from(bytes)));
}

/** The inverse of `actionText`; undefined for anything else. */
export function parseActionText(text: string): ActionId | undefined {
  const read = fromBech32(text);
  if (read?.prefix !== "gov_action") return undefined;
  const [hash, rest] = [read.bytes.subarray(0, HASH_BYTES), [...read.bytes.subarray(HASH_BYTES)]];
  if (rest.length < 1 || rest.length > 2) return undefined;
  return { txHash: toHex(hash), index: rest.reduce((sum, byte) => sum * 256 + byte, 0) };
}

/** An action by its id, `gov_action1…`, or by `<transaction hash>#<index>`; undefined for anything else. */
export function parseActionId(text: string): ActionId | undefined {
  const [, txHash, index] = /^([0-9a-fA-F]{64})#(0|[1-9]\d{0,4})$/.exec(text) ?? [];
  if (txHash === undefined) return parseActionText(text);
  return Number(index) > 65_535 ? undefined : { txHash: txHash.toLowerCase(), index: Number(index) };
}

/** First byte of a credential's text, by the kind of key and of credential. */
const HEADERS = { hot: { key: 0x02, script: 0x03 }, cold: { key: 0x12, script: 0x13 } } as const;

/** The id of a committee credential, `cc_hot1…` or `cc_cold1…`. */
export function committeeText(of: keyof typeof HEADERS, { kind, hash }: Credential): string {
  return toBech32(`cc_${of}`, concat(Uint8Array.of(HEADERS[of][kind]), fromHex(hash)));
}

/** The inverse of `committeeText`; undefined for anything else. */
export function parseCommitteeText(text: string): { of: "hot" | "cold"; credential: Credential } | undefined {
  const read = fromBech32(text);
  const of = read?.prefix === "cc_hot" ? "hot" : read?.prefix === "cc_cold" ? "cold" : undefined;
  if (read === undefined || of === undefined || read.bytes.length !== 29) return undefined;
  const kind = (["key", "script"] as const).find((one) => HEADERS[of][one] === read.bytes[0]);
  return kind && { of, credential: { kind, hash: toHex(read.bytes.subarray(1)) } };
}
