/** Addresses of random wallets: created one by one, or imported. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { anyAddress, walletAddress } from "#src/wallets/api/addresses.ts";
import * as api from "#src/wallets/api/byronAddresses.ts";
import { walletId } from "#src/wallets/api/params.ts";
import type { Address } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { requireNetwork } from "#src/wallets/http/discrimination.ts";
import { until, type WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { walletAddressView } from "#src/wallets/http/holdings.ts";
import { answered, hardIndexRequired, refusal } from "#src/wallets/http/status.ts";
import { makeRandomAddress } from "#src/wallets/vault/randomAddresses.ts";
import { storeRandomAddresses } from "#src/wallets/index/readAddresses.ts";
import { byronPathKey, openByronPath } from "#src/cardano/keys/byronAddress.ts";
import { BYRON_KINDS, type WalletRow } from "#src/wallets/rows.ts";

const params = { walletId };
const NOT_OURS = { 403: "`key_not_found_for_address`, `invalid_wallet_type`" };

/** A random wallet; throws 403 `invalid_wallet_type` for another one of Byron, whose addresses follow from its pools. */
async function requireRandom(service: WalletService, id: string): Promise<WalletRow> {
  const row = await service.wallet(id, ...BYRON_KINDS);
  if (row.kind === "random") return row;
  throw refusal({
    code: "invalid_wallet_type",
    message: "I cannot derive new address for this wallet type. Make sure to use Byron random wallet id.",
  });
}

/** Adds `POST` and `PUT /byron-wallets/{walletId}/addresses`, and `PUT …/{addressId}`. */
export function byronAddressRoutes(app: OpenAPIHono, service: WalletService): void {
  const { store, networkId } = service;

  route(app, "post", "/byron-wallets/:walletId/addresses", {
    operation: "createAddress",
    summary: "Create an address",
    params,
    body: api.newAddressBody,
    status: 201,
    answer: walletAddress,
    refusals: {
      403: "`no_root_key`, `wrong_encryption_passphrase`, `hardened_derivation_required`, `invalid_wallet_type`",
      409: "`address_already_exists`",
    },
  }, async ({ params: { walletId: id }, body }) => {
    const row = await requireRandom(service, id);
    const { address_index: index, passphrase } = body;
    if (index !== undefined && index < HARD) {
      throw hardIndexRequired();
    }
    const made = answered(await makeRandomAddress(service, row, passphrase, until(), index));
    if (made === undefined) {
      throw new HttpFailure(
        409,
        "address_already_exists",
        `I cannot derive a new unused address #${index} because I already know of such address.`,
      );
    }
    return walletAddressView({ ...made, used: false });
  });

  /** Imports addresses whose paths the wallet's key decrypts; throws 403 for any other, and then imports none. */
  const take = async (id: string, addresses: readonly Address[]) => {
    const { key: root } = await requireRandom(service, id);
    const pathKey = byronPathKey(root);
    const found = addresses.map((address) => {
      const encrypted = address.kind === "byron" ? address.byron.derivationPath : undefined;
      const path = encrypted === undefined ? undefined : openByronPath(pathKey, encrypted);
      if (path === undefined) {
        throw new HttpFailure(
          403,
          "key_not_found_for_address",
          "I couldn't identify this address as one of mine. It likely belongs to another wallet and I will therefore not import it.",
        );
      }
      return { account: path[0], index: path[1], address: address.hex };
    });
    await storeRandomAddresses(store.sql, id, found, false);
  };
  route(app, "put", "/byron-wallets/:walletId/addresses", {
    operation: "importAddresses",
    summary: "Import addresses that were created by another program",
    params,
    body: api.importBody,
    status: 204,
    refusals: NOT_OURS,
  }, async ({ params, body }) => {
    for (const [i, address] of body.addresses.entries()) requireNetwork(address, networkId, `addresses[${i}]`);
    await take(params.walletId, body.addresses);
  });
  route(app, "put", "/byron-wallets/:walletId/addresses/:addressId", {
    operation: "importAddress",
    summary: "Import an address that was created by another program",
    params: { walletId, addressId: anyAddress },
    status: 204,
    refusals: NOT_OURS,
  }, async ({ params }) => {
    requireNetwork(params.addressId, networkId);
    await take(params.walletId, [params.addressId]);
  });
}
