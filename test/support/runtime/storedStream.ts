/** What the stream of transitions holds at a nats-server. */
import type { JetStreamManager } from "nats";
import type { TransitionEvent } from "#src/operators/api/events.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { STREAM } from "#src/runtime/events/jetStream.ts";

/** A message of the stream. */
export interface StoredMessage {
  readonly subject: string;
  readonly event: TransitionEvent;
}

/** The messages in the stream, in its order; rejects while the stream does not answer. */
export async function storedMessages({ streams }: JetStreamManager): Promise<StoredMessage[]> {
  const { state: { messages, first_seq: first } } = await streams.info(STREAM);
  const numbers = Array.from({ length: messages }, (_, i) => first + i);
  return await mapParallel(numbers, 64, async (seq) => {
    const message = await streams.getMessage(STREAM, { seq });
    return { subject: message.subject, event: message.json<TransitionEvent>() };
  });
}
