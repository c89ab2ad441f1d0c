/**
 * What Yaci Store has beside the operations of Blockfrost, in its paths and JSON (bloxbean/yaci-store, the controllers
 * of `stores-api`): lists are newest first, ten long, and `page=0` is the first page as well as `page=1`.
 */
import { toHex } from "#src/base/bytes.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import { decodeAll } from "#src/cardano/cbor.ts";
import { readNative } from "#src/cardano/nativeScript.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { readSum } from "#src/devnet/index/reads/addresses.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { readScriptRow } from "#src/devnet/index/reads/scripts.ts";
import {
  type BlockSummary,
  type CertificateEntry,
  countBlocks,
  readNewestBlocks,
  readNewestCertificates,
  readNewestTransactions,
  type TransactionSummary,
} from "#src/devnet/index/reads/yaciStore.ts";
import type { CertificateRow } from "#src/devnet/index/rows.ts";
import { readHolder } from "#src/devnet/serve/blockfrost/addresses.ts";
import { producerText } from "#src/devnet/serve/blockfrost/blocks.ts";
import {
  genesisBlock,
  secondsOf,
  textOfAccount,
  textOfAddress,
  textOfPool,
} from "#src/devnet/serve/blockfrost/documents.ts";
import { get, type Operation, storeList } from "#src/devnet/serve/blockfrost/operation.ts";
import { relayDocument } from "#src/devnet/serve/blockfrost/poolParts.ts";
import { nativeJson, TIMELOCK } from "#src/devnet/serve/blockfrost/scripts.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";

/** The era of all blocks, by the number that Yaci gives to Conway. */
const CONWAY = 7;

/** The operations, which stand under `/api/v1` alone. */
export function yaciStoreOperations(service: BlockfrostService): Operation[] {
  const { devnet: { genesis }, store } = service;
  const pages = (total: bigint, count: number) => Math.ceil(Number(total) / count);
  const certificates = (
    path: string,
    kind: CertificateRow["kind"],
    document: (genesis: Genesis, row: CertificateEntry) => object,
  ) =>
    storeList(path, async ({ page }) =>
      (await readNewestCertificates(store.sql, kind, page))
        .map((row) => ({ ...placeDocument(genesis, row), ...document(genesis, row) })));
  return [
    storeList("/blocks", ({ page }) =>
      atOneState(store, async (sql) => {
        const { blocks: total } = await countBlocks(sql);
        const blocks = await readNewestBlocks(sql, page);
        const documents = blocks.map((block) => blockDocument(genesis, block));
        return { total, total_pages: pages(total, page.limit), blocks: documents };
      })),
    storeList("/txs", ({ page }) =>
      atOneState(store, async (sql) => {
        const { transactions: total } = await countBlocks(sql);
        const transactions = await readNewestTransactions(sql, page);
        return {
          total,
          total_pages: pages(total, page.limit),
          transaction_summaries: transactions.map((one) => transactionDocument(genesis, one)),
        };
      })),
    get("/addresses/{address}/balance", ({ address }) =>
      atOneState(store, async (sql) => {
        const { holder, text } = readHolder(address, genesis.network.id);
        const { isUsed, lovelace, assets } = await readSum(sql, holder, "held");
        if (!isUsed) return undefined;
        const { blocks, slot } = await countBlocks(sql);
        return {
          block_number: Math.max(0, Number(blocks) - 1),
          slot: slot ?? 0n,
          address: text,
          amounts: [{ unit: "lovelace", quantity: lovelace }, ...assets ?? []].map(amountDocument),
        };
      })),
    get("/scripts/{script_hash}/details", async ({ script_hash }) => {
      const script = await readScriptRow(store.sql, script_hash);
      if (!script) return undefined;
      const { kind, bytes } = script;
      const content = kind === TIMELOCK ? nativeJson(readNative(decodeAll(bytes))) : toHex(bytes);
      return { script_hash, script_type: kind, content };
    }),
    certificates(
      "/stake/registrations",
      "register",
      (genesis, row) => stakeDocument(genesis, row, "STAKE_REGISTRATION"),
    ),
    certificates(
      "/stake/deregistrations",
      "deregister",
      (genesis, row) => stakeDocument(genesis, row, "STAKE_DEREGISTRATION"),
    ),
    certificates("/stake/delegations", "delegate", delegationDocument),
    certificates("/pools/registrations", "pool", registrationDocument),
    certificates("/pools/retirements", "retire", retirementDocument),
  ];
}

function blockDocument(genesis: Genesis, block: BlockSummary): object {
  return {
    time: secondsOf(genesis, block.slot),
    number: block.height,
    hash: block.hash,
    slot: block.slot,
    epoch: block.epoch,
    era: CONWAY,
    output: BigInt(block.output ?? 0),
    fees: block.fees ?? 0n,
    slot_leader: producerText(block),
    size: block.size,
    tx_count: block.transactions,
    issuer_vkey: toHex(new Uint8Array(block.issuer)),
  };
}

function transactionDocument(genesis: Genesis, transaction: TransactionSummary): object {
  const { hash, height, slot, fee, output, addresses } = transaction;
  return {
    tx_hash: hash,
    block_number: height,
    slot,
    block_time: secondsOf(genesis, slot),
    output_addresses: addresses.map(textOfAddress),
    total_output: BigInt(output),
    fee,
  };
}

function amountDocument({ unit, quantity }: { readonly unit: string; readonly quantity: string }): object {
  const policy = unit === "lovelace" ? {} : { policy_id: unit.slice(0, 56), asset_name: unit.slice(56) };
  return { unit, ...policy, quantity: BigInt(quantity) };
}

/** Where a certificate stands. */
function placeDocument(genesis: Genesis, row: CertificateEntry): object {
  const slot = row.slot ?? 0n;
  return {
    tx_hash: row.tx_hash,
    tx_index: row.tx_index,
    cert_index: row.cert_index,
    epoch: row.epoch ?? 0,
    slot,
    block_number: row.height < 0n ? 0n : row.height,
    block_hash: row.hash ?? genesisBlock(genesis),
    block_time: secondsOf(genesis, slot),
  };
}

function accountDocument({ network: { id } }: Genesis, { credential }: CertificateEntry): object {
  if (credential === null) return {};
  return { credential: parseCredentialKey(credential).hash, address: textOfAccount(id, credential) };
}

function stakeDocument(genesis: Genesis, row: CertificateEntry, type: string): object {
  return { ...accountDocument(genesis, row), type };
}

function delegationDocument(genesis: Genesis, row: CertificateEntry): object {
  return { ...accountDocument(genesis, row), pool_id: row.pool };
}

function poolDocument({ pool }: CertificateEntry): object {
  return pool === null ? {} : { pool_id: pool, pool_id_bech32: textOfPool(pool) };
}

function registrationDocument({ network: { id } }: Genesis, row: CertificateEntry): object {
  const { vrf, pledge, cost, margin, account, owners, relays, metadata } = poolTerms(new Uint8Array(row.cbor));
  return {
    ...poolDocument(row),
    vrf_key_hash: vrf,
    pledge,
    cost,
    margin: Number(margin.numerator) / Number(margin.denominator),
    reward_account: addressText(rewardAddress(account.network, account.credential)),
    pool_owners: owners.map((hash) => textOfAccount(id, `k${hash}`)),
    relays: relays.map(relayDocument),
    metadata_url: metadata?.url ?? null,
    metadata_hash: metadata?.hash ?? null,
  };
}

function retirementDocument(_: Genesis, row: CertificateEntry): object {
  return { ...poolDocument(row), retirement_epoch: row.retires };
}
