/** Chain-sync: the server sends the chain from a point on, block by block, including rollbacks. */
import { equalBytes } from "#src/base/bytes.ts";
import type { Point, Tip } from "#src/cardano/block.ts";
import { as, CborError, decode, encode, raw } from "#src/cardano/cbor.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import {
  embeddedHead,
  messageParts,
  pointValue,
  readEmbedded,
  readPoint,
  readTip,
  requireCount,
  tipValue,
} from "#src/node/protocols/values.ts";

/** Messages of chain-sync; a `block` is the bytes of `[era tag, block]`. */
export type ChainSyncMessage =
  | { readonly type: "requestNext" }
  | { readonly type: "awaitReply" }
  | { readonly type: "rollForward"; readonly block: Uint8Array; readonly tip: Tip }
  | { readonly type: "rollBackward"; readonly point: Point; readonly tip: Tip }
  | { readonly type: "findIntersect"; readonly points: readonly Point[] }
  | { readonly type: "intersectFound"; readonly point: Point; readonly tip: Tip }
  | { readonly type: "intersectNotFound"; readonly tip: Tip }
  | { readonly type: "done" };

/** Client's turn: `idle`. In `next` the server may say that there is no block yet; in `must` it has said so. */
export type ChainSyncState = "idle" | "next" | "must" | "intersecting" | "done";

const MIB = 2 ** 20;

/**
 * The codec of chain-sync for one connection: a table of states and messages, in one function because decoding uses the
 * last tip, which seldom changes while a client catches up.
 */
export function chainSync(): Protocol<ChainSyncState, ChainSyncMessage> {
  let read: { readonly bytes: Uint8Array; readonly tip: Tip } | undefined;
  let written: { readonly bytes: Uint8Array; readonly tip: Tip } | undefined;

  const tipBytes = (tip: Tip): Uint8Array => {
    if (written?.tip !== tip) written = { tip, bytes: encode(tipValue(tip)) };
    return written.bytes;
  };

  return {
    name: "chain-sync",
    id: 5,
    initial: "idle",
    agency: { idle: "client", next: "server", must: "server", intersecting: "server", done: "none" },
    transitions: {
      idle: { requestNext: "next", findIntersect: "intersecting", done: "done" },
      next: { awaitReply: "must", rollForward: "idle", rollBackward: "idle" },
      must: { rollForward: "idle", rollBackward: "idle" },
      intersecting: { intersectFound: "idle", intersectNotFound: "idle" },
      done: {},
    },
    pipelinesTo: { next: "idle", must: "idle", intersecting: "idle" },
    limits: {
      // blocks: an epoch boundary block of Byron has 650 kB, a hundred Conway blocks 9 MB at most
      client: { message: 4 * MIB, ingress: 64 * MIB },
      server: { message: 64 * 1024, ingress: MIB },
    },
    encode(message) {
      switch (message.type) {
        case "requestNext":
          return [REQUEST_NEXT];
        case "awaitReply":
          return [AWAIT_REPLY];
        case "rollForward":
          return [ROLL_FORWARD, embeddedHead(message.block.length), message.block, tipBytes(message.tip)];
        case "rollBackward":
          return [encode([3, pointValue(message.point), tipValue(message.tip)])];
        case "findIntersect":
          return [encode([4, message.points.map(pointValue)])];
        case "intersectFound":
          return [encode([5, pointValue(message.point), tipValue(message.tip)])];
        case "intersectNotFound":
          return [encode([6, tipValue(message.tip)])];
        case "done":
          return [Uint8Array.of(0x81, 7)];
      }
    },
    decode(bytes) {
      // almost all messages are blocks with the same tip as before: these need no decoding
      const block = read && blockBefore(bytes, read.bytes);
      if (read && block) return { type: "rollForward", block, tip: read.tip };
      const { tag, rest } = messageParts(decode(bytes));
      switch (tag) {
        case 0:
          requireCount(0, rest);
          return { type: "requestNext" };
        case 1:
          requireCount(0, rest);
          return { type: "awaitReply" };
        case 2: {
          requireCount(2, rest);
          // copied, because a slice would keep the whole received chunk in memory
          read = { bytes: raw(rest[1]!).slice(), tip: readTip(rest[1]) };
          return { type: "rollForward", block: readEmbedded(rest[0]), tip: read.tip };
        }
        case 3:
          requireCount(2, rest);
          return { type: "rollBackward", point: readPoint(rest[0]), tip: readTip(rest[1]) };
        case 4:
          requireCount(1, rest);
          return { type: "findIntersect", points: as(rest[0], "array").value.map(readPoint) };
        case 5:
          requireCount(2, rest);
          return { type: "intersectFound", point: readPoint(rest[0]), tip: readTip(rest[1]) };
        case 6:
          requireCount(1, rest);
          return { type: "intersectNotFound", tip: readTip(rest[0]) };
        case 7:
          requireCount(0, rest);
          return { type: "done" };
        default:
          throw new CborError(`there is no message ${tag}`);
      }
    },
  };
}

const REQUEST_NEXT = Uint8Array.of(0x81, 0);
const AWAIT_REPLY = Uint8Array.of(0x81, 1);
/** `[2, …` */
const ROLL_FORWARD = Uint8Array.of(0x83, 2);

/** The block of `[2, 24(block), tip]`, if the message has that form and ends with the given tip. */
function blockBefore(bytes: Uint8Array, tip: Uint8Array): Uint8Array | undefined {
  const end = bytes.length - tip.length;
  const info = bytes[4]! - 0x58;
  if (bytes[0] !== 0x83 || bytes[1] !== 2 || bytes[2] !== 0xd8 || bytes[3] !== 0x18 || info < 0 || info > 2) {
    return undefined;
  }
  const start = 5 + (1 << info);
  if (end < start) return undefined;
  let length = 0;
  for (let at = 5; at < start; at++) length = length * 256 + bytes[at]!;
  if (start + length !== end || !equalBytes(bytes.subarray(end), tip)) return undefined;
  return bytes.subarray(start, end);
}
