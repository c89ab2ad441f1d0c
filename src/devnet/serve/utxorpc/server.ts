/** The services on a port, in gRPC, gRPC-Web and Connect. */
import { Code, ConnectError, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { type Log, reason } from "#src/base/log.ts";
import { initHash } from "#src/cardano/hash.ts";
import { RecentBlocks } from "#src/devnet/serve/utxorpc/recentBlocks.ts";
import type { Streaming, Unary } from "#src/devnet/serve/utxorpc/handlers/handler.ts";
import { queryHandlers } from "#src/devnet/serve/utxorpc/handlers/query.ts";
import { submitHandlers } from "#src/devnet/serve/utxorpc/handlers/submit.ts";
import { syncHandlers } from "#src/devnet/serve/utxorpc/handlers/sync.ts";
import { watchHandlers } from "#src/devnet/serve/utxorpc/handlers/watch.ts";
import { asBigIntegers, asIntegers, asOneQuantity, type Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { alpha, alphaWithIntegers, beta, type Services } from "#src/devnet/serve/utxorpc/messages/versions.ts";
import { exhausted, type Served } from "#src/devnet/serve/utxorpc/served.ts";
import { listenToBoth, type Port } from "#src/devnet/serve/utxorpc/transport/listener.ts";
import { routing } from "#src/devnet/serve/utxorpc/transport/routing.ts";

/** Bytes of a message that are read: far more than any transaction has. */
const MOST_READ = 2_000_000;
/** Longest time that a client may set for an answer or a stream, in ms. */
const MOST_TIMEOUT_MS = 24 * 3_600_000;
/** Streams that may be open at once. */
const MOST_STREAMS = 500;

/** Serves a devnet at an address, until it is stopped. Rejects with code `EADDRINUSE` where the port is taken. */
export async function serveUtxorpc(
  of: Omit<Served, "form" | "recent">,
  integers: boolean,
  address: { readonly host: string; readonly port: number },
): Promise<Port> {
  await initHash();
  const ending = new AbortController();
  const router = createConnectRouter({
    acceptCompression: [compressionGzip, compressionBrotli],
    readMaxBytes: MOST_READ,
    maxTimeoutMs: MOST_TIMEOUT_MS,
    shutdownSignal: ending.signal,
  });
  const recent = new RecentBlocks();
  const guard = new Guard(of.log);
  const serve = (services: Services, form: Form, lists: boolean) => {
    const served: Served = { ...of, form, recent };
    const { submitTx, evalTx, ...submit } = submitHandlers(served);
    const handlers = {
      query: queryHandlers(served),
      submit: {
        ...submit,
        submitTx: async (...request: Parameters<typeof submitTx>) => {
          const { ref = [] } = await submitTx(...request);
          return { ref: lists ? ref : ref[0] };
        },
        evalTx: async (...request: Parameters<typeof evalTx>) => {
          const { report = [] } = await evalTx(...request);
          return { report: lists ? report : report[0] };
        },
      },
      sync: syncHandlers(served),
      watch: watchHandlers(served),
    };
    for (const name of ["query", "submit", "sync", "watch"] as const) {
      router.service(services[name], guard.all(handlers[name]) as never);
    }
  };
  if (integers) serve(alphaWithIntegers(), asIntegers, true);
  else serve(alpha, asBigIntegers, false);
  serve(beta(), asOneQuantity, false);
  const port = await listenToBoth(address, routing(router, of.log));
  return {
    ...port,
    stop: async () => {
      ending.abort(new ConnectError("The devnet stops.", Code.Unavailable));
      await port.stop();
    },
  };
}

type Handler = Unary<never, unknown> | Streaming<never, unknown>;

/** What all handlers have in common: deadlines, limits, and no answer with the cause of a fault. */
class Guard {
  #streams = 0;

  constructor(private readonly log: Log) {}

  /** Handlers in the form of the library. */
  all(handlers: object) {
    return Object.fromEntries(
      Object.entries(handlers).map(([name, handler]: [string, Handler]) => [
        name,
        (request: never, { signal }: HandlerContext) => {
          const answer = handler(request, signal);
          return Symbol.asyncIterator in answer ? this.#stream(name, answer, signal) : this.#one(name, answer, signal);
        },
      ]),
    );
  }

  async #one<T>(name: string, answer: Promise<T>, signal: AbortSignal): Promise<T> {
    let left = () => {};
    const end = new Promise<never>((_, reject) => {
      left = () => reject(signal.reason);
      signal.addEventListener("abort", left, { once: true });
    });
    try {
      return await Promise.race([answer, end]);
    } catch (error) {
      throw this.#answerOf(name, error);
    } finally {
      signal.removeEventListener("abort", left);
    }
  }

  async *#stream<T>(name: string, answer: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
    if (this.#streams >= MOST_STREAMS) throw exhausted(`${MOST_STREAMS} streams are open; try again later.`);
    this.#streams++;
    try {
      yield* answer;
      signal.throwIfAborted();
    } catch (error) {
      throw this.#answerOf(name, error);
    } finally {
      this.#streams--;
    }
  }

  #answerOf(name: string, error: unknown): ConnectError {
    if (error instanceof ConnectError) return error;
    this.log.warn("a request of UTxO RPC failed", { method: name, reason: reason(error) });
    return new ConnectError("The request could not be answered; try again.", Code.Internal);
  }
}
