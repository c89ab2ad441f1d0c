/** One protocol of a connection, used by one caller at a time; and waits that end with the caller's signal or the connection. */
import { fail, ok, type Result } from "#src/base/result.ts";
import { NodeError, type NodeFailure } from "#src/node/errors.ts";
import { aborted } from "#src/node/transport/channel.ts";
import type { Message, Speaker } from "#src/node/protocols/protocol.ts";

/** What a promise gives, unless one of the signals aborts before: then it throws `aborted`, or the signal's reason where that is a `NodeError`. */
export function until<T>(promise: Promise<T>, ...signals: readonly (AbortSignal | undefined)[]): Promise<T> {
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

/** Runs what throws `NodeError`s and gives a result. */
export async function attempt<T>(work: () => Promise<T>): Promise<Result<T, NodeFailure>> {
  try {
    return ok(await work());
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return fail(error.failure.code, error.failure.message, error.failure.details);
  }
}

/** Callers wait for each other, first come, first served. */
export class Turns {
  private last: Promise<void> = Promise.resolve();

  /** Waits for its turn; what it gives ends the turn. Throws as `until` does. */
  async enter(...signals: readonly (AbortSignal | undefined)[]): Promise<() => void> {
    let leave!: () => void;
    const mine = new Promise<void>((resolve) => leave = resolve);
    const before = this.last;
    this.last = before.then(() => mine);
    try {
      await until(before, ...signals);
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }
}

/** A client's side of a protocol, used in turns. */
export class Desk<S extends string, M extends Message> {
  private readonly turns = new Turns();

  constructor(readonly speaker: Speaker<S, M>, readonly ended: AbortSignal) {}

  /** Waits until nobody else uses the protocol. Throws `aborted`, and the reason when the connection ends. */
  enter(signal: AbortSignal | undefined): Promise<() => void> {
    return this.turns.enter(this.ended, signal);
  }

  /**
   * Asks and waits for the answer. When the signal aborts, `answer` throws at once; the answer still comes and is taken, which `settled`
   * tells: until then nobody may speak.
   */
  ask(message: M, signal: AbortSignal | undefined): { readonly answer: Promise<M>; readonly settled: Promise<void> } {
    this.speaker.send(message);
    const answer = this.speaker.receive();
    return { answer: until(answer, signal), settled: answer.then(() => {}, () => {}) };
  }
}
