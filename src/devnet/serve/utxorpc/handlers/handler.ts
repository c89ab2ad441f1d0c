/** Types of the functions that answer requests. */
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

/** Answers a request. Throws `ConnectError`; the signal aborts at the client's deadline, or when it leaves. */
export type Unary<Request, Answer> = (request: Request, signal: AbortSignal) => Promise<Draft<Answer>>;

/** Answers a request with a stream, which ends when its signal aborts. */
export type Streaming<Request, Answer> = (request: Request, signal: AbortSignal) => AsyncIterable<Draft<Answer>>;
