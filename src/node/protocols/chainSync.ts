/** Chain-sync: the server sends the chain from a point on, block by block, including rollbacks. */
import { equalBytes } from "#src/base/bytes.ts";
import type { Point, Tip } from "#src/cardano/block.ts";
import { as, encode } from "#src/cardano/cbor.ts";
import { messageCodec, type MessageOf } from "#src/node/protocols/messages.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { embedded, embeddedHead, point, tip } from "#src/node/protocols/values.ts";
import { type CborShape, UNVERSIONED } from "#src/node/queries/shape.ts";

/** Points: a definite list of any length. */
const points: CborShape<readonly Point[]> = {
  read: (item, at) => as(item, "array").value.map((each) => point.read(each, at)),
  write: (value, at) => value.map((each) => point.write(each, at)),
};

const messages = {
  requestNext: [0],
  awaitReply: [1],
  /** The block is the bytes of `[era tag, block]`. */
  rollForward: [2, { block: embedded, tip }],
  rollBackward: [3, { point, tip }],
  findIntersect: [4, { points }],
  intersectFound: [5, { point, tip }],
  intersectNotFound: [6, { tip }],
  done: [7],
} as const;
const codec = messageCodec(messages);

/** Messages of chain-sync. */
export type ChainSyncMessage = MessageOf<typeof messages>;

/** Client's turn: `idle`. In `next` the server may say that there is no block yet; in `must` it has said so. */
export type ChainSyncState = "idle" | "next" | "must" | "intersecting" | "done";

const MIB = 2 ** 20;

/**
 * The protocol for one connection: its codec uses the last tip, which seldom changes while a client catches up.
 */
export function chainSync(): Protocol<ChainSyncState, ChainSyncMessage> {
  let read: EncodedTip | undefined;
  let written: EncodedTip | undefined;

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
          if (written?.tip !== message.tip) written = encodeTip(message.tip);
          return [ROLL_FORWARD, embeddedHead(message.block.length), message.block, written.bytes];
        default:
          return [codec.encode(message)];
      }
    },
    decode(bytes) {
      // almost all messages are blocks with the same tip as before: these need no decoding
      const block = read && blockBefore(bytes, read.bytes);
      if (read && block) return { type: "rollForward", block, tip: read.tip };
      const message = codec.decode(bytes);
      if (message.type === "rollForward") read = encodeTip(message.tip);
      return message;
    },
  };
}

interface EncodedTip {
  readonly tip: Tip;
  readonly bytes: Uint8Array;
}

function encodeTip(value: Tip): EncodedTip {
  return { tip: value, bytes: encode(tip.write(value, UNVERSIONED)) };
}

const REQUEST_NEXT = Uint8Array.of(0x81, 0);
const AWAIT_REPLY = Uint8Array.of(0x81, 1);
/** `[2, …` */
const ROLL_FORWARD = Uint8Array.of(0x83, 2);

/** The block of `[2, 24(block), tip]`, if the message has that form and ends with the given tip. */
function blockBefore(bytes: Uint8Array, tip: Uint8Array): Uint8Array | undefined {
  const end = bytes.length - tip.length;
  const info = (bytes[4] ?? 0) - 0x58;
  if (bytes[0] !== 0x83 || bytes[1] !== 2 || bytes[2] !== 0xd8 || bytes[3] !== 0x18 || info < 0 || info > 2) {
    return undefined;
  }
  const start = 5 + (1 << info);
  if (end < start) return undefined;
  let length = 0;
  for (let at = 5; at < start; at++) length = length * 256 + (bytes[at] ?? 0);
  if (start + length !== end || !equalBytes(bytes.subarray(end), tip)) return undefined;
  return bytes.subarray(start, end);
}
