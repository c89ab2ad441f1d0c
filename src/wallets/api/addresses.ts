/** Addresses in requests and answers; safe in a browser. */
import { z } from "zod";
import { type Address, parseAddress } from "#src/cardano/address.ts";
import { plainText } from "#src/http/textSchemas.ts";
import { time } from "#src/wallets/api/places.ts";
import { keyScript } from "#src/wallets/api/script.ts";
import { shownHex, whole } from "#src/wallets/api/text.ts";

/** An address of any kind and network, parsed. */
export const anyAddress = z.string().transform((text, context): Address => {
  const address = parseAddress(text);
  if (address.ok) return address.value;
  context.addIssue({ code: "custom", message: `Unable to decode the address. ${address.error.message}` });
  return z.NEVER;
}).meta({
  type: "string",
  description: "An address: bech32, or base58 for a Byron address.",
  example: "addr_test1vz…",
});

export const derivationPath = z.array(z.string()).min(1).meta({ example: ["1852H", "1815H", "0H", "0", "3"] });

export const walletAddress = z.object({
  id: z.string().describe("The address."),
  state: z.enum(["used", "unused"]),
  derivation_path: derivationPath,
}).meta({ id: "WalletAddress" });

/** Body of a reservation of the next unused address. */
export const reservationBody = z.object({
  reserve_for: z.object({ quantity: whole(1, 31_536_000), unit: z.literal("second") })
    .default({ quantity: 86_400, unit: "second" }).describe("How long no other caller gets the address."),
  reference: plainText(200).optional().describe(
    "Your name for the reservation, such as an invoice: the same name gives the same address until the reservation ends.",
  ),
}).meta({ id: "AddressReservationBody" });
export const reservedAddress = walletAddress.extend({ reserved_until: time }).meta({ id: "ReservedAddress" });

export const addressesQuery = {
  state: z.enum(["used", "unused"], {
    error: "Unable to decode the given text value. Please specify one of the following values: used, unused.",
  }).optional(),
};

const hash = shownHex(56).optional();
const text = z.string().optional();
export const inspected = z.object({
  address_style: z.enum(["Shelley", "Icarus", "Byron"]),
  address_type: z.int().min(0).max(15),
  network_tag: z.int().min(0).nullable(),
  stake_reference: z.enum(["none", "by value", "by pointer"]),
  spending_key_hash: hash,
  spending_key_hash_bech32: text,
  spending_shared_hash: hash,
  spending_shared_hash_bech32: text,
  stake_key_hash: hash,
  stake_key_hash_bech32: text,
  stake_shared_hash: hash,
  stake_shared_hash_bech32: text,
  stake_script_hash: hash,
  stake_script_hash_bech32: text,
  pointer: z.object({
    slot_num: z.bigint().meta({ type: "integer", minimum: 0 }),
    transaction_index: z.bigint().meta({ type: "integer", minimum: 0 }),
    output_index: z.bigint().meta({ type: "integer", minimum: 0 }),
  }).optional(),
  address_root: text,
  derivation_path: z.string().optional().describe("The encrypted derivation path in the address of a random wallet."),
}).meta({ id: "InspectedAddress" });

/** A key, its hash, the hash of a script, or a script. */
const credential = keyScript.describe("A key, a key hash or a script hash (bech32), or a script.");
export const addressBody = z.object({
  payment: credential.optional(),
  stake: credential.optional(),
  validation: z.enum(["none", "required", "recommended"]).optional().describe(
    "Validation level of scripts. `none` (default): nothing is checked. `required`: the ledger can accept them, and the keys of one " +
      "script have one role. `recommended`: they are also safe to use.",
  ),
}).meta({ id: "AddressBody" });

export const madeAddress = z.object({ address: z.string() }).meta({ id: "MadeAddress" });
