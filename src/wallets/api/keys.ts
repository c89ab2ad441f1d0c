/** Public keys of wallets; safe in a browser. */
import { z } from "zod";
import { index } from "#src/wallets/api/params.ts";
import { metadata } from "#src/wallets/api/transactions.ts";
import { shownPolicyId } from "#src/wallets/api/amounts.ts";
import { templateScript } from "#src/wallets/api/script.ts";
import { newPassphrase, passphrase } from "#src/wallets/api/text.ts";

export const keyFormat = z.enum(["extended", "non_extended"]);
export const keysQuery = { format: keyFormat.optional() };
/** A flag: without a value, or `true`. */
export const hashQuery = {
  hash: z.string().transform((text) => text !== "false").optional().meta({
    type: "boolean",
    description: "Return the key's hash instead of the key.",
  }),
};
export const keyText = z.string().meta({ description: "A key or its hash, in bech32.", example: "addr_vk1…" });

export const accountKeyBody = z.object({ passphrase: newPassphrase, format: keyFormat }).meta({ id: "AccountKeyBody" });
export const accountKeyOfPurposeBody = accountKeyBody.extend({
  purpose: index.optional().meta({ example: "1852H" }),
}).meta({ id: "AccountKeyOfPurposeBody" });

export const policyKeyBody = z.object({ passphrase }).meta({ id: "PolicyKeyBody" });
export const policyIdBody = z.object({ policy_script_template: templateScript }).meta({ id: "PolicyIdBody" });
export const policyIdAnswer = z.object({ policy_id: shownPolicyId }).meta({ id: "PolicyId" });

export const signMetadataBody = z.object({ metadata, passphrase }).meta({ id: "SignMetadataBody" });
