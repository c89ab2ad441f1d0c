/// <reference lib="dom" />
/** The service that serves this page: its answers, the module that verifies and signs, and how slots map to time. */
import { signal } from "@preact/signals";
import type { z } from "zod";
import type * as factApi from "#src/tokens/api/tokenFacts.ts";
import type * as api from "#src/tokens/api/tokens.ts";
import { fromHex, isHex, toHex, utf8 } from "#src/base/bytes.ts";
import { answer, ApiError, call, refusal, unreachable } from "#src/client/http.ts";
import { messageWithReasons } from "#src/client/requestReasons.ts";
import { shortId } from "../kit/Id.tsx";
import { explorerAt } from "../kit/sites.ts";

export type Token = z.output<typeof api.token>;
export type Tokens = z.output<typeof api.tokens>;
export type TokenLine = Tokens["tokens"][number];
export type OpenRequests = z.output<typeof factApi.openRequests>;
export type OpenRequest = z.output<typeof factApi.openRequest>;
export type Timeline = z.output<typeof factApi.timeline>;
export type PastRequest = z.output<typeof factApi.pastRequest>;
export type FactHistory = z.output<typeof factApi.factHistory>;
export type Client = typeof import("#src/client/browser.ts");

/** `status` of an error that is of this page or of a wallet, and not an answer of the service. */
export const LOCAL = -1;

let loading: Promise<Client> | undefined;

/** The module for verification and signing, loaded when it is first needed. Throws an `ApiError`. */
export function client(): Promise<Client> {
  loading ??= import("#src/client/browser.ts").catch(() => {
    loading = undefined;
    throw new ApiError(LOCAL, "no_client", "The module for verification and signing could not be loaded. Try again.");
  });
  return loading;
}

/** An error with the reason for each request that it names. */
export function withReasons(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== "requests_fail") return error;
  return new ApiError(error.status, error.code, messageWithReasons(error, (request) => shortId(request, 4)));
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  call<T>(location.origin, "GET", path, undefined, signal);

/**
 * The list of tokens, read every few seconds. It has no integer beyond 2^53, so the browser's own parser reads it, which takes
 * a tenth of the time: 1,000 tokens are a megabyte.
 */
export async function getTokens(signal: AbortSignal): Promise<Tokens> {
  let response: Response;
  let text: string;
  try {
    response = await fetch("/tokens", { signal });
    text = await response.text();
  } catch (error) {
    throw unreachable(location.origin, error);
  }
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ApiError(response.status, "malformed_answer", "The service's list of tokens is not JSON.");
  }
  if (!response.ok) throw refusal(response.status, json, text);
  return json;
}

/** A page of a list, and the path of the next one. */
export interface ListPage<T> {
  readonly value: T;
  readonly next: string | undefined;
}

/** Reads a page of a list by its path. */
export async function getPage<T>(path: string, signal?: AbortSignal): Promise<ListPage<T>> {
  const { json, headers } = await answer<T>(location.origin, "GET", path, undefined, signal);
  return { value: json, next: /<(\/[^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] };
}

interface Config {
  readonly network: { readonly id: number };
  readonly slots: { readonly zeroSlot: number; readonly zeroTime: number; readonly slotLength: number };
}

/** The service's configuration, once it is known. */
export const config = signal<Config | undefined>(undefined);
let reading: Promise<Config> | undefined;

/** Reads the configuration once. */
export function readConfig(): Promise<Config> {
  reading ??= get<Config>("/config").then((found) => config.value = found, (error) => {
    reading = undefined;
    throw error;
  });
  return reading;
}

/** When a slot begins, in milliseconds since 1970; undefined until the configuration is known. */
export function slotTime(slot: number): number | undefined {
  const slots = config.value?.slots;
  return slots && slots.zeroTime + (slot - slots.zeroSlot) * slots.slotLength;
}

/** Address of a transaction in the explorer; undefined where there is none. */
export const explorerTx = (hash: string): string | undefined => explorerAt(`/tx/${hash}`);

/** Address of an address in the explorer. */
export const explorerAddress = (address: string): string | undefined => explorerAt(`/address/${address}`);

/** Where the explorer pays test ada to an address. */
export const faucetPage = (address: string): string | undefined => explorerAt(`/tools?to=${address}`);

/** Whether the reader typed bytes, after `0x`. */
export const isBytes = (text: string): boolean => /^0x/i.test(text.trim());

/** A key that the reader typed, as bytes in hexadecimal: text, or bytes after `0x`. Undefined for `0x` and no hexadecimal. */
export function typedHex(text: string): string | undefined {
  const digits = /^0x(.*)$/i.exec(text.trim())?.[1];
  if (digits === undefined) return toHex(utf8(text));
  return isHex(digits) ? toHex(fromHex(digits)) : undefined;
}
