/** The id of the request being served, available to all asynchronous work for it in this process. */
import { AsyncLocalStorage } from "node:async_hooks";

const storage = new AsyncLocalStorage<string>();

/** Longest request id accepted from a client. */
const LONGEST = 64;

/** The request id given by a client, or a new one when it is missing or not a plain token. */
export function asRequestId(given: string | null | undefined): string {
  return given && given.length <= LONGEST && /^[A-Za-z0-9._:-]+$/.test(given) ? given : crypto.randomUUID();
}

/** Runs work as part of a request. */
export function forRequest<T>(id: string, work: () => T): T {
  return storage.run(id, work);
}

/** Id of the request that the caller works for, if there is one. */
export function requestId(): string | undefined {
  return storage.getStore();
}
