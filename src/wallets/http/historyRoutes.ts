/** A wallet's history over HTTP: listed with filters, one transaction, and forgetting one. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { eachHistoryPage, readOwnTransactions } from "#src/wallets/walletReads.ts";
import { transactionId, walletId } from "#src/wallets/api/params.ts";
import * as api from "#src/wallets/api/transactions.ts";
import { page } from "#src/wallets/api/wallets.ts";
import { slotAt, timeAt } from "#src/cardano/eras.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { requireNetwork } from "#src/wallets/http/discrimination.ts";
import { JSON_TYPE, JsonList } from "#src/http/json.ts";
import type { SchemaOutputs } from "#src/http/route.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { transactionView } from "#src/wallets/http/history.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { afterIn, linkNext } from "#src/http/paging.ts";
import { noSuchTransaction, shownTransaction } from "#src/wallets/http/send.ts";
import { refusal } from "#src/wallets/http/status.ts";
import { timeText } from "#src/wallets/http/times.ts";
import { HISTORY_PLACE, streamRoutes } from "#src/wallets/http/stream.ts";
import { policyKeyHash } from "#src/wallets/builds/policy.ts";
import { STAKE_PATH } from "#src/cardano/keys/paths.ts";
import { readAccount } from "#src/wallets/delegation/read.ts";
import type { HistoryQuery } from "#src/wallets/index/types.ts";
import { ownDrepOf } from "#src/wallets/ownDrep.ts";
import { readWallet } from "#src/wallets/rows.ts";

const params = { walletId };

/** Lists a wallet's transactions, shows one, and forgets one that is not in the ledger. */
export function historyRoutes(app: OpenAPIHono, service: WalletService, served: ServedKind): void {
  const { networkId, store, ask } = service;
  const { prefix, named } = served;
  const at = (rest: string) => `/${prefix}/:walletId/transactions${rest}`;
  const ownOf = async (id: string) => {
    const [account, row] = await Promise.all([readAccount(store.sql, id), readWallet(store.sql, id)]);
    return {
      account: account && { credential: account.credential, path: await served.stakePath?.(id) ?? STAKE_PATH },
      drep: row && ownDrepOf(row),
      policyKey: row && policyKeyHash(row),
    };
  };

  streamRoutes(app, service, served, ownOf);

  route(app, "get", at(""), {
    operation: `list${named}Transactions`,
    cache: service.cache,
    summary: "Transactions of the wallet, by default newest first",
    params,
    query: { ...api.historyQuery, ...page },
    answer: api.transaction.array(),
  }, async ({ params, query, context }) => {
    const [, wanted, own] = await Promise.all([
      served.require(params.walletId),
      historyQueryOf(service, query),
      ownOf(params.walletId),
    ]);
    if (wanted === undefined) return [];
    const form = query["simple-metadata"] ? "plain" : "tagged";
    const list = new JsonList();
    const next = await eachHistoryPage(
      service,
      params.walletId,
      wanted,
      (transactions, at) => list.add(transactions, (one) => transactionView(one, { ...at, networkId, form, own })),
    );
    // existing clients use max_count alone and ignore pages
    if (query.limit !== undefined) linkNext(context, next && { ...next });
    return context.body(list.toString(), 200, { "content-type": JSON_TYPE });
  });

  route(app, "get", at("/:transactionId"), {
    operation: `get${named}Transaction`,
    cache: service.cache,
    summary: "A transaction of the wallet",
    params: { walletId, transactionId },
    query: api.transactionQuery,
    answer: api.transaction,
    refusals: { 404: "`no_such_wallet`, `no_such_transaction`" },
  }, async ({ params, query }) => {
    const [, own] = await Promise.all([served.require(params.walletId), ownOf(params.walletId)]);
    return await shownTransaction(service, params.walletId, params.transactionId, {
      form: query["simple-metadata"] ? "plain" : "tagged",
      own,
    });
  });

  route(app, "delete", at("/:transactionId"), {
    operation: `delete${named}Transaction`,
    summary: "Forget a transaction that is not on the ledger",
    params: { walletId, transactionId },
    status: 204,
    refusals: {
      403: "`transaction_already_in_ledger`",
      404: "`no_such_wallet`, `no_such_transaction`",
    },
  }, async ({ params: { walletId: id, transactionId: hash } }) => {
    await served.require(id);
    const found = (await readOwnTransactions(service, id, [hash])).transactions.get(hash);
    if (found === undefined) throw noSuchTransaction(hash);
    if (found.status === "in_ledger") throw alreadyInLedger(hash);
    const answer = await ask({ kind: "transaction", id: hash }, { type: "FORGET", wallet: id });
    if (answer.ok) return;
    throw answer.error.code === "not_possible" ? noSuchTransaction(hash) : refusal(answer.error);
  });
}

const alreadyInLedger = (hash: string) =>
  new HttpFailure(
    403,
    "transaction_already_in_ledger",
    `The transaction with id: ${hash} cannot be forgotten as it is already in the ledger.`,
    { transaction_id: hash },
  );

/** The query for the index; undefined where no transaction can match. */
async function historyQueryOf(service: WalletService, query: HistoryParameters): Promise<HistoryQuery | undefined> {
  const { start, end, minWithdrawal, address, order, direction, status } = query;
  if (start !== undefined && end !== undefined && start > end) {
    throw new HttpFailure(
      400,
      "start_time_later_than_end_time",
      `The specified start time '${timeText(start)}' is later than the specified end time '${timeText(end)}'.`,
      { start_time: timeText(start), end_time: timeText(end) },
    );
  }
  if (minWithdrawal !== undefined && minWithdrawal < 1n) {
    throw new HttpFailure(400, "min_withdrawal_wrong", "The minimum withdrawal value must be at least 1 Lovelace.");
  }
  if (address !== undefined) requireNetwork(address, service.networkId);
  const eras = await service.eras();
  const from = start === undefined ? undefined : firstSlotFrom(eras, start);
  const to = end === undefined ? undefined : lastSlotUntil(eras, end);
  if (to !== undefined && to < 0) return undefined;
  const after = afterIn(query.after, HISTORY_PLACE);
  return {
    from,
    to,
    order,
    limit: query.limit ?? query.max_count,
    minWithdrawal,
    address: address?.hex,
    direction,
    status,
    after,
  };
}

type HistoryParameters = SchemaOutputs<typeof api.historyQuery & typeof page>;

/** The first slot that begins at a time or later; far beyond all blocks where the time is past the horizon. */
function firstSlotFrom(eras: Parameters<typeof slotAt>[0], ms: number): number {
  if (ms <= eras.systemStart) return 0;
  const slot = slotAt(eras, ms);
  if (!slot.ok) return Number.MAX_SAFE_INTEGER;
  const begins = timeAt(eras, slot.value);
  return begins.ok && begins.value < ms ? slot.value + 1 : slot.value;
}

/** The last slot that begins at a time or before; −1 before the chain. */
function lastSlotUntil(eras: Parameters<typeof slotAt>[0], ms: number): number {
  if (ms < eras.systemStart) return -1;
  const slot = slotAt(eras, ms);
  return slot.ok ? slot.value : Number.MAX_SAFE_INTEGER;
}
