/** Wallets as they are created, changed and shown; safe in a browser. */
import { z } from "zod";
import { holdings } from "#src/api/wallets/amounts.ts";
import { delegation } from "#src/api/wallets/delegation.ts";
import { byronWords, secondFactor, walletWords } from "#src/api/wallets/mnemonics.ts";
import { syncProgress } from "#src/api/wallets/network.ts";
import { blockPlace, time } from "#src/api/wallets/places.ts";
import { amount, hash, newPassphrase, walletName, whole } from "#src/api/wallets/text.ts";

const GAP = "An address pool gap must be a natural number between 10 and 100000.";
export const gap = whole(10, 100_000, GAP).default(20).meta({
  type: "integer",
  minimum: 10,
  maximum: 100_000,
  default: 20,
  description: "Consecutive unused addresses that are kept ahead.",
});

export const oneChange = z.boolean().meta({ description: "All change goes to one address, the same one for ever." });
export const selection = z.enum(["per-output", "round-robin"]).meta({
  description:
    "How inputs are chosen: for each output its own, each with its change (the usual); or round robin over the assets, where one input " +
    "may serve several outputs.",
});

export const restoration = z.union([
  z.literal("from_genesis"),
  z.literal("from_tip"),
  z.object({ block_header_hash: hash, absolute_slot_number: whole(0, Number.MAX_SAFE_INTEGER) }),
]).default("from_genesis").meta({
  description:
    "From where on blocks are read for the wallet: from the beginning (the usual), from now, or after a block.",
});

const common = {
  name: walletName,
  address_pool_gap: gap,
  restoration_mode: restoration,
  one_change_address_mode: oneChange.default(false),
  selection: selection.default("per-output"),
};

const fromMnemonic = z.object({
  ...common,
  mnemonic_sentence: walletWords,
  mnemonic_second_factor: secondFactor.optional(),
  passphrase: newPassphrase,
}).meta({ description: "A wallet that signs." });

const XPUB = "Invalid account public key: expecting a hex-encoded value that is 64 bytes in length.";
const fromAccount = z.object({
  ...common,
  account_public_key: z.string().regex(/^[0-9a-fA-F]{128}$/, XPUB).transform((text) => text.toLowerCase()).meta({
    description: "Public key and chain code of the account 1852H/1815H/0H.",
  }),
}).meta({ description: "A wallet that watches: whatever it builds is signed elsewhere." });

export const walletBody = z.union([fromMnemonic, fromAccount]).meta({ id: "WalletBody" });
export type WalletBody = z.output<typeof walletBody>;

export const walletChange = z.object({
  name: walletName.optional(),
  one_change_address_mode: oneChange.optional(),
  selection: selection.optional(),
}).meta({ id: "WalletChange" });
export type WalletChange = z.output<typeof walletChange>;

// strict: a body with both forms is ambiguous
const byOld = z.strictObject({
  old_passphrase: newPassphrase,
  new_passphrase: newPassphrase,
});
const byWords = z.strictObject({
  mnemonic_sentence: walletWords,
  mnemonic_second_factor: secondFactor.optional(),
  new_passphrase: newPassphrase,
});
export const passphraseChange = z.union([byOld, byWords]).meta({
  id: "PassphraseChange",
  description: "By the old passphrase, or by the words that made the wallet.",
});

export const byronWalletBody = z.object({
  style: z.enum(["random", "icarus", "trezor", "ledger"]).default("random").meta({
    description: "`random` is served; the others are answered 501.",
  }),
  name: walletName,
  mnemonic_sentence: byronWords,
  passphrase: newPassphrase,
}).meta({ id: "ByronWalletBody" });

export const byronPassphraseChange = z.object({
  old_passphrase: newPassphrase.optional(),
  new_passphrase: newPassphrase,
}).meta({ id: "ByronPassphraseChange" });

const shown = {
  id: z.string(),
  name: z.string(),
  assets: holdings,
  passphrase: z.object({
    last_updated_at: time,
    encryption_method: z.enum(["scrypt", "pbkdf2-hmac-sha512", "argon2id-v2"]),
  }).optional().meta({ description: "Missing where the wallet cannot sign." }),
  state: syncProgress,
  tip: blockPlace,
};

export const wallet = z.object({
  ...shown,
  address_pool_gap: z.int(),
  balance: z.object({ available: amount, reward: amount, total: amount }),
  delegation,
  one_change_address_mode: z.boolean(),
  selection,
}).meta({ id: "Wallet" });
export const byronWallet = z.object({
  ...shown,
  balance: z.object({ available: amount, total: amount }),
  discovery: z.enum(["random", "sequential"]),
}).meta({ id: "ByronWallet" });

export const distribution = z.object({
  total: amount,
  scale: z.literal("log10"),
  distribution: z.record(z.string(), z.int().min(0)).meta({
    description: "How many unspent outputs are at most of so many lovelace, and of more than the bucket before.",
  }),
}).meta({ id: "UtxoStatistics" });

export const snapshot = z.object({
  entries: z.array(z.object({
    ada: amount,
    ada_minimum: amount.meta({ description: "The least that such an output must hold." }),
    assets: holdings.shape.available,
  })),
}).meta({ id: "UtxoSnapshot" });

export const page = {
  limit: z.string().regex(/^[1-9]\d{0,4}$/, "expected a whole number from 1 to 99999").transform(Number).optional()
    .meta({
      type: "integer",
      minimum: 1,
      description:
        'Most entries of an answer; the header `Link` says where the next ones are (`rel="next"`). All unless given.',
    }),
  after: z.string().min(1).max(500).optional().meta({
    description: "Where a page begins, as the `Link` before it says.",
  }),
};
