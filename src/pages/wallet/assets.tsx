/** Assets of wallets: what they are called, their decimals, and how they are shown. */
import type { Asset } from "#src/client/wallets.ts";
import { Amount } from "../kit/amounts.tsx";
import { type Data, useData } from "../kit/data.tsx";
import { assetTitle } from "./amounts.ts";
import { read, type WalletSummary } from "./service.ts";

/** What is known about assets, by policy id and name. */
export type AssetBook = ReadonlyMap<string, Asset>;

export const assetKey = ({ policy_id, asset_name }: { readonly policy_id: string; readonly asset_name: string }) =>
  policy_id + asset_name;

/** Names, decimals and fingerprints of all assets that a wallet holds or has held; read again when it holds others. */
export function useAssets({ prefix, id, assets }: WalletSummary): Data<AssetBook> {
  const held = assets.map(assetKey).sort().join();
  return useData(
    async (signal) => {
      const list = assets.length === 0 ? [] : await read<Asset[]>(`/${prefix}/${id}/assets`, {}, signal);
      return new Map(list.map((asset) => [assetKey(asset), asset]));
    },
    [prefix, id, held],
    { keep: true },
  );
}

/** The title of an asset. */
export function titleOf(book: AssetBook | undefined, policy: string, name: string, fingerprint?: string): string {
  const known = book?.get(policy + name);
  return assetTitle({ name, fingerprint: known?.fingerprint ?? fingerprint, metadata: known?.metadata });
}

export const decimalsOf = (book: AssetBook | undefined, policy: string, name: string): number =>
  book?.get(policy + name)?.metadata?.decimals ?? 0;

/** A quantity of an asset with its title; the fingerprint is its tooltip. */
export function AssetAmount({ book, policy, name, quantity, fingerprint, signed = false }: {
  readonly book: AssetBook | undefined;
  readonly policy: string;
  readonly name: string;
  readonly quantity: bigint;
  readonly fingerprint?: string;
  readonly signed?: boolean;
}) {
  return (
    <span class="asset-amount" title={book?.get(policy + name)?.fingerprint ?? fingerprint ?? policy + name}>
      <Amount
        amount={quantity}
        decimals={decimalsOf(book, policy, name)}
        unit={titleOf(book, policy, name, fingerprint)}
        signed={signed}
      />
    </span>
  );
}
