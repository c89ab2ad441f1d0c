/** Transactions of wallets: built, signed, submitted and listed; safe in a browser. */
import { z } from "zod";
import { fromHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { parseDrepId } from "#src/cardano/drepId.ts";
import { type DRep } from "#src/cardano/certificates.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { anyAddress, derivationPath } from "#src/wallets/api/addresses.ts";
import {
  assetAmount,
  assetHeld,
  fingerprint,
  payment,
  shownAssetName,
  shownOutput,
  shownPolicyId,
} from "#src/wallets/api/amounts.ts";
import { governanceCertificate, governanceIntent, governanceParts } from "#src/wallets/api/governance.ts";
import { index, policyId, poolId } from "#src/wallets/api/params.ts";
import { walletWords } from "#src/wallets/api/mnemonics.ts";
import { blockPlace, slotPlace } from "#src/wallets/api/places.ts";
import { percent } from "#src/wallets/api/pools.ts";
import { shownNative, templateScript } from "#src/wallets/api/script.ts";
import {
  amount,
  hash,
  integer,
  lovelace,
  MOST,
  MOST_ASKED,
  passphrase,
  shownHex,
  whole,
} from "#src/wallets/api/text.ts";

const BASE64 = /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Bytes of a text of base 64 or 16. */
const bytes = z.string().transform((text, context): Uint8Array => {
  if (text !== "" && /^([0-9a-fA-F]{2})+$/.test(text)) return fromHex(text);
  if (BASE64.test(text)) return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  context.addIssue({ code: "custom", message: "Parse error. Expecting Base64-encoded format." });
  return z.NEVER;
});
/** Whether bytes have the form of a transaction; the ledger is not consulted. */
function isTransaction(value: Uint8Array): boolean {
  try {
    const { inputs, outputs, fee } = scanTransaction(value);
    return inputs !== undefined && outputs !== undefined && fee !== undefined;
  } catch (error) {
    if (error instanceof CborError) return false;
    throw error;
  }
}
const NO_TRANSACTION = "Deserialisation failure while decoding the transaction: these bytes are none";

/** A transaction's CBOR. */
export const cbor = bytes.refine(isTransaction, NO_TRANSACTION).meta({
  type: "string",
  description: "CBOR of a transaction, in base64 or base16.",
});

export const encoding = z.enum(["base64", "base16"]).default("base64").describe(
  "Encoding of the transaction in the response.",
);

/** Metadata in one of its two JSON forms; its contents are checked when it is encoded. */
export const metadata = z.record(z.string(), z.unknown()).nullable().meta({
  id: "TransactionMetadata",
  description:
    "Values by label (0 to 2^64 - 1), either tagged with `int`, `string`, `bytes`, `list` or `map`, or as plain JSON.",
  example: { "0": { "string": "cardano" } },
});
/** A passphrase under which metadata is encrypted (CIP-83). */
const cipher = z.object({ method: z.enum(["basic"]).optional(), passphrase });

// a time may be negative: the interval is then refused with its own code
const bound = z.object({
  quantity: z.custom<number | bigint>(
    (value) => typeof value === "bigint" || (typeof value === "number" && Number.isFinite(value)),
    "expected a number",
  ).refine((value) => value >= -MOST && value <= MOST, "expected a number").transform((value) =>
    typeof value === "bigint" ? value : BigInt(Math.floor(value))
  ).meta({ type: "number" }),
  unit: z.enum(["second", "slot"], { error: "ApiValidityBound string must have either 'second' or 'slot' unit." }),
}, "parsing ApiValidityBound object failed").refine(({ quantity, unit }) => unit === "second" || quantity >= 0n, {
  path: ["quantity"],
  message: "parsing Word64 failed, value is either floating or will cause over or underflow",
});

export const drep = z.string().transform((text, context): DRep => {
  const read = parseDrepId(text);
  if (read !== undefined) return read;
  context.addIssue({
    code: "custom",
    message:
      "Invalid DRep key/script hash: expecting a Bech32 encoded value with human readable part of 'drep', 'drep_vkh' or 'drep_script'.",
  });
  return z.NEVER;
}).meta({
  type: "string",
  description: "`abstain`, `no_confidence`, or the id of a DRep.",
  example: "abstain",
});

const stakeKey = index.refine((value) => value >= 2 ** 31, "expected a hard index, such as 0H");
const delegation = z.union([
  z.strictObject({ join: z.object({ pool: poolId, stake_key_index: stakeKey }) }),
  z.strictObject({ quit: z.object({ stake_key_index: stakeKey }) }),
]);

const quantity = integer(0n, MOST_ASKED);
const operation = z.union([
  z.strictObject({ mint: z.object({ quantity, receiving_address: anyAddress.optional() }) }),
  z.strictObject({ burn: z.object({ quantity }) }),
]);
const name = z.string().regex(/^([0-9a-fA-F]{2}){0,500}$/, "AssetName is not hex-encoded").transform((text) =>
  text.toLowerCase()
).default("").describe("Asset name in hexadecimal.");
const outRef = z.object({ id: hash, index: whole(0, 65_535) });
const mintBurn = z.union([
  z.object({ policy_script_template: templateScript, asset_name: name, operation }),
  z.object({ reference_input: outRef, policy_id: policyId, asset_name: name, operation }),
]);

const outRefs = z.array(outRef).max(1_000);
/** Extensions of bodies that build a transaction: a client that does not send them never sees them. */
const choices = {
  coin_control: z.strictObject({
    inputs: outRefs.default([]).describe("Unspent outputs of the wallet that the transaction must spend."),
    only: z.boolean().default(false).describe("Spend `inputs` and nothing else."),
    avoid: outRefs.default([]).describe("Outputs that the transaction must not spend."),
  }).refine(({ inputs, only }) => !only || inputs.length > 0, "'only' needs 'inputs'")
    .refine(({ inputs, avoid }) => {
      const avoided = new Set(avoid.map(({ id, index }) => `${id}#${index}`));
      return !inputs.some(({ id, index }) => avoided.has(`${id}#${index}`));
    }, "an input cannot be both spent and avoided")
    .optional().describe(
      "Extension: which outputs are spent. With `inputs`, all payments share the inputs, as with `round-robin`.",
    ),
  change_address: z.strictObject({
    address: anyAddress,
    foreign: z.boolean().default(false).describe("Accept an address that is not the wallet's."),
  }).optional().describe("Extension: the address of all change."),
};

export const constructBody = z.object({
  ...choices,
  payments: z.array(payment).optional(),
  withdrawal: z.literal("self").optional(),
  metadata: metadata.optional(),
  encrypt_metadata: cipher.optional(),
  mint_burn: z.array(mintBurn).min(1).optional(),
  vote: drep.optional(),
  governance: governanceIntent.optional(),
  delegations: z.array(delegation).optional(),
  validity_interval: z.object({ invalid_before: bound.optional(), invalid_hereafter: bound.optional() }).optional(),
  reference_policy_script_template: templateScript.optional(),
  encoding,
}).meta({ id: "ConstructBody" });
export type ConstructBody = z.output<typeof constructBody>;

const feeBody = {
  ...choices,
  payments: z.array(payment),
  withdrawal: z.union([z.literal("self"), walletWords]).optional().describe(
    "`self`: withdraw all rewards of the wallet. A mnemonic: withdraw all rewards of its stake key, which need not belong to a wallet of " +
      "this service; nothing of it is stored.",
  ),
  metadata: metadata.optional(),
  time_to_live: z.object({
    quantity: bound.shape.quantity.refine((value) => value >= 0n, "expected a number from 0").meta({
      type: "number",
      minimum: 0,
    }),
    unit: z.literal("second"),
  }).optional(),
};
export const paymentFeesBody = z.object(feeBody).meta({ id: "PaymentFeesBody" });
export type PaymentFeesBody = z.output<typeof paymentFeesBody>;
export const sendBody = z.object({ ...feeBody, passphrase }).meta({ id: "SendBody" });
const byronBody = {
  ...choices,
  payments: feeBody.payments,
  withdrawal: feeBody.withdrawal.describe("Refused: Byron wallets have no rewards."),
};
export const byronFeesBody = z.object(byronBody).meta({ id: "ByronPaymentFeesBody" });
export type ByronFeesBody = z.output<typeof byronFeesBody>;
export const byronSendBody = z.object({ ...byronBody, passphrase }).meta({ id: "ByronSendBody" });

export const signBody = z.object({ transaction: cbor, passphrase, encoding }).meta({ id: "SignBody" });
export const submitBody = z.object({ transaction: cbor }).meta({ id: "SubmitBody" });
export const decodeBody = z.object({ transaction: cbor, decrypt_metadata: cipher.optional() }).meta({
  id: "DecodeBody",
});

/** A transaction's CBOR as the body itself. */
export const rawTransaction = z.custom<Uint8Array>(
  (value) => value instanceof Uint8Array && isTransaction(value),
  NO_TRANSACTION,
)
  .meta({
    type: "string",
    format: "binary",
    description: "CBOR of a signed transaction.",
  });

const dataText = z.string().regex(/^([0-9a-fA-F]{2})+$/, "expected hexadecimal digits").transform(fromHex).meta({
  type: "string",
  description: "CBOR of Plutus data in hexadecimal.",
});
const rewardAddress = anyAddress.refine((address) => address.kind === "reward", "expected a stake address");
export const balanceBody = z.object({
  transaction: cbor,
  inputs: z.array(z.object({
    id: hash,
    index: whole(0, 65_535),
    address: anyAddress,
    amount: lovelace,
    datum: hash.optional(),
    assets: z.array(assetHeld).default([]),
  })).default([]),
  redeemers: z.array(z.union([
    z.object({ purpose: z.literal("spending"), data: dataText, input: outRef }),
    z.object({ purpose: z.literal("minting"), data: dataText, policy_id: policyId }),
    z.object({ purpose: z.literal("rewarding"), data: dataText, stake_address: rewardAddress }),
  ])).default([]),
  encoding,
}).meta({ id: "BalanceBody" });

/* answers */

const ref = { id: shownHex(64), index: z.int().min(0) };
const ownInput = shownOutput.extend({ ...ref, derivation_path: derivationPath });

const DELEGATING = ["join_pool", "quit_pool", "register_reward_account", "cast_vote"] as const;
const OTHER_CERTIFICATES = ["genesis", "mir"] as const;
const delegating = { pool: z.string().optional(), vote: z.string().optional() };
const ownCertificate = z.object({
  certificate_type: z.enum(DELEGATING),
  ...delegating,
  reward_account_path: z.array(z.string()).min(5).max(5),
});
const certificate = z.union([
  ownCertificate.describe("A certificate of the wallet's account."),
  z.object({
    certificate_type: z.enum(DELEGATING.map((type) => `${type}_external` as const)),
    ...delegating,
    reward_account: z.string(),
  }).describe("A certificate of another account."),
  z.object({
    certificate_type: z.literal("register_pool"),
    pool_id: z.string(),
    pool_owners: z.array(z.string()),
    pool_margin: percent,
    pool_cost: amount,
    pool_pledge: amount,
    pool_metadata: z.object({ url: z.string().max(250), hash: shownHex(64) }).optional(),
  }),
  z.object({
    certificate_type: z.literal("deregister_pool"),
    pool_id: z.string(),
    retirement_epoch: z.bigint().meta({ type: "integer", minimum: 0 }),
  }),
  governanceCertificate,
  z.object({ certificate_type: z.enum(OTHER_CERTIFICATES) }),
]).meta({ id: "Certificate" });

export const coinSelection = z.object({
  inputs: z.array(ownInput.extend({ derivation_path: z.array(z.string()) })).describe(
    "The derivation path is empty for inputs that are not the wallet's.",
  ),
  outputs: z.array(shownOutput),
  change: z.array(shownOutput.extend({ derivation_path: derivationPath })),
  collateral: z.array(ownInput),
  withdrawals: z.array(z.object({ stake_address: z.string(), derivation_path: derivationPath, amount })),
  certificates: z.array(ownCertificate).optional(),
  governance_certificates: z.array(governanceCertificate).optional().describe(
    "Extension: the certificate of the wallet as a representative; missing where there is none.",
  ),
  votes: governanceParts.votes,
  deposits_taken: z.array(amount),
  deposits_returned: z.array(amount),
  metadata: z.string().optional().describe("CBOR in base64."),
}).meta({ id: "CoinSelection" });

export const constructed = z.object({
  transaction: z.string(),
  coin_selection: coinSelection,
  fee: amount,
  warnings: z.array(z.object({ code: z.string(), message: z.string() })).optional().describe(
    "For transactions with scripts. `protocol_version_unknown`: the network's protocol version is newer than this release supports; " +
      "execution units and fee may be wrong.",
  ),
}).meta({ id: "ConstructedTransaction" });
export const signed = z.object({ transaction: z.string() }).meta({ id: "SignedTransaction" });
export const submitted = z.object({ id: shownHex(64) }).meta({ id: "SubmittedTransaction" });
export const fees = z.object({
  estimated_min: amount,
  estimated_max: amount,
  minimum_coins: z.array(amount),
  deposit: amount,
}).meta({ id: "FeeEstimate" });

const nativeScript = z.object({
  script_type: z.literal("native"),
  script: shownNative,
  reference: z.object(ref).optional().describe("The output that holds the script."),
});
const plutusScript = z.object({
  script_type: z.literal("plutus"),
  script_info: z.object({ language_version: z.enum(["v1", "v2", "v3"]), script_hash: shownHex(56) }),
  reference: nativeScript.shape.reference,
});
const script = z.union([nativeScript, plutusScript]).meta({ id: "Script" });
const policyScript = z.union([
  nativeScript,
  plutusScript,
  z.object({
    script_type: z.literal("reference script"),
    script_hash: shownHex(56),
    references: z.array(z.object(ref)).min(1),
  }),
]).meta({ id: "PolicyScript" });
const minted = z.object({
  tokens: z.array(z.object({
    policy_id: shownPolicyId,
    policy_script: policyScript.optional(),
    assets: z.array(
      z.object({ asset_name: shownAssetName, quantity: assetAmount.shape.quantity, fingerprint }),
    ).min(1),
  })),
  wallet_policy_key_hash: z.string().optional(),
  wallet_policy_key_index: z.string().optional(),
}).meta({ id: "Minted" });

const anyInput = z.object({
  ...ref,
  address: z.string().optional(),
  amount: amount.optional(),
  assets: z.array(assetAmount).optional(),
  derivation_path: derivationPath.optional(),
});
const anyOutput = shownOutput.extend({ derivation_path: derivationPath.optional() });
const slots = z.object({ quantity: z.bigint().meta({ type: "integer", minimum: 0 }), unit: z.literal("slot") });

const parts = {
  inputs: z.array(anyInput),
  outputs: z.array(anyOutput),
  collateral: z.array(anyInput),
  collateral_outputs: z.array(anyOutput).max(1),
  certificates: z.array(certificate),
  ...governanceParts,
  mint: minted,
  burn: minted,
  metadata: metadata.optional(),
  script_validity: z.enum(["valid", "invalid"]).nullable(),
  validity_interval: z.object({ invalid_before: slots, invalid_hereafter: slots }).optional(),
  script_integrity: z.string().optional(),
  extra_signatures: z.array(z.string()),
};

export const decoded = z.object({
  ...parts,
  id: shownHex(64),
  fee: amount,
  withdrawals: z.array(z.object({ stake_address: z.string(), amount, context: z.enum(["ours", "external"]) })),
  deposits_taken: z.array(amount),
  deposits_returned: z.array(amount),
  witness_count: z.object({
    verification_key: z.int().min(0),
    scripts: z.array(script),
    bootstrap: z.int().min(0),
  }),
}).meta({ id: "DecodedTransaction" });

const moments = {
  status: z.enum(["pending", "submitted", "in_ledger", "expired"]),
  inserted_at: blockPlace.optional(),
  pending_since: blockPlace.optional(),
  expires_at: slotPlace.optional(),
  depth: z.object({ quantity: z.int().min(0), unit: z.literal("block") }).optional(),
  failures: z.array(z.object({ name: z.string(), message: z.string() })).optional().describe(
    "If the transaction expired before the end of its validity: why the network rejects it after having accepted it.",
  ),
};
export const transaction = z.object({
  ...parts,
  ...moments,
  id: shownHex(64),
  amount,
  fee: amount,
  deposit_taken: amount,
  deposit_returned: amount,
  direction: z.enum(["outgoing", "incoming"]),
  withdrawals: z.array(z.object({ stake_address: z.string(), amount })),
}).meta({ id: "Transaction" });

/* lists */

const BASIC = /^(\d{4})-?(\d{2})-?(\d{2})T(\d{2}):?(\d{2})(?::?(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:?(\d{2})?)?$/;
/**
 * A moment in ISO 8601, basic or extended, with or without a zone (then UTC); ms since 1970. Slots begin at whole
 * milliseconds: what is between two of them is half of one.
 */
const moment = z.string().transform((text, context) => {
  // a plus sign in a query is a space
  const parts = BASIC.exec(text.replace(" ", "+"));
  const [, year, month, day, hour, minute, second = "00", fraction = "", zone = "Z"] = parts ?? [];
  const offset = zone === "Z" ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${offset}`);
  // 30 February would be read as 2 March
  const isDay = new Date(`${year}-${month}-${day}T00:00Z`).getUTCDate() === Number(day);
  if (parts !== null && isDay && !Number.isNaN(ms)) return Number(fraction.slice(4)) > 0 ? ms + 0.5 : ms;
  context.addIssue({
    code: "custom",
    message:
      "Unable to parse time argument. Expecting ISO 8601 date-and-time format (basic or extended), e.g. 2012-09-25T10:15:00Z.",
  });
  return z.NEVER;
}).meta({ type: "string", format: "date-time" });

/** A flag of a query: without a value, or `true`. */
const flag = z.string().transform((text) => text !== "false").optional().meta({
  type: "boolean",
  description: "Return metadata as plain JSON instead of the tagged form.",
});

const counted = (least: number, message: string) =>
  z.string().regex(/^\d{1,16}$/, message).transform(Number).refine((value) => value >= least, message);

export const historyQuery = {
  start: moment.optional().describe("Only transactions at or after this time."),
  end: moment.optional().describe("Only transactions at or before this time."),
  order: z.enum(["ascending", "descending"], {
    error: "Please specify one of the following values: ascending, descending.",
  }).optional().describe("Sort order by position on the chain. Default: descending, newest first."),
  max_count: counted(1, "max_count must be a whole number, at least 1").optional().meta({
    type: "integer",
    minimum: 1,
  }),
  minWithdrawal: z.string().regex(/^-?\d{1,18}$/, "minWithdrawal must be a whole number, at least 1").transform(BigInt)
    .optional()
    .meta({
      type: "integer",
      minimum: 1,
      description: "Only transactions with a withdrawal of at least this amount of lovelace.",
    }),
  address: anyAddress.optional().describe("Only transactions with an input or output at this address."),
  direction: z.enum(["incoming", "outgoing"], {
    error: "Please specify one of the following values: incoming, outgoing.",
  }).optional().describe("Only transactions of this direction."),
  status: z.enum(["pending", "in_ledger", "expired"], {
    error: "Please specify one of the following values: pending, in_ledger, expired.",
  }).optional().describe("Only transactions with this status."),
  "simple-metadata": flag,
};
export const transactionQuery = { "simple-metadata": flag };
