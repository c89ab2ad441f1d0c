/** Path parameters of the wallet service, with the error messages that its clients know; safe in a browser. */
import { z } from "zod";
import { fromBech32 } from "#src/cardano/bech32.ts";

export const walletId = z.string()
  .regex(/^[0-9a-fA-F]{40}$/, "wallet id should be a hex-encoded string of 40 characters")
  .transform((text) => text.toLowerCase())
  .meta({ description: "Id of a wallet.", example: "2512a00e9653fe49a44a5886202e24d77eeb998f" });

export const transactionId = z.string()
  .regex(/^[0-9a-fA-F]{64}$/, "Invalid tx hash: expecting a hex-encoded value that is 32 bytes in length.")
  .transform((text) => text.toLowerCase())
  .describe("Hash of a transaction.");

const POOL = "Invalid stake pool id: expecting a Bech32 encoded value with human readable part of 'pool'.";
/** A pool's id, as 56 hexadecimal digits. */
export const poolId = z.string().transform((text, context) => {
  if (/^[0-9a-fA-F]{56}$/.test(text)) return text.toLowerCase();
  const id = bytesOf(text, ["pool"], 28);
  if (id === undefined) context.addIssue({ code: "custom", message: POOL });
  return id ?? "";
}).meta({ type: "string", description: "Id of a stake pool: `pool1…`, or 56 hexadecimal digits." });

export const ROLES = ["utxo_external", "utxo_internal", "mutable_account"] as const;
export const role = z.enum(ROLES, {
  error: `Unable to decode the given text value. Please specify one of the following values: ${ROLES.join(", ")}.`,
});

const INDEX = "A derivation index must be a natural number between 0 and 2147483647 with an optional 'H' suffix " +
  "(e.g. '1815H' or '44'). Indexes without suffixes are called 'Soft' Indexes with suffixes are called 'Hardened'.";
const HARD = 2 ** 31;
/** A derivation index; hard ones have 2^31 added. */
export const index = z.string().transform((text, context) => {
  const value = /^\d{1,10}H?$/.test(text) ? Number(text.replace("H", "")) : HARD;
  if (value >= HARD) context.addIssue({ code: "custom", message: INDEX });
  return value + (text.endsWith("H") ? HARD : 0);
}).meta({
  type: "string",
  description: "A derivation index: `0` to `2147483647`, with the suffix `H` for a hardened index.",
  example: "0H",
});

const POLICY = "Invalid tokenPolicy hash: expecting a hex-encoded value that is 28 bytes in length.";
export const policyId = z.string().regex(/^[0-9a-fA-F]{56}$/, POLICY).transform((text) => text.toLowerCase())
  .describe("Policy id: hash of the minting policy.");

const ASSET = "AssetName is not hex-encoded: base16: input: invalid length | invalid encoding at offset: 0";
export const assetName = z.string().regex(/^([0-9a-fA-F]{2}){0,32}$/, ASSET).transform((text) => text.toLowerCase())
  .describe("Asset name in hexadecimal.");

function bytesOf(text: string, prefixes: readonly string[], length: number): string | undefined {
  const decoded = fromBech32(text);
  if (decoded === undefined || !prefixes.includes(decoded.prefix) || decoded.bytes.length !== length) return undefined;
  return Array.from(decoded.bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
