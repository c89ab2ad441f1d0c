/**
 * Operations of the group Accounts. Nothing on a devnet moves lovelace from reserves or treasury to accounts: there are no
 * such certificates in Conway, and no proposal is enacted.
 */
import { readTreasuryActions } from "#src/devnet/index/reads/governance.ts";
import { proposalOf } from "#src/devnet/serve/blockfrost/governance.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import {
  isAccount,
  readAccount,
  readAccountAddresses,
  readAccountAssets,
  readAccountTotals,
  readAccountTransactions,
  readDelegations,
  readRegistrations,
  readRewards,
  readStakeHistory,
  readWithdrawals,
  type TransactionPlaceRow,
} from "#src/devnet/index/reads/accounts.ts";
import { atOneState, type Page } from "#src/devnet/index/reads/page.ts";
import { readHeldOutputs } from "#src/devnet/index/reads/addresses.ts";
import {
  genesisBlock,
  outputMembers,
  secondsOf,
  textOfAccount,
  textOfAddress,
  textOfPool,
  textOfRepresentative,
} from "#src/devnet/serve/blockfrost/documents.ts";
import { readStakeAddress } from "#src/devnet/serve/blockfrost/ids.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { credentialKey } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** Lists of an account that have a page and an order. */
type AccountList =
  | "rewards"
  | "history"
  | "delegations"
  | "registrations"
  | "withdrawals"
  | "mirs"
  | "addresses"
  | "addresses/assets"
  | "utxos";

/** Reads a part of an account; undefined where the chain does not name the account. */
function ofAccount<T>(
  { devnet: { genesis }, store }: BlockfrostService,
  address: string,
  read: (sql: Queries, credential: string) => Promise<T>,
): Promise<T | undefined> {
  const credential = readStakeAddress(address, genesis.network.id);
  return atOneState(
    store,
    async (sql) => await isAccount(sql, credential) ? await read(sql, credential) : undefined,
  );
}

/** A list that is read by a function of the index, each row shown by `view`. */
function accountList<Row>(
  service: BlockfrostService,
  name: AccountList,
  read: (sql: Queries, credential: string, page: Page) => Promise<readonly Row[]>,
  view: (row: Row) => unknown,
): Operation {
  return list(
    `/accounts/{stake_address}/${name}`,
    "ordered",
    ({ stake_address }, { page }) =>
      ofAccount(service, stake_address, async (sql, credential) => (await read(sql, credential, page)).map(view)),
  );
}

const placeOf = (genesis: Genesis, { tx_hash, slot, height }: TransactionPlaceRow) => ({
  tx_hash,
  tx_slot: Number(slot),
  block_time: secondsOf(genesis, slot),
  block_height: Number(height),
});

/** Lovelace that enacted actions paid to an account from the treasury. */
async function paidByTreasury(sql: Queries, credential: string): Promise<bigint> {
  const proposals = (await readTreasuryActions(sql)).map((cbor) => proposalOf({ cbor }));
  const payments = proposals.flatMap(({ action }) => action.kind === "treasury" ? action.payments : []);
  return payments.filter(([account]) => credentialKey(account.credential) === credential)
    .reduce((sum, [, lovelace]) => sum + lovelace, 0n);
}

/** An account, its rewards, and its registrations and delegations. */
export function accountOperations(service: BlockfrostService): Operation[] {
  const { devnet: { genesis }, store } = service;
  const network = genesis.network.id;
  return [
    get("/accounts/{stake_address}", async ({ stake_address }) => {
      const credential = readStakeAddress(stake_address, network);
      const account = await readAccount(store.sql, credential);
      if (!account) return undefined;
      const { registered, pool, drep, changed, held, rewards, withdrawn } = account;
      const withdrawable = account.balance ?? rewards - withdrawn;
      return {
        stake_address: textOfAccount(network, credential),
        active: pool !== null,
        registered,
        active_epoch: changed,
        controlled_amount: String(held + withdrawable),
        rewards_sum: String(rewards),
        withdrawals_sum: String(withdrawn),
        reserves_sum: "0",
        treasury_sum: String(await paidByTreasury(store.sql, credential)),
        withdrawable_amount: String(withdrawable),
        pool_id: pool === null ? null : textOfPool(pool),
        drep_id: drep === null ? null : textOfRepresentative(drep),
      };
    }),
    accountList(service, "rewards", readRewards, ({ earned, amount, pool, kind }) => ({
      epoch: earned,
      amount: String(amount),
      pool_id: textOfPool(pool),
      type: kind,
    })),
    accountList(service, "history", readStakeHistory, ({ epoch, pool, lovelace }) => ({
      active_epoch: epoch,
      amount: String(lovelace),
      pool_id: textOfPool(pool),
    })),
    accountList(service, "delegations", readDelegations, (row) => ({
      active_epoch: row.epoch,
      amount: row.output,
      pool_id: textOfPool(row.pool),
      ...placeOf(genesis, row),
    })),
    accountList(service, "registrations", readRegistrations, (row) => ({
      action: row.kind === "register" ? "registered" : "deregistered",
      deposit: row.kind === "register" && row.deposit !== null ? String(row.deposit) : null,
      ...placeOf(genesis, row),
    })),
    accountList(
      service,
      "withdrawals",
      readWithdrawals,
      (row) => ({ amount: String(row.amount), ...placeOf(genesis, row) }),
    ),
    accountList(service, "mirs", async () => [], (row) => row),
  ];
}

/** Addresses, assets, outputs and transactions of an account. */
export function accountHoldingOperations(service: BlockfrostService): Operation[] {
  const { genesis } = service.devnet;
  return [
    accountList(service, "addresses", readAccountAddresses, (address) => ({ address: textOfAddress(address) })),
    accountList(service, "addresses/assets", readAccountAssets, ({ unit, quantity }) => ({ unit, quantity })),
    get(
      "/accounts/{stake_address}/addresses/total",
      ({ stake_address }) =>
        ofAccount(service, stake_address, async (sql, credential) => {
          const { received, sent, transactions } = await readAccountTotals(sql, credential);
          return {
            stake_address: textOfAccount(genesis.network.id, credential),
            received_sum: received,
            sent_sum: sent,
            tx_count: transactions,
          };
        }),
    ),
    accountList(
      service,
      "utxos",
      (sql, stake, page) => readHeldOutputs(sql, { stake }, page),
      (output) => ({
        ...outputMembers(output),
        tx_hash: output.tx_hash,
        // deprecated: the index of the output, whatever the name says
        tx_index: output.index,
        output_index: output.index,
        block: output.block ?? genesisBlock(genesis),
      }),
    ),
    list("/accounts/{stake_address}/transactions", "ranged", ({ stake_address }, { page }) => {
      const range = page.range();
      return ofAccount(
        service,
        stake_address,
        async (sql, credential) =>
          (await readAccountTransactions(sql, credential, range, page)).map((row) => ({
            address: textOfAddress(row.address),
            tx_hash: row.tx_hash,
            tx_index: row.tx_index,
            block_height: Number(row.height),
            block_time: secondsOf(genesis, row.slot),
          })),
      );
    }),
  ];
}
