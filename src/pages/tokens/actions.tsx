/// <reference lib="dom" />
/** Actions on tokens: each builds a transaction, which the reader checks and signs. */
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { confirm } from "../kit/Dialog.tsx";
import { carry } from "./carry.tsx";

export type ChangeType = "insert" | "update" | "delete";

/** Bytes that the reader entered: as text, or in hexadecimal. */
export const entered = (text: string, hex: boolean): Uint8Array => hex ? fromHex(text.trim()) : utf8(text);

/** Creates a token. */
export const boot = (): Promise<boolean> =>
  carry({
    title: "Boot a token",
    build: (service, { address }, options) => service.boot(address, options),
  });

/** A change that the reader asks for; all bytes in hexadecimal. */
export interface WantedChange {
  readonly type: ChangeType;
  readonly key: string;
  readonly oldValue: string;
  readonly newValue: string;
}

export function requestChange(tokenId: string, { type, ...hex }: WantedChange): Promise<boolean> {
  const [key, before, after] = [fromHex(hex.key), fromHex(hex.oldValue), fromHex(hex.newValue)];
  return carry({
    title: `Request: ${type} a fact`,
    build: (service, { address }, options) => {
      // the reader sees the warnings before the signature
      const shown = { ...options, force: true };
      return type === "insert"
        ? service.insert(address, tokenId, key, after, shown)
        : type === "update"
        ? service.update(address, tokenId, key, before, after, shown)
        : service.delete(address, tokenId, key, before, shown);
    },
  });
}

/** Applies requests; all that fit where none are named. */
export const apply = (tokenId: string, requests: readonly string[]): Promise<boolean> =>
  carry({
    title: requests.length > 0 ? "Apply the selected requests" : "Apply all requests that fit",
    build: (service, { address }, options) => service.apply(address, tokenId, requests, options),
  });

/** Refuses requests: their deposits return, and their changes are not made. */
export const refuse = (tokenId: string, requests: readonly string[]): Promise<boolean> =>
  carry({
    title: requests.length === 1 ? "Refuse a request" : `Refuse ${requests.length} requests`,
    build: (service, { address }, options) =>
      service.apply(address, tokenId, [], { ...options, refuse: requests, onlyNamed: true }),
  });

export const takeBack = (request: string): Promise<boolean> =>
  carry({
    title: "Take a request back",
    build: (service, { address }, options) => service.retract(address, request, options),
  });

export const transfer = (tokenId: string, to: string): Promise<boolean> =>
  carry({
    title: "Transfer the token",
    build: (service, { address }, options) => service.transfer(address, tokenId, to, options),
  });

export async function end(tokenId: string): Promise<boolean> {
  const sure = await confirm({
    title: "End this token?",
    text: (
      <p>
        The token is burnt and its facts can no longer be proven against the ledger. This cannot be undone. Open
        requests can then only be taken back by their requesters.
      </p>
    ),
    verb: "End the token",
    danger: true,
  });
  if (!sure) return false;
  return await carry({
    title: "End the token",
    build: (service, { address }, options) => service.end(address, tokenId, options),
  });
}
