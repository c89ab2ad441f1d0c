/** Holdings of wallets of all kinds: addresses, unspent outputs, assets. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { readSpendable, readUnspent, readUnspentLovelace } from "#src/wallets/walletReads.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { refKey } from "#src/cardano/output.ts";
import { readListedPending } from "#src/chain/pending/submissions.ts";
import { type AssetId, nameOf, policyOf } from "#src/cardano/value.ts";
import * as addresses from "#src/wallets/api/addresses.ts";
import { asset } from "#src/wallets/api/assets.ts";
import { assetName, policyId, walletId } from "#src/wallets/api/params.ts";
import { MOST_LOVELACE } from "#src/wallets/api/text.ts";
import { distribution, page, snapshot, snapshotQuery } from "#src/wallets/api/wallets.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { JSON_TYPE, JsonList, respondList } from "#src/http/json.ts";
import { addressView, assetViews, lovelace } from "#src/wallets/http/amountViews.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { afterIn, linkNext, pageOf } from "#src/http/paging.ts";
import { answered } from "#src/wallets/http/status.ts";
import { readAssets } from "#src/wallets/index/read.ts";
import { readAddresses } from "#src/wallets/index/readAddresses.ts";
import type { OwnUtxo, WalletAddress } from "#src/wallets/index/types.ts";
import { toHex } from "#src/base/bytes.ts";
import { pathText } from "#src/cardano/keys/paths.ts";

const params = { walletId };

/** Adds `…/addresses`, `…/utxo` and `…/statistics/utxos` for a kind of wallets. */
export function holdingRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { store, port } = service;
  const { prefix, named } = served;
  const suffix = named === "Shared" ? "Shared" : "";
  const before = named === "Byron" ? "Byron" : "";
  const at = (rest: string) => `/${prefix}/:walletId${rest}`;

  route(app, "get", at("/addresses"), {
    operation: `list${named}Addresses`,
    cache: service.cache,
    summary: "Addresses of the wallet: receiving addresses, then change addresses that are used or pending",
    params,
    query: { ...addresses.addressesQuery, ...page },
    answer: addresses.walletAddress.array(),
  }, async ({ params, query, context }) => {
    const { state, limit } = query;
    const after = afterIn(query.after, z.object({ role: z.int(), index: z.int() }));
    const [, pending] = await Promise.all([
      served.require(params.walletId),
      readListedPending(store.sql, params.walletId),
    ]);
    const found = await readAddresses(store.sql, params.walletId, { state, limit, after, pending });
    linkNext(context, found.next && { ...found.next });
    return await respondList(context, found.addresses, walletAddressView);
  });

  route(app, "get", at("/statistics/utxos"), {
    operation: `get${before}UTxOsStatistics${suffix}`,
    cache: service.cache,
    summary: "Distribution of the unspent outputs over amounts",
    params,
    answer: distribution,
  }, async ({ params }) => {
    const [, coins] = await Promise.all([served.require(params.walletId), readUnspentLovelace(store, params.walletId)]);
    return distributionOf(coins);
  });

  route(app, "get", at("/utxo"), {
    operation: `get${before || suffix}WalletUtxoSnapshot`,
    cache: service.cache,
    summary: "All unspent outputs of the wallet",
    params,
    query: { ...page, ...snapshotQuery },
    answer: snapshot,
  }, async ({ params, query, context }) => {
    const [, all, parameters] = await Promise.all([
      served.require(params.walletId),
      query.pending ? readSpendable(store, params.walletId) : readUnspent(store, params.walletId),
      port.parameters(),
    ]);
    const { value } = answered(parameters);
    // pages need an order; a whole list is not sorted
    const isPaged = query.limit !== undefined || query.after !== undefined;
    const utxos = isPaged ? pageOf(context, query, all.sort(byRef), ({ utxo }) => refKey(utxo.ref)) : all;
    const entries = new JsonList();
    await entries.add(utxos, ({ utxo: { ref, output }, path }) => ({
      ...(query.references && {
        id: ref.txHash,
        index: ref.index,
        address: addressView(output.address),
        derivation_path: pathText(path),
        cbor: toHex(output.raw),
      }),
      ada: lovelace(output.value.lovelace),
      ada_minimum: lovelace(minUtxo(value, output.raw.length)),
      assets: assetViews(output.value.assets),
    }));
    return context.body(`{"entries":${entries}}`, 200, { "content-type": JSON_TYPE });
  });
}

/** Adds `…/assets` for a kind of wallets. */
export function assetRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { store } = service;
  const { prefix, named } = served;
  const at = (rest: string) => `/${prefix}/:walletId${rest}`;

  route(app, "get", at("/assets"), {
    operation: `list${named}Assets`,
    summary: "All assets that the wallet holds or has held",
    params,
    query: page,
    answer: asset.array(),
  }, async ({ params, query, context }) => {
    const [, ever] = await Promise.all([served.require(params.walletId), readAssets(store.sql, params.walletId)]);
    return await assetsShown(service, pageOf(context, query, ever, (one) => one));
  });

  const one = async (id: string, wanted: AssetId) => {
    await served.require(id);
    const ever = await readAssets(store.sql, id);
    if (!ever.includes(wanted)) {
      throw new HttpFailure(404, "asset_not_present", "The requested asset is not associated with this wallet.");
    }
    return (await assetsShown(service, [wanted]))[0];
  };
  const absent = { 404: "`no_such_wallet`, `asset_not_present`" };
  route(app, "get", at("/assets/:policyId/:assetName"), {
    operation: `get${named}Asset`,
    summary: "An asset that the wallet holds or has held",
    params: { walletId, policyId, assetName },
    answer: asset,
    refusals: absent,
  }, ({ params }) => one(params.walletId, params.policyId + params.assetName));
  route(app, "get", at("/assets/:policyId"), {
    operation: `get${named}AssetDefault`,
    summary: "An asset with an empty name that the wallet holds or has held",
    params: { walletId, policyId },
    answer: asset,
    refusals: absent,
  }, ({ params }) => one(params.walletId, params.policyId));
}

/** Assets as the API shows them, with the metadata of the token metadata server. */
export async function assetsShown({ tokens }: Pick<WalletService, "tokens">, assets: readonly AssetId[]) {
  const known = await tokens?.find(assets);
  return assets.map((one) => {
    const { metadata, error: metadata_error } = known?.get(one) ?? {};
    return {
      policy_id: policyOf(one),
      asset_name: nameOf(one),
      fingerprint: fingerprint(one),
      metadata,
      metadata_error,
    };
  });
}

const byRef = ({ utxo: a }: OwnUtxo, { utxo: b }: OwnUtxo) => refKey(a.ref) < refKey(b.ref) ? -1 : 1;

/** An address of a wallet. */
export function walletAddressView({ address, path, used }: WalletAddress) {
  return { id: addressView(address), state: used ? "used" : "unused", derivation_path: pathText(path) };
}

/** Upper bounds of the buckets, themselves included. */
const BOUNDS = [...Array.from({ length: 16 }, (_, i) => 10n ** BigInt(i + 1)), MOST_LOVELACE];

/** The histogram of some amounts of lovelace. */
export function distributionOf(amounts: readonly bigint[]) {
  const counts = new Map(BOUNDS.map((bound) => [bound, 0]));
  for (const amount of amounts) {
    const bound = BOUNDS.find((one) => amount <= one) ?? MOST_LOVELACE;
    counts.set(bound, (counts.get(bound) ?? 0) + 1);
  }
  return {
    total: lovelace(amounts.reduce((sum, amount) => sum + amount, 0n)),
    scale: "log10" as const,
    distribution: Object.fromEntries([...counts].map(([bound, count]) => [String(bound), count])),
  };
}
