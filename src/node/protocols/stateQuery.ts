/**
 * Local-state-query: the client acquires a ledger state at a point and queries it. Queries and answers are carried here
 * as CBOR, which `queries/` decodes.
 */
import type { Point } from "#src/cardano/block.ts";
import { CborError, decode, encode } from "#src/cardano/cbor.ts";
import { messageCodec, type MessageOf } from "#src/node/protocols/messages.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { messageParts, point, readSmallNumber, requireCount } from "#src/node/protocols/values.ts";
import type { CborShape } from "#src/node/queries/shape.ts";
import { anything } from "#src/node/queries/vocabulary.ts";

/** The state to acquire: of a point, of the tip, or of the newest block that no rollback can undo. */
export type StateTarget = Point | "tip" | "immutable";

const FAILURES = ["point_too_old", "point_not_on_chain"] as const;

/** Why a point's state cannot be acquired. */
export type AcquireFailure = typeof FAILURES[number];

const acquireFailure: CborShape<AcquireFailure> = {
  read(item) {
    const failure = FAILURES[readSmallNumber(item)];
    if (!failure) throw new CborError("an unknown reason why a state cannot be acquired");
    return failure;
  },
  write: (value) => FAILURES.indexOf(value),
};

const messages = {
  acquire: [0, { target: point }],
  acquired: [1],
  failure: [2, { failure: acquireFailure }],
  query: [3, { query: anything }],
  result: [4, { result: anything }],
  release: [5],
  reacquire: [6, { target: point }],
  done: [7],
} as const;
const codec = messageCodec(messages);

/** Messages of local-state-query. */
export type StateQueryMessage =
  | MessageOf<typeof messages>
  | { readonly type: "acquire" | "reacquire"; readonly target: StateTarget };

/** Tags of the messages without arguments, which name a target that is not a point. */
const NAMED_TAGS = { acquire: { tip: 8, immutable: 10 }, reacquire: { tip: 9, immutable: 11 } } as const;

/** The message that has one of these tags. */
function namedTarget(tag: number): StateQueryMessage | undefined {
  for (const type of ["acquire", "reacquire"] as const) {
    for (const target of ["tip", "immutable"] as const) if (NAMED_TAGS[type][target] === tag) return { type, target };
  }
  return undefined;
}

export type StateQueryState = "idle" | "acquiring" | "acquired" | "querying" | "done";

const MIB = 2 ** 20;

/** The protocol. */
export const stateQuery: Protocol<StateQueryState, StateQueryMessage> = {
  name: "local-state-query",
  id: 7,
  initial: "idle",
  agency: { idle: "client", acquiring: "server", acquired: "client", querying: "server", done: "none" },
  transitions: {
    idle: { acquire: "acquiring", done: "done" },
    acquiring: { acquired: "acquired", failure: "idle" },
    acquired: { query: "querying", reacquire: "acquiring", release: "idle" },
    querying: { result: "acquired" },
    done: {},
  },
  limits: {
    // answers: stake distributions and UTxO sets. A query holds credentials and addresses: a mebibyte holds some 18,000
    // of them, which takes up to half a second to decode
    client: { message: 256 * MIB, ingress: 257 * MIB },
    server: { message: MIB, ingress: 2 * MIB },
  },
  encode(message) {
    switch (message.type) {
      case "query":
        return [QUERY, message.query];
      case "result":
        return [RESULT, message.result];
      case "acquire":
      case "reacquire": {
        const { type, target } = message;
        return [typeof target === "string" ? encode([NAMED_TAGS[type][target]]) : codec.encode({ type, target })];
      }
      default:
        return [codec.encode(message)];
    }
  },
  decode(bytes) {
    // a result may be large and is decoded by its reader; its first two bytes are enough here
    if (bytes[0] === 0x82 && (bytes[1] === 3 || bytes[1] === 4)) {
      const inner = bytes.subarray(2);
      return bytes[1] === 3 ? { type: "query", query: inner } : { type: "result", result: inner };
    }
    const { tag, rest } = messageParts(decode(bytes));
    const named = namedTarget(tag);
    if (!named) return codec.decode(bytes);
    requireCount(0, rest);
    return named;
  },
};

/** `[3, …` and `[4, …` */
const QUERY = Uint8Array.of(0x82, 3);
const RESULT = Uint8Array.of(0x82, 4);
