/** Operations of the group Addresses. */
import { fromHex, isHex, toHex } from "#src/base/bytes.ts";
import { type Address, type NetworkId, parseAddress } from "#src/cardano/address.ts";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import * as reads from "#src/devnet/index/reads/addresses.ts";
import { readAssetMetadata, readMintedAsset } from "#src/devnet/index/reads/assets.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { onchainMetadata } from "#src/devnet/serve/blockfrost/assetMetadata.ts";
import {
  amounts,
  genesisBlock,
  outputMembers,
  secondsOf,
  textOfAccount,
} from "#src/devnet/serve/blockfrost/documents.ts";
import { malformed, notFound } from "#src/devnet/serve/blockfrost/failures.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { credentialKey, parseCredentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** An address in a path, or a payment credential. */
export interface NamedHolder {
  readonly holder: reads.Holder;
  /** Its text in answers. */
  readonly text: string;
  /** Undefined for a payment credential. */
  readonly address: Address | undefined;
}

/** Reads something about an address at the state of the database in which it is used. */
function aboutAddress<T>(
  { devnet: { genesis }, store }: BlockfrostService,
  text: string,
  read: (named: NamedHolder, sql: Queries) => Promise<T>,
): Promise<T> {
  const named = readHolder(text, genesis.network.id);
  return atOneState(store, async (sql) => {
    const [isUsed, answer] = await Promise.all([reads.isUsed(sql, named.holder), read(named, sql)]);
    if (!isUsed) throw notFound();
    return answer;
  });
}

/** An address and what it holds. */
export function addressOperations(service: BlockfrostService): Operation[] {
  const { devnet: { genesis }, store } = service;
  const network = genesis.network.id;
  /** Members that describe an address. */
  const described = ({ text, address, holder }: NamedHolder) => ({
    address: text,
    stake_address: address?.kind === "base" ? textOfAccount(network, credentialKey(address.stake)) : null,
    type: address?.kind === "byron" ? "byron" : "shelley",
    script: address
      ? "payment" in address && address.payment.kind === "script"
      : "payment" in holder && parseCredentialKey(holder.payment).kind === "script",
  });

  return [
    get("/addresses/{address}", async ({ address }) => {
      const named = readHolder(address, network);
      const { isUsed, lovelace, assets } = await reads.readSum(store.sql, named.holder, "held");
      return isUsed ? { ...described(named), amount: amounts(lovelace, assets) } : undefined;
    }),
    get("/addresses/{address}/extended", ({ address }) =>
      aboutAddress(service, address, async (named, sql) => {
        const { lovelace, assets } = await reads.readSum(sql, named.holder, "held");
        const extended = await Promise.all((assets ?? []).map(async ({ unit, quantity }) => {
          const metadata = onchainMetadata(unit, await readAssetMetadata(sql, unit));
          return { unit, quantity, decimals: metadata.decimals, has_nft_onchain_metadata: metadata.metadata !== null };
        }));
        const [ada] = amounts(lovelace);
        return {
          ...described(named),
          amount: [{ ...ada, decimals: 6, has_nft_onchain_metadata: false }, ...extended],
        };
      })),
    get("/addresses/{address}/total", ({ address }) =>
      aboutAddress(service, address, async ({ text, holder }, sql) => {
        const [received, sent, count] = await Promise.all([
          reads.readSum(sql, holder, "received"),
          reads.readSum(sql, holder, "sent"),
          reads.countTransactionsOf(sql, holder),
        ]);
        return {
          address: text,
          received_sum: amounts(received.lovelace, received.assets),
          sent_sum: amounts(sent.lovelace, sent.assets),
          tx_count: count,
        };
      })),
  ];
}

/** Outputs and transactions of an address. */
export function addressTransactionOperations(service: BlockfrostService): Operation[] {
  const { devnet: { genesis }, store } = service;
  /** A page of a list about an address, read by one statement; only an empty one leaves open whether the address is used. */
  const pageOf = async <T>(text: string, read: (holder: reads.Holder, sql: Queries) => Promise<T[]>): Promise<T[]> => {
    const page = await read(readHolder(text, genesis.network.id).holder, store.sql);
    return page.length > 0 ? page : await aboutAddress(service, text, ({ holder }, sql) => read(holder, sql));
  };
  const outputDocument = (output: reads.HeldOutput) => ({
    ...outputMembers(output),
    tx_hash: output.tx_hash,
    // deprecated: the index of the output, whatever the name says
    tx_index: output.index,
    output_index: output.index,
    block: output.block ?? genesisBlock(genesis),
  });
  const placeDocument = ({ tx_hash, tx_index, height, slot }: reads.TransactionPlace) => ({
    tx_hash,
    tx_index,
    block_height: Math.max(0, Number(height)),
    block_time: secondsOf(genesis, slot ?? 0),
  });

  return [
    list(
      "/addresses/{address}/utxos",
      "ordered",
      async ({ address }, { page }) =>
        (await pageOf(address, (holder, sql) => reads.readHeldOutputs(sql, holder, page))).map(outputDocument),
    ),
    list(
      "/addresses/{address}/utxos/{asset}",
      "ordered",
      ({ address, asset }, { page }) =>
        aboutAddress(service, address, async ({ holder }, sql) => {
          const unit = asset === "lovelace" ? asset : readUnit(asset);
          const [minted, outputs] = await Promise.all([
            unit === "lovelace" || readMintedAsset(sql, unit),
            reads.readHeldOutputs(sql, holder, page, unit),
          ]);
          if (!minted) throw notFound();
          return outputs.map(outputDocument);
        }),
    ),
    list(
      "/addresses/{address}/txs",
      "ordered",
      async ({ address }, { page }) =>
        (await pageOf(address, (holder, sql) => reads.readTransactionsOf(sql, holder, page)))
          .map(({ tx_hash }) => tx_hash),
    ),
    list(
      "/addresses/{address}/transactions",
      "ranged",
      async ({ address }, { page }) =>
        (await pageOf(address, (holder, sql) => reads.readTransactionsOf(sql, holder, page, page.range())))
          .map(placeDocument),
    ),
  ];
}

/** The unit that a text names: policy and name in hexadecimal. @throws {HttpFailure} 400 */
export function readUnit(text: string): string {
  if (text.length < 56 || text.length > 120 || !isHex(text)) throw malformed.asset();
  return text.toLowerCase();
}

/** The address or the payment credential that a text names. @throws {HttpFailure} 400 */
export function readHolder(text: string, network: NetworkId): NamedHolder {
  const credential = readCredential(text);
  if (credential) return { ...credential, address: undefined };
  const address = parseAddress(text, network);
  if (!address.ok || address.value.kind === "reward") throw malformed.address();
  return { holder: { address: address.value.hex }, text, address: address.value };
}

/** A payment credential: hash of a key, key, or hash of a script in bech32 (CIP-5). */
export function readCredential(text: string): Pick<NamedHolder, "holder" | "text"> | undefined {
  const { prefix, bytes } = fromBech32(text) ?? {};
  if (!bytes) return undefined;
  const named = (kind: "key" | "script", hash: string, prefix: string) => ({
    holder: { payment: credentialKey({ kind, hash }) },
    text: toBech32(prefix, fromHex(hash)),
  });
  if (prefix === "addr_vk" && bytes.length === 32) return named("key", keyHash(bytes), "addr_vkh");
  if (bytes.length !== 28) return undefined;
  if (prefix === "addr_vkh") return named("key", toHex(bytes), prefix);
  if (prefix === "script") return named("script", toHex(bytes), prefix);
  return undefined;
}
