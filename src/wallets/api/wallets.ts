/** Wallets as they are created, changed and shown; safe in a browser. */
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import { isPublicKey } from "#src/cardano/keys/signingKey.ts";
import { holdings } from "#src/wallets/api/amounts.ts";
import { delegation } from "#src/wallets/api/delegation.ts";
import { byronWords, secondFactor, walletWords } from "#src/wallets/api/mnemonics.ts";
import { index } from "#src/wallets/api/params.ts";
import { syncProgress } from "#src/wallets/api/network.ts";
import { blockPlace, time } from "#src/wallets/api/places.ts";
import { derivationPath } from "#src/wallets/api/addresses.ts";
import {
  amount,
  hash,
  newPassphrase,
  passphrase,
  shownHex,
  shownName,
  walletName,
  whole,
} from "#src/wallets/api/text.ts";

const HARD = 2 ** 31;
const GAP = "An address pool gap must be a natural number between 10 and 100000.";
export const gap = whole(10, 100_000, GAP).default(20).meta({
  type: "integer",
  minimum: 10,
  maximum: 100_000,
  default: 20,
  description: "Number of consecutive unused addresses that the wallet maintains.",
});

export const oneChange = z.boolean().describe("Whether all change is paid to a single fixed address.");
export const selection = z.enum(["per-output", "round-robin"]).describe(
  "Coin selection strategy. `per-output` (default): separate inputs and change for each output. `round-robin`: one input " +
    "may fund several outputs.",
);

export const restoration = z.union([
  z.literal("from_genesis"),
  z.literal("from_tip"),
  z.object({ block_header_hash: hash, absolute_slot_number: whole(0, Number.MAX_SAFE_INTEGER) }),
]).default("from_genesis").describe(
  "Where the wallet's synchronisation starts: at genesis (default), at the tip, or after a block.",
);

const common = {
  name: walletName,
  address_pool_gap: gap,
  restoration_mode: restoration,
  one_change_address_mode: oneChange.default(false),
  selection: selection.default("per-output"),
};

const account = {
  account_index: index.refine((value) => value >= HARD, "expected a hard index, such as 1H").default(HARD).meta({
    description:
      "Extension: hardened index of the wallet's account, 0H by default. Several wallets may share a mnemonic.",
    example: "0H",
  }),
};

const fromMnemonic = z.object({
  ...common,
  ...account,
  mnemonic_sentence: walletWords,
  mnemonic_second_factor: secondFactor.optional(),
  passphrase: newPassphrase,
}).describe("A wallet with a root key, which can sign transactions.");

const XPUB = "Invalid account public key: expecting a hex-encoded value that is 64 bytes in length.";
const accountKey = (path: string) =>
  z.string().regex(/^[0-9a-fA-F]{128}$/, { error: XPUB, abort: true }).refine(
    (text) => isPublicKey(fromHex(text.slice(0, 64).toLowerCase())),
    "Invalid account public key: its first 32 bytes are no key of Ed25519.",
  ).transform((text) => text.toLowerCase()).describe(
    `Public key and chain code of the account, such as ${path}.`,
  );
const WATCHED = "A watch-only wallet. Its transactions are signed by another program.";
const fromAccount = z.object({ ...common, ...account, account_public_key: accountKey("1852H/1815H/0H") }).describe(
  WATCHED,
);

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
  description: "Requires the old passphrase or the wallet's mnemonic.",
});

const byronFromMnemonic = z.object({
  style: z.enum(["random", "icarus", "trezor", "ledger"], { error: "unrecognized wallet's style." }).default("random")
    .describe(
      "`random`: addresses are created one by one, and carry their encrypted paths. The others have address pools and " +
        "differ in the root key that they derive from the mnemonic: `icarus`, and `trezor` as the same; `ledger` as " +
        "the device.",
    ),
  name: walletName,
  mnemonic_sentence: byronWords,
  passphrase: newPassphrase,
  trezor_derivation: z.enum(["icarus", "device"]).optional().describe(
    "Extension, for the style `trezor` only: how the root key is derived from 24 words. `icarus` (default), as " +
      "cardano-wallet does; `device`, as the device itself does. For fewer words both are the same.",
  ),
}).refine(
  ({ style, trezor_derivation: derivation }) => derivation === undefined || style === "trezor",
  { path: ["trezor_derivation"], message: "only wallets of the style trezor have this field" },
).describe("A wallet with a root key, which can sign transactions.");

const PRIVATE = "Invalid encrypted root private key: expecting a hex-encoded value that is 128 bytes in length.";
const byronFromXprv = z.object({
  style: z.literal("random").default("random"),
  name: walletName,
  encrypted_root_private_key: z.string().regex(/^[0-9a-fA-F]{256}$/, PRIVATE).describe(
    "Root key of an old wallet: encrypted secret (64 bytes), public key (32) and chain code (32).",
  ),
  passphrase_hash: z.string().regex(
    /^([0-9a-fA-F]{2}){1,512}$/,
    "Invalid passphrase hash: expecting a hex-encoded value of at most 512 bytes.",
  ).describe(
    "Hash of the passphrase that encrypts the key: the text `14|8|1|salt|hash` of scrypt, or the 81 bytes of PBKDF2.",
  ),
}).describe("A wallet with the root key of an old wallet. Its passphrase may be empty.");

const byronFromAccount = z.object({
  name: walletName,
  account_public_key: accountKey("44H/1815H/0H"),
  address_pool_gap: gap,
  restoration_mode: restoration,
}).describe(WATCHED);

export const byronWalletBody = z.union([byronFromMnemonic, byronFromXprv, byronFromAccount])
  .meta({ id: "ByronWalletBody" });
export type ByronWalletBody = z.output<typeof byronWalletBody>;

export const byronPassphraseChange = z.object({
  old_passphrase: passphrase.optional().describe("Default: empty, as that of an old wallet may be."),
  new_passphrase: newPassphrase,
}).meta({ id: "ByronPassphraseChange" });

const BYRON_METHODS = ["scrypt", "pbkdf2-hmac-sha512"] as const;
const shown = {
  id: shownHex(40),
  name: shownName,
  assets: holdings,
  passphrase: z.object({
    last_updated_at: time,
    encryption_method: z.enum([...BYRON_METHODS, "argon2id-v2"]),
  }).optional().describe("Omitted if the wallet cannot sign, or its passphrase is empty."),
  state: syncProgress,
  tip: blockPlace,
};

export const wallet = z.object({
  ...shown,
  address_pool_gap: z.int().min(10).max(100_000),
  account_index: z.string().optional().describe("Extension: index of the account, where it is not 0H."),
  balance: z.object({ available: amount, reward: amount, total: amount }),
  delegation,
  one_change_address_mode: z.boolean(),
  selection,
}).meta({ id: "Wallet" });
export const byronWallet = z.object({
  ...shown,
  passphrase: z.object({
    last_updated_at: time,
    // clients of cardano-wallet know no other methods for these wallets
    encryption_method: z.enum(BYRON_METHODS).optional().describe("Omitted for `argon2id-v2`."),
  }).optional().describe("Omitted if the wallet cannot sign."),
  balance: z.object({ available: amount, total: amount }),
  unspendable: z.array(z.object({
    reason: z.enum(["key_not_found_for_address"]).describe(
      "`key_not_found_for_address`: the address carries a path or root of the wallet, but none of its keys.",
    ),
    amount,
    assets: holdings.shape.total,
  })).optional().describe("Extension: what the total has and the wallet cannot spend; omitted if there is nothing."),
  discovery: z.enum(["random", "sequential"]),
}).meta({ id: "ByronWallet" });

export const distribution = z.object({
  total: amount,
  scale: z.literal("log10"),
  distribution: z.record(z.string(), z.int().min(0)).describe(
    "Number of unspent outputs per bucket: at most this amount of lovelace, and more than the previous bucket.",
  ),
}).meta({ id: "UtxoStatistics" });

export const snapshot = z.object({
  entries: z.array(z.object({
    ada: amount,
    ada_minimum: amount.describe("Minimum amount of such an output."),
    assets: holdings.shape.available,
    id: z.string().optional().describe("Transaction of the output, with `references`."),
    index: z.int().min(0).optional().describe("Its place in that transaction, with `references`."),
    address: z.string().optional().describe("Its address, with `references`."),
    derivation_path: derivationPath.optional().describe("Path of its key, with `references`."),
    cbor: z.string().optional().describe("The output: CBOR in hexadecimal, with `references`."),
  })),
}).meta({ id: "UtxoSnapshot" });

export const snapshotQuery = {
  references: z.enum(["true", "false"]).transform((text) => text === "true").optional().meta({
    type: "boolean",
    description: "Extension: name each output, so that a transaction can spend or avoid it.",
  }),
  pending: z.enum(["true", "false"]).transform((text) => text === "true").optional().meta({
    type: "boolean",
    description: "Extension: outputs of pending transactions as well, which a transaction can spend.",
  }),
};

export const page = {
  limit: z.string().regex(/^[1-9]\d{0,4}$/, "expected a whole number from 1 to 99999").transform(Number).optional()
    .meta({
      type: "integer",
      minimum: 1,
      description:
        'Maximum number of entries; the header `Link` (`rel="next"`) is the URL of the next page. Default: all entries.',
    }),
  after: z.string().min(1).max(500).optional().describe(
    "Cursor of the page, from the `Link` header of the previous page.",
  ),
};
