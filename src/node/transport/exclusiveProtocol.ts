/** Exclusive use of a connection's protocol by one caller at a time, and waits that end with a signal. */
import { ok, type Result } from "#src/base/result.ts";
import { NodeError, type NodeFailure } from "#src/node/errors.ts";
import { aborted } from "#src/node/transport/channel.ts";
import type { Message, Speaker } from "#src/node/protocols/protocol.ts";

/**
 * Awaits a promise until one of the signals aborts; then throws the signal's reason if that is a `NodeError`, else
 * `aborted`.
 */
function untilAborted<T>(promise: Promise<T>, ...signals: readonly (AbortSignal | undefined)[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      for (const signal of signals) signal?.removeEventListener("abort", abort);
    };
    const abort = () => {
      stop();
      const reason = signals.find((signal) => signal?.aborted)?.reason;
      reject(reason instanceof NodeError ? reason : aborted());
    };
    for (const signal of signals) signal?.addEventListener("abort", abort);
    promise.then((value) => {
      stop();
      resolve(value);
    }, (error) => {
      stop();
      reject(error);
    });
    if (signals.some((signal) => signal?.aborted)) abort();
  });
}

/** Runs work that throws `NodeError`s, and gives a result. */
export async function toResult<T>(work: () => Promise<T>): Promise<Result<T, NodeFailure>> {
  try {
    return ok(await work());
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { ok: false, error: error.failure };
  }
}

/** A mutex: callers wait for one another, in order. */
export class Mutex {
  private last: Promise<void> = Promise.resolve();

  /** Waits for the mutex; the result releases it. Throws as `untilAborted` does. */
  async enter(...signals: readonly (AbortSignal | undefined)[]): Promise<() => void> {
    let leave!: () => void;
    const mine = new Promise<void>((resolve) => leave = resolve);
    const before = this.last;
    this.last = before.then(() => mine);
    try {
      await untilAborted(before, ...signals);
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }
}

/** A client's side of a protocol, used by one caller at a time. */
export class ExclusiveProtocol<S extends string, M extends Message> {
  private readonly turns = new Mutex();

  constructor(readonly speaker: Speaker<S, M>, readonly ended: AbortSignal) {}

  /** Waits for exclusive use of the protocol. Throws `aborted`, and the reason when the connection ends. */
  enter(signal: AbortSignal | undefined): Promise<() => void> {
    return this.turns.enter(this.ended, signal);
  }

  /**
   * Sends a request and waits for the answer. If the signal aborts, `answer` rejects at once; the answer still arrives
   * and is received, after which `settled` resolves: until then no other request may be sent.
   */
  request(
    message: M,
    signal: AbortSignal | undefined,
  ): { readonly answer: Promise<M>; readonly settled: Promise<void> } {
    this.speaker.send(message);
    const answer = this.speaker.receive();
    return { answer: untilAborted(answer, signal), settled: answer.then(() => {}, () => {}) };
  }
}
