/**
 * Queries of the network and of the ledger's state: of the state that was acquired, or of the tip.
 *
 * An acquired state is released after a time without a query; then queries are answered with an error until the client
 * acquires or releases.
 */
import type { Point } from "#src/cardano/block.ts";
import type { AcquiredState, AcquiredStates } from "#src/devnet/serve/acquiredStates.ts";
import { StateGone } from "#src/devnet/serve/acquiredStates.ts";
import type { Answer } from "#src/devnet/serve/ogmios/envelope.ts";
import type { Method, Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { ledgerQueries, type LedgerQuery, type QueriedDevnet } from "#src/devnet/serve/ogmios/queries.ts";
import { ogmiosError } from "#src/ogmios/errors.ts";
import { pointJson, readPoint } from "#src/ogmios/values.ts";

const NOT_ON_CHAIN = "Acquired point no longer exist.";
const TOO_OLD = "Acquired point is now too old.";

/** The queries of a client. */
export function ledgerStateQueries(devnet: QueriedDevnet, states: Pick<AcquiredStates, "acquire">): Protocol {
  let held: AcquiredState | undefined;
  const release = () => {
    held?.release();
    held = undefined;
  };

  const acquireLedgerState = async (point: Point): Promise<Answer> => {
    release();
    const acquired = await states.acquire(point);
    if (!acquired.ok) {
      return { error: ogmiosError(2000, "Failed to acquire requested point.", reasonOf(acquired.error)) };
    }
    held = acquired.value;
    return { result: { acquired: "ledgerState", point: pointJson(point) } };
  };

  const query = async (ask: LedgerQuery): Promise<Answer> => {
    if (held) return await answerOf(held, ask);
    const acquired = await states.acquire("tip");
    if (!acquired.ok) return expired(reasonOf(acquired.error));
    try {
      return await answerOf(acquired.value, ask);
    } finally {
      acquired.value.release();
    }
  };

  const queries = Object.entries(ledgerQueries(devnet)).map(([method, read]): [string, Method] => [
    method,
    (params) => {
      const ask = read(params);
      return { run: () => query(ask) };
    },
  ]);
  return {
    methods: {
      ...Object.fromEntries(queries),
      acquireLedgerState: ({ point }) => {
        const read = readPoint(point);
        return { run: () => acquireLedgerState(read) };
      },
      releaseLedgerState: () => ({
        run: async () => {
          release();
          return { result: { released: "ledgerState" } };
        },
      }),
    },
    close: release,
  };
}

async function answerOf(state: AcquiredState, ask: LedgerQuery): Promise<Answer> {
  try {
    return await ask(state);
  } catch (error) {
    if (error instanceof StateGone) return expired(NOT_ON_CHAIN);
    throw error;
  }
}

function expired(reason: string): Answer {
  return { error: ogmiosError(2003, "Cannot perform query from previously acquired point.", reason) };
}

function reasonOf({ code, message }: { readonly code: string; readonly message: string }): string {
  if (code === "point_too_old") return TOO_OLD;
  return code === "point_not_on_chain" ? NOT_ON_CHAIN : message;
}
