/** Addresses of random wallets, which are made one by one, or brought along. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { anyAddress, walletAddress } from "#src/api/wallets/addresses.ts";
import * as api from "#src/api/wallets/byronAddresses.ts";
import { walletId } from "#src/api/wallets/params.ts";
import type { Address } from "#src/cardano/address.ts";
import { HARD } from "#src/cardano/derivation.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { type Desk, until } from "#src/edge/wallets/context.ts";
import { route } from "#src/edge/wallets/service.ts";
import { walletAddressView } from "#src/edge/wallets/holdings.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { storeRandomAddresses } from "#src/wallet/index/readAddresses.ts";
import { byronPathKey, openByronPath, randomAddress } from "#src/wallet/keys/byronAddress.ts";

/** The network that names itself in no address. */
const MAINNET = 764_824_073;
const params = { walletId };
const NOT_OURS = { 403: "`key_not_found_for_address`" };

/** Adds `POST` and `PUT /byron-wallets/{walletId}/addresses`, and `PUT …/{addressId}`. */
export function byronAddressRoutes(app: OpenAPIHono, desk: Desk): void {
  const { store, vault, networkMagic } = desk;

  route(app, {
    method: "post",
    path: "/byron-wallets/:walletId/addresses",
    operation: "createAddress",
    summary: "Make an address",
    params,
    body: api.newAddressBody,
    status: 201,
    answer: walletAddress,
    refusals: {
      403: "`no_root_key`, `wrong_encryption_passphrase`, `hardened_derivation_required`",
      409: "`address_already_exists`",
    },
  }, async ({ params: { walletId: id }, body }) => {
    const { key: root } = await desk.wallet(id, "random");
    const path = [HARD, body.address_index ?? HARD + crypto.getRandomValues(new Uint32Array(1))[0]! % HARD] as const;
    if (path[1] < HARD) {
      throw new HttpFailure(403, "hardened_derivation_required", `Addresses have indices from ${HARD} on.`);
    }
    const { passphrase } = body;
    const [key] = answered(await vault.publicKeys(id, { passphrase, paths: [path] }, until()));
    const address = randomAddress({
      pathKey: byronPathKey(root),
      path,
      key: key!,
      magic: networkMagic === MAINNET ? undefined : networkMagic,
    });
    const kept = await storeRandomAddresses(store.sql, id, [{ account: path[0], index: path[1], address }], true);
    if (kept.length === 0) {
      throw new HttpFailure(409, "address_already_exists", "The wallet has the address with this index already.");
    }
    return walletAddressView({ address, path, used: false });
  });

  /** Takes in addresses whose paths open under the wallet's key; throws 403 for others, and takes none in then. */
  const take = async (id: string, addresses: readonly Address[]) => {
    const { key: root } = await desk.wallet(id, "random");
    const pathKey = byronPathKey(root);
    const found = addresses.map((address) => {
      const encrypted = address.kind === "byron" ? address.byron.derivationPath : undefined;
      const path = encrypted === undefined ? undefined : openByronPath(pathKey, encrypted);
      if (path === undefined) {
        throw new HttpFailure(403, "key_not_found_for_address", "An address is not one of this wallet's.");
      }
      return { account: path[0], index: path[1], address: address.hex };
    });
    await storeRandomAddresses(store.sql, id, found, false);
  };
  route(app, {
    method: "put",
    path: "/byron-wallets/:walletId/addresses",
    operation: "importAddresses",
    summary: "Bring addresses along that were made elsewhere",
    params,
    body: api.importBody,
    status: 204,
    refusals: NOT_OURS,
  }, ({ params, body }) => take(params.walletId, body.addresses));
  route(app, {
    method: "put",
    path: "/byron-wallets/:walletId/addresses/:addressId",
    operation: "importAddress",
    summary: "Bring an address along that was made elsewhere",
    params: { walletId, addressId: anyAddress },
    status: 204,
    refusals: NOT_OURS,
  }, ({ params }) => take(params.walletId, [params.addressId]));
}
