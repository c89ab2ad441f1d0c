/**
 * One client: the state of its four protocols, and its requests as they come.
 *
 * Answers of one protocol have the order of their requests; between protocols there is no order, so that a request that
 * waits for a block holds up no query. What waits is bounded by the transport, which knows its bytes.
 */
import { type Log, reason } from "#src/base/log.ts";
import {
  type Answer,
  answerText,
  badRequestText,
  internalErrorText,
  LOST_REASON,
  readRequest,
} from "#src/devnet/serve/ogmios/envelope.ts";
import { Lane } from "#src/devnet/serve/ogmios/lane.ts";
import { DevnetLost, type Prepared, type Protocol } from "#src/devnet/serve/ogmios/method.ts";
import { OgmiosFormError } from "#src/ogmios/form.ts";

/** The way back to a client. */
export interface Transport {
  /** Sends an answer; `failed` says whether it is an error. */
  send(text: string, failed: boolean): void;
  /** Undefined while answers can be sent; else resolves when they can, or when the client has gone. */
  room(): Promise<void> | undefined;
  /** Called after a request was answered. */
  answered(): void;
  /** Ends the connection. */
  end(reason: string): void;
}

/** What sessions count. */
export interface SessionCounts {
  totalMessages: number;
  /** Requests that no protocol took. */
  totalUnrouted: number;
}

/** Bytes that a waiting request holds beside its text. */
const OVERHEAD = 256;

/** Makes the protocols of a client; the signal aborts when the client has gone. */
export type OpenProtocols = (signal: AbortSignal) => readonly Protocol[];

export class Session {
  readonly #ended = new AbortController();
  readonly #protocols: readonly { readonly protocol: Protocol; readonly lane: Lane }[];
  /** Bytes of requests without an answer. */
  #waiting = 0;

  constructor(
    open: OpenProtocols,
    private readonly transport: Transport,
    private readonly counts: SessionCounts,
    private readonly log: Log,
  ) {
    const done = (bytes: number) => {
      this.#waiting -= bytes;
      transport.answered();
    };
    this.#protocols = open(this.#ended.signal).map((protocol) => ({
      protocol,
      lane: new Lane(() => transport.room(), done),
    }));
  }

  /** Bytes of requests without an answer. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Takes a request. */
  receive(text: string): void {
    if (this.#ended.signal.aborted) return;
    this.counts.totalMessages++;
    const read = readRequest(text);
    if (!read.ok) return this.#refuse(read.error);
    const request = read.value;
    const { method, id } = request;
    const found = this.#protocols.find(({ protocol }) => Object.hasOwn(protocol.methods, method));
    const reading = found?.protocol.methods[method];
    if (!found || !reading) {
      return this.#refuse({ why: "unknown method in 'method' (beware names are case-sensitive)", id });
    }
    let prepared: Prepared;
    try {
      prepared = reading(request.params);
    } catch (error) {
      if (!(error instanceof OgmiosFormError)) return this.#failed(method, id, error);
      return this.#refuse({ why: error.message, id });
    }
    if ("now" in prepared) return this.#send(method, id, prepared.now);
    const { run } = prepared;
    const bytes = OVERHEAD + text.length;
    this.#waiting += bytes;
    found.lane.add({ bytes, run: () => this.#answer(method, id, run) });
  }

  /** Ends what is under way. */
  close(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    for (const { protocol, lane } of this.#protocols) {
      lane.clear();
      protocol.close?.();
    }
  }

  async #answer(
    method: string,
    id: string,
    run: Extract<Prepared, { readonly run: unknown }>["run"],
  ): Promise<void> {
    try {
      this.#send(method, id, await run());
    } catch (error) {
      this.#failed(method, id, error);
    }
  }

  #send(method: string, id: string, answer: Answer): void {
    if (!this.#ended.signal.aborted) this.transport.send(answerText({ method, id }, answer), "error" in answer);
  }

  #refuse(refused: { readonly why: string; readonly id: string }): void {
    this.counts.totalUnrouted++;
    this.transport.send(badRequestText(refused), true);
  }

  #failed(method: string, id: string, error: unknown): void {
    if (this.#ended.signal.aborted) return;
    if (error instanceof DevnetLost) return this.transport.end(LOST_REASON);
    this.log.warn("a request was not answered", { method, reason: reason(error) });
    this.transport.send(internalErrorText(id), true);
  }
}
