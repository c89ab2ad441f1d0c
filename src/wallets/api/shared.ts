/** Requests and answers about shared wallets; safe in a browser. */
import { z } from "zod";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { isPublicKey } from "#src/cardano/keys/signingKey.ts";
import { secondFactor, walletWords } from "#src/wallets/api/mnemonics.ts";
import { index } from "#src/wallets/api/params.ts";
import { cosignerName, templateScript } from "#src/wallets/api/script.ts";
import { newPassphrase, shownHex, shownName, walletName } from "#src/wallets/api/text.ts";
import { gap, oneChange, restoration, selection, wallet } from "#src/wallets/api/wallets.ts";

const XPUB_BYTES = 64;

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** An account's public key and chain code as `acct_shared_xvk1…`, or the problem with a text. */
function readAccountKey(text: string): { readonly key: string } | { readonly why: string } {
  const read = fromBech32(text);
  if (!read) return { why: "Extended account must be encoded as Bech32." };
  if (read.prefix !== "acct_shared_xvk") return { why: "Extended account must have the prefix 'acct_shared_xvk'." };
  if (read.bytes.length !== XPUB_BYTES) return { why: "Extended account must have 64 bytes: a key and a chain code." };
  if (!isPublicKey(read.bytes.subarray(0, 32))) return { why: "Extended account must begin with a key of Ed25519." };
  return { key: hex(read.bytes) };
}

/** An account's public key and chain code in bech32, read into 128 hexadecimal digits. */
export const accountKey = z.string().transform((text, context) => {
  const read = readAccountKey(text);
  if ("key" in read) return read.key;
  context.addIssue({ code: "custom", message: read.why });
  return z.NEVER;
}).meta({
  type: "string",
  description: "Public key and chain code of an account of a shared wallet.",
  example: "acct_shared_xvk1…",
});

/** A template in requests: `self` stands for the wallet's own key. */
export const givenTemplate = z.object({
  cosigners: z.record(cosignerName, z.union([z.literal("self"), accountKey])).describe(
    "Known account keys by cosigner; `self` is this wallet's key.",
  ),
  template: templateScript,
}).meta({ id: "GivenScriptTemplate" });

/** A template in answers: account keys as `acct_shared_xvk1…`. */
export const scriptTemplate = z.object({
  cosigners: z.record(z.string(), z.string()),
  template: templateScript,
}).meta({ id: "ScriptTemplate" });

/** Keys by cosigner, with the error messages that clients of cardano-wallet know. */
export const cosignerKeys = z.record(z.string(), z.unknown(), {
  error: "parsing ApiSharedWalletPatchData failed",
}).transform((body, context) => {
  const keys: Record<string, string> = {};
  const wrong = (message: string) => void context.addIssue({ code: "custom", message });
  for (const [name, text] of Object.entries(body)) {
    if (!cosignerName.safeParse(name).success) wrong("Cosigner should be of form: cosigner#num");
    else if (typeof text !== "string") wrong("parsing Text failed, expected String");
    else {
      const read = readAccountKey(text);
      if ("key" in read) keys[name] = read.key;
      else wrong(read.why);
    }
  }
  if (Object.keys(body).length === 0) wrong("at least one cosigner's key is required");
  return keys;
}).meta({
  type: "object",
  additionalProperties: { type: "string" },
  description: "Account keys by cosigner. Either all of them are added or none.",
  example: { "cosigner#1": "acct_shared_xvk1…" },
});

/** How strictly a script is validated. */
export const scriptValidation = z.enum(["none", "required", "recommended"]).describe(
  "Validation level of the scripts. `required`: the ledger can accept them. `recommended` (default): they are also safe to use.",
);

const common = {
  name: walletName,
  account_index: index.meta({ description: "Hardened index of the wallet's account.", example: "0H" }),
  address_pool_gap: gap,
  restoration_mode: restoration,
  payment_script_template: givenTemplate,
  delegation_script_template: givenTemplate.optional(),
  script_validation: scriptValidation.default("recommended"),
  one_change_address_mode: oneChange.default(false),
  selection: selection.default("per-output"),
};

const fromMnemonic = z.object({
  ...common,
  mnemonic_sentence: walletWords,
  mnemonic_second_factor: secondFactor.optional(),
  passphrase: newPassphrase,
}).describe("A wallet with a root key, which can sign transactions.");

const fromAccount = z.object({ ...common, account_public_key: accountKey }).describe(
  "A watch-only wallet. Its transactions are signed by another program.",
);

/** Body of a request to create a shared wallet: from a mnemonic, or from an account public key. */
export const sharedWalletBody = z.union([fromMnemonic, fromAccount]).meta({ id: "SharedWalletBody" });
export type SharedWalletBody = z.output<typeof sharedWalletBody>;

const shown = {
  id: shownHex(40),
  name: shownName,
  account_index: z.string().meta({ example: "0H" }),
  address_pool_gap: wallet.shape.address_pool_gap,
  payment_script_template: scriptTemplate,
  delegation_script_template: scriptTemplate.optional(),
};

const incomplete = z.object({ ...shown, state: z.object({ status: z.literal("incomplete") }) }).describe(
  "A wallet that still lacks keys of its cosigners.",
);
const active = wallet.extend(shown).describe("A wallet that has the keys of all cosigners.");

/** A shared wallet: incomplete while it lacks keys of cosigners. */
export const sharedWallet = z.union([incomplete, active]).meta({ id: "SharedWallet" });
