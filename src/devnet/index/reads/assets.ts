/** Reads of minted assets, for the devnet's APIs. */
import { type HeldOutput, type TransactionPlace } from "#src/devnet/index/reads/addresses.ts";
import { outputColumns } from "#src/devnet/index/reads/outputs.ts";
import { direction, limits, type Page, type PlaceRange, within } from "#src/devnet/index/reads/page.ts";
import type { Queries } from "#src/store/store.ts";

/** An asset, and how much of it there is. */
export interface MintedAsset {
  /** Policy and name, in hexadecimal. */
  readonly unit: string;
  /** Minted less burned. */
  readonly quantity: string;
}

/** All assets, or those of a policy, in the order of their first minting; assets of one transaction by unit. */
export async function readMintedAssets(sql: Queries, page: Page, policy?: string): Promise<MintedAsset[]> {
  const towards = direction(sql, page);
  // no hexadecimal digit is greater than f
  const chosen = policy === undefined ? sql`true` : sql`unit >= ${policy} and unit < ${`${policy}g`}`;
  return await sql<MintedAsset[]>`
    select unit, sum(quantity)::text as quantity from devnet_index_mint where ${chosen}
    group by unit order by min(array[height, tx_index]) ${towards}, unit ${towards} ${limits(sql, page)}`;
}

/** An asset with its mintings and burnings. */
export interface AssetSupply extends MintedAsset {
  /** Hash of the first transaction that minted it. */
  readonly first: string;
  /** How often it was minted or burned. */
  readonly count: bigint;
}

/** An asset; undefined where it was never minted. */
export async function readMintedAsset(sql: Queries, unit: string): Promise<AssetSupply | undefined> {
  const [asset] = await sql<AssetSupply[]>`
    select unit, sum(quantity)::text as quantity, count(*) as count,
      (array_agg(tx_hash order by height, tx_index))[1] as first
    from devnet_index_mint where unit = ${unit} group by unit`;
  return asset;
}

/** What the chain says about an asset beyond its quantity. */
export interface AssetMetadataSources {
  /** CBOR of the metadata with label 721 in the newest transaction that minted the asset with such metadata. */
  readonly minting: Uint8Array | null;
  /** CBOR of the datum of the newest output, spent or unspent, that held the reference token. */
  readonly reference: Uint8Array | null;
}

/** The reference token of an asset (CIP-68): its name has another label; undefined for an asset without a label. */
export function referenceToken(unit: string): string | undefined {
  const label = unit.slice(56, 64);
  return USER_TOKENS.has(label) ? `${unit.slice(0, 56)}${REFERENCE_TOKEN}${unit.slice(64)}` : undefined;
}

/** Labels of names (CIP-67): 100, and 222, 333, 444. */
const REFERENCE_TOKEN = "000643b0";
const USER_TOKENS = new Set(["000de140", "0014df10", "001bc280"]);

/** Reads the CBOR of the two possible sources of an asset's metadata. */
export async function readAssetMetadata(sql: Queries, unit: string): Promise<AssetMetadataSources> {
  const [sources] = await sql<AssetMetadataSources[]>`
    select (
      select m.cbor from devnet_index_mint n
      join devnet_index_metadata m on m.label = 721 and m.height = n.height and m.tx_index = n.tx_index
      where n.unit = ${unit} and n.quantity > 0 order by n.height desc, n.tx_index desc limit 1) as minting, (
      select d.cbor from devnet_index_asset a
      join devnet_index_output o on o.tx_hash = a.tx_hash and o.index = a.index
      join devnet_index_datum d on d.hash = o.datum_hash
      where a.unit = ${referenceToken(unit) ?? ""}
      order by o.height desc, o.tx_index desc, o.index desc limit 1) as reference`;
  return sources ?? { minting: null, reference: null };
}

/** A minting or burning of an asset, which has a negative quantity. */
export interface Minting {
  readonly tx_hash: string;
  readonly quantity: string;
}

/** Mintings and burnings of an asset, in the order of the chain. */
export async function readMintings(sql: Queries, unit: string, page: Page): Promise<Minting[]> {
  const towards = direction(sql, page);
  return await sql<Minting[]>`
    select tx_hash, quantity::text as quantity from devnet_index_mint where unit = ${unit}
    order by height ${towards}, tx_index ${towards} ${limits(sql, page)}`;
}

/** Transactions with an output that holds an asset, in the order of the chain. */
export async function readTransactionsWith(
  sql: Queries,
  unit: string,
  page: Page,
  range: PlaceRange = {},
): Promise<TransactionPlace[]> {
  const towards = direction(sql, page);
  return await sql<TransactionPlace[]>`
    select t.tx_hash, t.height, t.tx_index, b.slot
    from devnet_index_asset_tx t join devnet_block b on b.height = t.height
    where t.unit = ${unit} and ${within(sql, "t", range)}
    order by t.height ${towards}, t.tx_index ${towards} ${limits(sql, page)}`;
}

/** Addresses (bytes in hexadecimal) that hold an asset, in the order of their oldest output that does. */
export async function readHoldersOf(
  sql: Queries,
  unit: string,
  page: Page,
): Promise<{ address: string; quantity: string }[]> {
  const towards = direction(sql, page);
  return await sql<{ address: string; quantity: string }[]>`
    select o.address, sum(a.quantity)::text as quantity
    from devnet_index_asset a join devnet_index_output o on o.tx_hash = a.tx_hash and o.index = a.index
    where a.unit = ${unit} and o.spent_height is null
    group by o.address order by min(array[o.height, o.tx_index, o.index]) ${towards} ${limits(sql, page)}`;
}

/** Unspent outputs that hold an asset, in the order of the chain. */
export async function readOutputsWith(
  sql: Queries,
  unit: string,
  page: Page,
  range: PlaceRange,
): Promise<HeldOutput[]> {
  const towards = direction(sql, page);
  return await sql<HeldOutput[]>`
    select ${outputColumns(sql)}, b.hash as block, b.slot
    from devnet_index_asset u join devnet_index_output o on o.tx_hash = u.tx_hash and o.index = u.index
    left join devnet_block b on b.height = o.height
    where u.unit = ${unit} and o.spent_height is null and ${within(sql, "o", range)}
    order by o.height ${towards}, o.tx_index ${towards}, o.index ${towards} ${limits(sql, page)}`;
}

/** Units of the assets with a fingerprint (CIP-14), in their order: normally one, because fingerprints are hashes of 160 bits. */
export async function readAssetsByFingerprint(sql: Queries, fingerprint: string): Promise<string[]> {
  const rows = await sql<{ unit: string }[]>`
    select distinct unit from devnet_index_mint where fingerprint = ${fingerprint} order by unit`;
  return rows.map(({ unit }) => unit);
}
