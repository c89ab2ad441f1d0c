/** The service `watch`: transactions of blocks, chosen by a predicate. */
import type { watch } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { chainEvents } from "#src/devnet/serve/utxorpc/chainEvents.ts";
import { pointsOf } from "#src/devnet/serve/utxorpc/handlers/blocks.ts";
import type { Streaming } from "#src/devnet/serve/utxorpc/handlers/handler.ts";
import { judged } from "#src/devnet/serve/utxorpc/judged.ts";
import { transactionMessageOf } from "#src/devnet/serve/utxorpc/messages/transaction.ts";
import { transactionTest } from "#src/devnet/serve/utxorpc/patterns.ts";
import { resolveInputs } from "#src/devnet/serve/utxorpc/resolve.ts";
import { notFound, type Served } from "#src/devnet/serve/utxorpc/served.ts";

export interface WatchHandlers {
  readonly watchTx: Streaming<watch.WatchTxRequest, watch.WatchTxResponse>;
}

/** The handlers for a devnet. */
export function watchHandlers(served: Served): WatchHandlers {
  const { store, form, indexed } = served;
  return {
    watchTx: async function* ({ predicate, intersect }, signal) {
      const test = transactionTest(predicate);
      for await (const event of chainEvents(served, pointsOf(intersect), signal)) {
        if (!event) throw notFound("The chain has none of the blocks of intersect.");
        if (event.kind === "reset") continue;
        const { kind, block: { slot, hash, height, transactions }, bytes } = event;
        const resolved = await resolveInputs(store.sql, transactions, indexed);
        const chosen = transactions.filter((transaction) => test(judged(transaction, resolved)));
        for (const transaction of kind === "undo" ? chosen.toReversed() : chosen) {
          const message = transactionMessageOf(transactionCbor(transaction), resolved, form);
          if (!message) continue;
          yield {
            action: {
              case: kind,
              value: { chain: { case: "cardano", value: message }, block: { nativeBytes: bytes } },
            },
          };
        }
        if (kind === "apply" && chosen.length === 0) {
          const value = { slot: BigInt(slot), hash: fromHex(hash), height: BigInt(height) };
          yield { action: { case: "idle", value } };
        }
      }
    },
  };
}
