/**
 * `GET …/{walletId}/events`: a wallet's transactions as blocks bring them, as server-sent events.
 *
 * An event of the wallet's actor only triggers a read: transactions come from the history, after the last one that was
 * sent. So an event is never ahead of the other endpoints' answers, and a client that reconnects gets what it missed.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { readHistoryPage } from "#src/wallets/walletReads.ts";
import { walletId } from "#src/wallets/api/params.ts";
import { transactionQuery } from "#src/wallets/api/transactions.ts";
import { HttpFailure } from "#src/http/failure.ts";
import {
  admitReader,
  eventStream,
  eventText,
  givenPosition,
  KEEP_ALIVE_MS,
  lastEventId,
} from "#src/http/eventStream.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { type OwnParts, transactionView } from "#src/wallets/http/history.ts";
import type { ServedKind } from "#src/wallets/http/kinds.ts";
import { cursorText, readCursorText } from "#src/http/paging.ts";
import { blockView } from "#src/wallets/http/times.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import type { EventBatch } from "#src/runtime/events/eventLog.ts";
import { type Position, positionText } from "#src/runtime/events/position.ts";
import type { HistoryCursor, WalletTransaction } from "#src/wallets/index/types.ts";

/** Transactions that are read at a time. */
const AT_ONCE = 100;
/** The place before all transactions. */
const FIRST: HistoryCursor = { slot: -1, index: -1, hash: "" };

/** A place in a wallet's history, as cursors have it. */
export const HISTORY_PLACE = z.object({ slot: z.int(), index: z.int32(), hash: z.string() });

type HistoryRead = Awaited<ReturnType<typeof readHistoryPage>>;

/** Adds the stream for wallets of a kind. */
export function streamRoutes(
  app: OpenAPIHono,
  service: WalletService,
  served: ServedKind,
  ownOf: (id: string) => Promise<OwnParts>,
): void {
  const { events } = service;
  route(app, "get", `/${served.prefix}/:walletId/events`, {
    operation: `stream${served.named}Transactions`,
    summary: "New transactions of the wallet as server-sent events",
    description:
      "`event: transaction` has the transaction as data, in the form of the list. `event: rolled_back` has the tip after the rollback: " +
      "load the list again. To resume, send the last `id` as Last-Event-ID. Load the list after the stream is open.",
    params: { walletId },
    query: transactionQuery,
    headers: { "last-event-id": z.string().optional() },
    produces: "text/event-stream",
    answer: z.string(),
    refusals: { 409: "`restored`", 503: "`too_many_readers`" },
  }, async ({ params: { walletId: id }, query, context }) => {
    await served.require(id);
    admitReader(events);
    const form = query["simple-metadata"] ? "plain" as const : "tagged" as const;
    const last = lastEventId(context);
    const lastPlace = last === undefined ? undefined : await placeIn(last, service);
    let place = lastPlace?.place;
    const view = async (one: WalletTransaction, height: number) => {
      const eras = await service.eras(one.slot);
      return transactionView(one, { eras, networkId: service.networkId, height, form, own: await ownOf(id) });
    };
    const ended = new AbortController();
    const batches = events.follow(lastPlace?.position ?? "now", { kind: served.actor, id }, ended.signal);
    return eventStream<EventBatch>(context, batches, ended, {
      keepAliveMs: KEEP_ALIVE_MS,
      id: ({ position }) => idOf(position, place ?? FIRST),
      written: async ({ events: some, reset, position }) => {
        // read once the stream is open, so that no transaction is missed in between
        place ??= await newest(service, id);
        const types = new Set(some.map(({ transition }) => transition.type));
        let text = "";
        if (reset || types.has("ROLLED_BACK")) {
          const left = await newest(service, id);
          if (isAfter(place, left)) place = left;
          const { at } = await readCursor(service.store.sql);
          const tip = blockView(await service.eras(at.slot), at);
          text += eventText("rolled_back", idOf(position, place), { tip });
        }
        if (types.size === 0 && !reset) return text;
        for (let after: HistoryCursor | undefined = place; after !== undefined;) {
          const page: HistoryRead = await readHistoryPage(service, id, { order: "ascending", after, limit: AT_ONCE });
          const { transactions, height } = page;
          for (const one of transactions) {
            if (one.status !== "in_ledger") continue;
            place = { slot: one.slot, index: one.transaction.index, hash: one.hash };
            text += eventText("transaction", idOf(position, place), await view(one, height));
          }
          after = page.next;
        }
        return text;
      },
    });
  });
}

const isAfter = (a: HistoryCursor, b: HistoryCursor) => a.slot > b.slot || (a.slot === b.slot && a.index > b.index);

/** The place of a wallet's newest transaction of the ledger. */
async function newest(service: WalletService, id: string): Promise<HistoryCursor> {
  const { transactions } = await readHistoryPage(service, id, { limit: AT_ONCE });
  const one = transactions.find(({ status }) => status === "in_ledger");
  return one === undefined ? FIRST : { slot: one.slot, index: one.transaction.index, hash: one.hash };
}

/** An event id: the position in the order of transitions, and the place in the wallet's history. */
function idOf(position: Position, { slot, index, hash }: HistoryCursor): string {
  return cursorText({ position: positionText(position), slot, index, hash });
}

async function placeIn(text: string, { events }: WalletService): Promise<{ position: Position; place: HistoryCursor }> {
  const read = readCursorText(text, HISTORY_PLACE.extend({ position: z.string() }), notGiven);
  const position = await givenPosition(events, read.position, null);
  if (position === undefined) throw notGiven();
  return { position, place: { slot: read.slot, index: read.index, hash: read.hash } };
}

const notGiven = () => new HttpFailure(400, "bad_request", "Last-Event-ID is not an id of this stream.");
