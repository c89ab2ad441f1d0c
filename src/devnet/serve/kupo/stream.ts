/**
 * Answers of any size. A small one is a text; a large one is sent while it is made, no faster than the client reads it,
 * so that its memory is bounded.
 */
import { inTime } from "#src/base/clock.ts";

/** Characters up to which an answer is one text. */
const WHOLE = 262_144;

/** Milliseconds that a client may take for a part: what makes the answer holds a connection to the database. */
const STALLED_MS = 30_000;

/** Milliseconds that a whole answer may take. */
const LONGEST_MS = 600_000;

/** Sends a part of the answer; resolves once there is room for more. */
export type Emit = (part: string) => Promise<void>;

/**
 * The body of an answer that `produce` makes of parts. A fault of `produce` rejects as long as nothing is sent; then it
 * ends the body with an error, by which the client knows that it is incomplete.
 */
export function bodyOf(
  produce: (emit: Emit) => Promise<void>,
  { stalledMs = STALLED_MS, longestMs = LONGEST_MS } = {},
): Promise<string | ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  const until = performance.now() + longestMs;
  const parts: string[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
    const flush = async (to: WritableStreamDefaultWriter<Uint8Array>) => {
      const left = until - performance.now();
      const ready = left > 0 && await inTime(to.ready.then(() => true), Math.min(stalledMs, left));
      if (!ready) throw new Error("the client does not read its answer in time");
      // its failure is that of the next `ready`
      to.write(encoder.encode(parts.splice(0).join(""))).catch(() => {});
    };
    const emit: Emit = async (part) => {
      parts.push(part);
      size += part.length;
      if (size <= WHOLE) return;
      if (writer === undefined) {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
        writer = writable.getWriter();
        // also where nothing waits for it
        writer.closed.catch(() => {});
        resolve(readable);
      }
      await flush(writer);
    };
    produce(emit).then(async () => {
      if (writer === undefined) return resolve(parts.join(""));
      await flush(writer);
      await writer.close();
    }).catch((error) => {
      reject(error);
      void writer?.abort(error).catch(() => {});
    });
  });
}
