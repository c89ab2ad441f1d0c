/** Operations of the group Assets. */
import { isHex } from "#src/base/bytes.ts";
import { decodeData } from "#src/cardano/data.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import * as reads from "#src/devnet/index/reads/assets.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { readUnit } from "#src/devnet/serve/blockfrost/addresses.ts";
import { onchainMetadata } from "#src/devnet/serve/blockfrost/assetMetadata.ts";
import { genesisBlock, outputMembers, secondsOf, textOfAddress } from "#src/devnet/serve/blockfrost/documents.ts";
import { dataJson } from "#src/devnet/serve/blockfrost/dataJson.ts";
import { malformed, notFound } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import type { Queries } from "#src/store/store.ts";

/** Reads something about an asset at the state of the database in which it was minted. */
function aboutAsset<T>(
  store: BlockfrostService["store"],
  text: string,
  read: (unit: string, sql: Queries, asset: reads.AssetSupply) => Promise<T>,
): Promise<T> {
  const unit = readUnit(text);
  return atOneState(store, async (sql) => {
    const asset = await reads.readMintedAsset(sql, unit);
    if (!asset) throw notFound();
    return await read(unit, sql, asset);
  });
}

/** A page of a list about an asset, read by one statement; only an empty one leaves open whether the asset exists. */
async function pageOf<T>(
  store: BlockfrostService["store"],
  text: string,
  read: (unit: string, sql: Queries) => Promise<T[]>,
): Promise<T[]> {
  const page = await read(readUnit(text), store.sql);
  return page.length > 0 ? page : await aboutAsset(store, text, read);
}

const assetDocument = ({ unit, quantity }: reads.MintedAsset) => ({ asset: unit, quantity });

/** Assets, their mintings and their transactions. */
export function assetOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  return [
    list(
      "/assets",
      "ordered",
      async (_, { page }) => (await reads.readMintedAssets(store.sql, page)).map(assetDocument),
    ),
    get("/assets/{asset}", ({ asset }) =>
      aboutAsset(store, asset, async (unit, sql, { quantity, first, count }) => {
        const { metadata, standard, extra } = onchainMetadata(unit, await reads.readAssetMetadata(sql, unit));
        return {
          asset: unit,
          policy_id: policyOf(unit),
          asset_name: nameOf(unit) || null,
          fingerprint: fingerprint(unit),
          quantity,
          initial_mint_tx_hash: first,
          mint_or_burn_count: Number(count),
          onchain_metadata: metadata,
          onchain_metadata_standard: standard,
          onchain_metadata_extra: extra,
          // a devnet has no registry of tokens
          metadata: null,
        };
      })),
    list(
      "/assets/{asset}/history",
      "ordered",
      async ({ asset }, { page }) =>
        (await pageOf(store, asset, (unit, sql) => reads.readMintings(sql, unit, page))).map((
          { tx_hash, quantity },
        ) => ({
          tx_hash,
          amount: quantity,
          action: quantity.startsWith("-") ? "burned" : "minted",
        })),
    ),
    list(
      "/assets/{asset}/txs",
      "ordered",
      async ({ asset }, { page }) =>
        (await pageOf(store, asset, (unit, sql) => reads.readTransactionsWith(sql, unit, page))).map(({ tx_hash }) =>
          tx_hash
        ),
    ),
    list("/assets/{asset}/transactions", "ranged", async ({ asset }, { page }) => {
      const transactions = await pageOf(
        store,
        asset,
        (unit, sql) => reads.readTransactionsWith(sql, unit, page, page.range()),
      );
      return transactions.map((transaction) => ({
        tx_hash: transaction.tx_hash,
        tx_index: transaction.tx_index,
        block_height: Number(transaction.height),
        block_time: secondsOf(genesis, transaction.slot ?? 0),
      }));
    }),
  ];
}

/** Addresses and outputs that hold an asset. */
export function assetHolderOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  return [
    list(
      "/assets/{asset}/addresses",
      "ordered",
      async ({ asset }, { page }) =>
        (await pageOf(store, asset, (unit, sql) => reads.readHoldersOf(sql, unit, page))).map((
          { address, quantity },
        ) => ({
          address: textOfAddress(address),
          quantity,
        })),
    ),
    list("/assets/{asset}/utxos", "ranged", async ({ asset }, { page }) => {
      const outputs = await pageOf(store, asset, (unit, sql) => reads.readOutputsWith(sql, unit, page, page.range()));
      return outputs.map((output) => ({
        ...outputMembers(output),
        tx_hash: output.tx_hash,
        output_index: output.index,
        block: output.block ?? genesisBlock(genesis),
        block_height: Number(output.height),
        block_time: secondsOf(genesis, output.slot ?? 0),
        inline_datum_json: output.datum && dataJson(decodeData(new Uint8Array(output.datum))),
      }));
    }),
  ];
}

/** Assets of a policy. */
export function policyOperations({ store }: BlockfrostService): Operation[] {
  return [
    list("/assets/policy/{policy_id}", "ordered", ({ policy_id }, { page }) => {
      if (!isHex(policy_id, 28)) throw malformed.policy();
      const policy = policy_id.toLowerCase();
      return atOneState(store, async (sql) => {
        const [first] = await reads.readMintedAssets(sql, { limit: 1, offset: 0, order: "asc" }, policy);
        if (!first) throw notFound();
        return (await reads.readMintedAssets(sql, page, policy)).map(assetDocument);
      });
    }),
  ];
}
