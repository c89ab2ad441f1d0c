/// <reference lib="dom" />
/**
 * Requests to the service. The token, where the service requires one, stays in this tab and goes nowhere but into the
 * header.
 */
import { effect, signal } from "@preact/signals";
import { ApiError, call, type Query, queryText } from "#src/client/http.ts";
import { report } from "../kit/connection.ts";
import { keepInTab, keptInTab } from "../kit/tabStorage.ts";

const TOKEN = "arbor-operator-token";

/** Whether the service requires a token that this tab has not: none was entered, or the entered one was rejected. */
export const locked = signal<"no" | "required" | "rejected">("no");
const part = Symbol();
effect(() => report(part, locked.value === "no" ? undefined : "locked"));

/** Keeps a token for this tab, and lets the page read with it. A header cannot carry what is not ASCII. */
export function keepToken(token: string): void {
  if (!/^[ -~]+$/.test(token)) {
    locked.value = "rejected";
    return;
  }
  keepInTab(TOKEN, token);
  locked.value = "no";
}

/** Called when the service refuses a request for want of the right token. */
export function unauthorized(): void {
  // Requests of one page are refused together: the first one has shown the form.
  if (locked.peek() !== "no") return;
  const had = keptInTab(TOKEN) !== undefined;
  keepInTab(TOKEN, undefined);
  locked.value = had ? "rejected" : "required";
}

export function authorization(): Record<string, string> {
  const token = keptInTab(TOKEN);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

async function watched<T>(answer: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401 && !signal?.aborted) unauthorized();
    throw error;
  }
}

/** Reads JSON; throws an `ApiError`. */
export function get<T>(path: string, signal?: AbortSignal, query: Query = {}): Promise<T> {
  return watched(call<T>("", "GET", path + queryText(query), undefined, signal, authorization()), signal);
}

/** Changes something; throws an `ApiError`. */
export function send<T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T> {
  return watched(call<T>("", method, path, body, undefined, { ...authorization(), "arbor-operator": "1" }));
}

/** An answer with less than what was wanted, as an error to show. */
export const lessThanWanted = (sentence: string) => new ApiError(200, "", sentence);
