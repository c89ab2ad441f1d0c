/** Request bodies as the intents that builds take. Metadata is encrypted here: its passphrase stays in this process. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import type { Address, NetworkId } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import type { ByronFeesBody, ConstructBody, PaymentFeesBody } from "#src/wallets/api/transactions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { requireNetwork } from "#src/wallets/http/discrimination.ts";
import { withdrawalIntent } from "#src/wallets/http/redemption.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { answered, refusal } from "#src/wallets/http/status.ts";
import type { GovernanceBody } from "#src/wallets/api/governance.ts";
import type { GovernanceIntent, MintBurn, Payment, PaymentIntent } from "#src/wallets/builds/types.ts";
import { encryptMetadata } from "#src/cardano/metadata/encryption.ts";
import { readMetadata } from "#src/cardano/metadata/json.ts";
import { encodeMetadata } from "#src/cardano/metadata/metadatum.ts";

/** The members that all bodies of payments share. */
type PaymentBody = Partial<
  Pick<
    ConstructBody,
    | "payments"
    | "withdrawal"
    | "metadata"
    | "encrypt_metadata"
    | "validity_interval"
    | "coin_control"
    | "change_address"
  >
>;

/** The intent of a body of `transactions-construct`. */
export async function constructIntent(body: ConstructBody, network: NetworkId): Promise<PaymentIntent> {
  const { delegations, vote, governance, mint_burn: mintBurn, reference_policy_script_template: referencePolicy } =
    body;
  return {
    ...await paymentIntent(body, network),
    mintBurn: mintBurn?.map((one, i) => mintIn(one, network, i)),
    delegations: delegations?.map((one) =>
      "join" in one
        ? { pool: one.join.pool, index: one.join.stake_key_index - HARD }
        : { index: one.quit.stake_key_index - HARD }
    ),
    vote,
    governance: governance && governanceIn(governance),
    referencePolicy,
  };
}

/** What a body wants of the wallet's DRep key. */
export function governanceIn({ drep, votes }: GovernanceBody): GovernanceIntent {
  return {
    ...(drep ? { drep: { does: drep.action, ...anchorIn(drep.anchor) } } : {}),
    ...(votes ? { votes: votes.map(({ action, vote, anchor }) => ({ action, vote, ...anchorIn(anchor) })) } : {}),
  };
}

const anchorIn = (anchor: { readonly url: string; readonly data_hash: string } | undefined) =>
  anchor ? { anchor: { url: anchor.url, hash: anchor.data_hash } } : {};

/** Payments, metadata, withdrawal, validity, and the choice of coins and change. */
export async function paymentIntent(body: PaymentBody, network: NetworkId): Promise<PaymentIntent> {
  const { payments, withdrawal, validity_interval: validity, coin_control: control, change_address: change } = body;
  const metadata = await metadataOf(body);
  return {
    payments: payments?.map((one, i) => paymentIn(one, network, i)),
    withdrawal,
    metadata,
    coins: control && {
      spend: control.inputs.map(refOf),
      only: control.only,
      avoid: control.avoid.map(refOf),
    },
    changeTo: change &&
      { address: payable(change.address, network, "change_address.address"), foreign: change.foreign },
    validity: validity && { from: validity.invalid_before, before: validity.invalid_hereafter },
  };
}

/** The intent of a body of `payment-fees` and `transactions`. */
export async function sendIntent(
  body: PaymentFeesBody,
  service: Pick<WalletService, "vault" | "networkId">,
): Promise<PaymentIntent> {
  const { withdrawal, time_to_live: ttl, ...rest } = body;
  const bound = ttl && { quantity: ttl.quantity, unit: "second" as const };
  const intent = await paymentIntent(
    { ...rest, validity_interval: bound && { invalid_hereafter: bound } },
    service.networkId,
  );
  return { ...intent, withdrawal: await withdrawalIntent(service, withdrawal) };
}

/** The intent of a Byron wallet's body; throws 403 `invalid_wallet_type` for a withdrawal. */
export async function byronIntent(
  { withdrawal, ...body }: ByronFeesBody,
  { networkId }: Pick<WalletService, "networkId">,
): Promise<PaymentIntent> {
  if (withdrawal === undefined) return await paymentIntent(body, networkId);
  throw refusal({
    code: "invalid_wallet_type",
    message:
      "It is regrettable but you've just attempted an operation that is invalid for this type of wallet. Only new 'Shelley' wallets can do " +
      "something with rewards and this one isn't.",
  });
}

const refOf = ({ id, index }: { readonly id: string; readonly index: number }) => ({ txHash: id, index });

type PaymentEntry = NonNullable<ConstructBody["payments"]>[number];

/** A payment; throws 400 for an address of another network, or one that cannot receive. */
function paymentIn({ address, amount, assets }: PaymentEntry, network: NetworkId, place: number): Payment {
  return {
    address: payable(address, network, `payments[${place}].address`),
    lovelace: amount.quantity,
    ...(assets === undefined || assets.length === 0 ? {} : {
      assets: assets.map((one) => [one.policy_id + one.asset_name, one.quantity] as const),
    }),
  };
}

/** An address as hexadecimal; throws 400 for one that cannot receive. */
export function payable(address: Address, network: NetworkId, place: string): string {
  requireNetwork(address, network, place);
  if (address.kind === "reward") {
    throw new HttpFailure(400, "bad_request", `Error in $.${place}: a payment cannot be sent to a stake address`);
  }
  return address.hex;
}

function mintIn(one: NonNullable<ConstructBody["mint_burn"]>[number], network: NetworkId, place: number): MintBurn {
  const policy = "policy_script_template" in one
    ? { template: one.policy_script_template }
    : { id: one.policy_id, reference: { txHash: one.reference_input.id, index: one.reference_input.index } };
  const { asset_name: name, operation } = one;
  if ("burn" in operation) return { policy, name, quantity: operation.burn.quantity, operation: "burn" };
  const { quantity, receiving_address: to } = operation.mint;
  return {
    policy,
    name,
    quantity,
    operation: "mint",
    ...(to === undefined ? {} : { to: payable(to, network, `mint_burn[${place}].operation.mint.receiving_address`) }),
  };
}

/** CBOR of the metadata in hexadecimal, encrypted where the body says so. */
async function metadataOf({ metadata, encrypt_metadata: encrypt }: PaymentBody): Promise<string | undefined> {
  if (metadata === undefined || metadata === null) {
    if (encrypt === undefined) return undefined;
    throw new HttpFailure(403, "invalid_metadata_encryption", "There is no metadata to encrypt.");
  }
  const plain = answered(readMetadata(metadata as Json));
  const sealed = encrypt === undefined ? plain : answered(await encryptMetadata(plain, encrypt.passphrase));
  return sealed.size === 0 ? undefined : toHex(encodeMetadata(sealed));
}
