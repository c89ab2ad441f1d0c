/** Operations of the group Metadata. */
import * as reads from "#src/devnet/index/reads/metadata.ts";
import { malformed } from "#src/devnet/serve/blockfrost/failures.ts";
import { cborMembers, jsonOfMetadata } from "#src/devnet/serve/blockfrost/metadataValue.ts";
import { list, type ListQuery, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";

/** What labels are for, by the registry of CIP-10 as Blockfrost names them. */
const REGISTRY: ReadonlyMap<string, string> = new Map([
  ["87", "milkomeda.com - The protocol magic for the milkomeda protocol"],
  ["88", "milkomeda.com - the destination address in the sidechain"],
  ["309", "Proof of Existence record"],
  ["674", "CIP-0020 - Transaction message/comment metadata"],
  ["721", "CIP-0025 - NFT Metadata Standard"],
  ["777", "CIP-0027 - Royalties Standard"],
  ["1188", "paradiso.app marketplace metadata"],
  ["1189", "paradiso.app services metadata"],
  ["1870", "Open Badges v2.0 compliant metadata"],
  ["1967", "nut.link metadata oracles registry"],
  ["1968", "nut.link metadata oracles data points"],
  ["1988", "cardahub.io marketplace metadata"],
  ["1989", "cardahub.io services metadata"],
  ["6770", "fortunes.coconutpool.com fortune teller"],
  ["61284", "CIP-0015 - Catalyst registration"],
  ["61285", "CIP-0015 - Catalyst registration"],
  ["61286", "CIP-0015 - Catalyst registration"],
]);

export function metadataOperations({ store: { sql } }: BlockfrostService): Operation[] {
  /** Blockfrost answers an empty page of these lists with 404, whatever other pages have. */
  const labelled = async <T>(label: string, page: ListQuery, view: (value: reads.LabelledMetadata) => T) => {
    const values = await reads.readLabelled(sql, readLabel(label), page);
    return values.length === 0 ? undefined : values.map(view);
  };
  return [
    list(
      "/metadata/txs/labels",
      "ordered",
      async (_, { page }) =>
        (await reads.readLabels(sql, page)).map(({ label, count }) => ({
          label,
          cip10: REGISTRY.get(label) ?? null,
          count: String(count),
        })),
    ),
    list(
      "/metadata/txs/labels/{label}",
      "ordered",
      ({ label }, { page }) =>
        labelled(label, page, ({ tx_hash, cbor }) => ({
          tx_hash,
          json_metadata: jsonOfMetadata({ label: readLabel(label), cbor }),
        })),
    ),
    list(
      "/metadata/txs/labels/{label}/cbor",
      "ordered",
      ({ label }, { page }) =>
        labelled(label, page, ({ tx_hash, cbor }) => ({
          tx_hash,
          ...cborMembers({ label: readLabel(label), cbor }),
        })),
    ),
  ];
}

/** Largest label: one of 64 bits. */
const MOST = (1n << 64n) - 1n;

/** A label in decimal. @throws {HttpFailure} 400 */
function readLabel(text: string): string {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) > MOST) throw malformed.label();
  return String(BigInt(text));
}
