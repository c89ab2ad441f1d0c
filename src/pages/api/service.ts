/// <reference lib="dom" />
/** The document and the requests of the API page. A token stays in this tab and goes into the header alone. */
import { signal } from "@preact/signals";
import { call } from "#src/client/http.ts";
import type { ApiDocument } from "./document.ts";
import type { ApiRequest } from "./request.ts";
import { setting } from "../kit/setting.ts";
import { keepInTab, keptInTab } from "../kit/tabStorage.ts";

const TOKEN = setting("token-name") ?? "arbor-api-token";

/** The bearer token of this tab; empty where there is none. */
export const token = signal(keptInTab(TOKEN) ?? "");

/** Keeps a token for this tab; the empty one forgets it. */
export function keepToken(text: string): void {
  token.value = text;
  keepInTab(TOKEN, text === "" ? undefined : text);
}

/** URL of the document, which this page shows. */
export const DOCUMENT = setting("document") ?? "/openapi.json";

/** Reads the document; throws an `ApiError`. */
export function readDocument(signal?: AbortSignal): Promise<ApiDocument> {
  const headers = token.peek() === "" ? {} : { authorization: `Bearer ${token.peek()}` };
  return call<ApiDocument>("", "GET", DOCUMENT, undefined, signal, headers);
}

/** Characters of an answer that are shown. */
const SHOWN = 200_000;

export interface Answered {
  readonly status: number;
  readonly type: string;
  /** Milliseconds until the headers came. */
  readonly ms: number;
  readonly text: string;
  /** Whether the body has ended; a stream of events goes on. */
  readonly ended: boolean;
  /** Whether the answer is longer than what is shown. */
  readonly cut: boolean;
}

/** Sends a request and reports the answer as it grows, until it ends, is too long to show, or is aborted. */
export async function send(
  request: ApiRequest,
  signal: AbortSignal,
  report: (answer: Answered) => void,
): Promise<void> {
  const { url, method, headers, body } = request;
  const began = performance.now();
  const response = await fetch(url, { method, headers, signal, ...(body === undefined ? {} : { body }) });
  const shown = {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    ms: Math.round(performance.now() - began),
  };
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value = "" } = await reader?.read() ?? { done: true };
    text += value;
    const cut = text.length > SHOWN;
    report({ ...shown, text: text.slice(0, SHOWN), ended: done || cut, cut });
    if (done) return;
    if (cut) return await reader?.cancel();
  }
}
