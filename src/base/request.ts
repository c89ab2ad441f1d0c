/** The id of the request that is being served, wherever the work for it has got to in this process. */
import { AsyncLocalStorage } from "node:async_hooks";

const storage = new AsyncLocalStorage<string>();

/** Longest id of a request that is taken from outside. */
const LONGEST = 64;

/** A request id as a client gave it, or a new one where that is missing or no plain token. */
export function asRequestId(given: string | null | undefined): string {
  return given && given.length <= LONGEST && /^[A-Za-z0-9._:-]+$/.test(given) ? given : crypto.randomUUID();
}

/** Does work for a request. */
export function forRequest<T>(id: string, work: () => T): T {
  return storage.run(id, work);
}

/** Id of the request that this is done for, if it is done for one. */
export function requestId(): string | undefined {
  return storage.getStore();
}
