/**
 * Local-state-query: the client acquires a ledger state at a point and queries it. Queries and answers are carried here
 * as CBOR, which `queries/` decodes.
 */
import type { Point } from "#src/cardano/block.ts";
import { CborError, decode, type Encodable, encode, type Item, raw } from "#src/cardano/cbor.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { messageParts, pointValue, readPoint, readSmallNumber, requireCount } from "#src/node/protocols/values.ts";

/** The state to acquire: of a point, of the tip, or of the newest block that no rollback can undo. */
export type StateTarget = Point | "tip" | "immutable";

/** Why a point's state cannot be acquired. */
export type AcquireFailure = "point_too_old" | "point_not_on_chain";

/** Messages of local-state-query. */
export type StateQueryMessage =
  | { readonly type: "acquire"; readonly target: StateTarget }
  | { readonly type: "acquired" }
  | { readonly type: "failure"; readonly failure: AcquireFailure }
  | { readonly type: "query"; readonly query: Uint8Array }
  | { readonly type: "result"; readonly result: Uint8Array }
  | { readonly type: "release" }
  | { readonly type: "reacquire"; readonly target: StateTarget }
  | { readonly type: "done" };

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
      default:
        return [encode(value(message))];
    }
  },
  decode(bytes) {
    // a result may be large and is decoded by its reader; its first two bytes are enough here
    if (bytes[0] === 0x82 && (bytes[1] === 3 || bytes[1] === 4)) {
      const inner = bytes.subarray(2);
      return bytes[1] === 3 ? { type: "query", query: inner } : { type: "result", result: inner };
    }
    const { tag, rest } = messageParts(decode(bytes));
    requireCount(tag === 0 || tag === 2 || tag === 3 || tag === 4 || tag === 6 ? 1 : 0, rest);
    switch (tag) {
      case 0:
        return { type: "acquire", target: readPoint(rest[0]) };
      case 1:
        return { type: "acquired" };
      case 2:
        return { type: "failure", failure: readFailure(rest[0]) };
      case 3:
        return { type: "query", query: raw(rest[0]!) };
      case 4:
        return { type: "result", result: raw(rest[0]!) };
      case 5:
        return { type: "release" };
      case 6:
        return { type: "reacquire", target: readPoint(rest[0]) };
      case 7:
        return { type: "done" };
      case 8:
        return { type: "acquire", target: "tip" };
      case 9:
        return { type: "reacquire", target: "tip" };
      case 10:
        return { type: "acquire", target: "immutable" };
      case 11:
        return { type: "reacquire", target: "immutable" };
      default:
        throw new CborError(`there is no message ${tag}`);
    }
  },
};

/** `[3, …` and `[4, …` */
const QUERY = Uint8Array.of(0x82, 3);
const RESULT = Uint8Array.of(0x82, 4);

const FAILURES: readonly AcquireFailure[] = ["point_too_old", "point_not_on_chain"];

function readFailure(item: Item | undefined): AcquireFailure {
  const failure = FAILURES[readSmallNumber(item)];
  if (!failure) throw new CborError("an unknown reason why a state cannot be acquired");
  return failure;
}

function value(message: Exclude<StateQueryMessage, { type: "query" | "result" }>): Encodable {
  switch (message.type) {
    case "acquire":
      return message.target === "tip" ? [8] : message.target === "immutable" ? [10] : [0, pointValue(message.target)];
    case "acquired":
      return [1];
    case "failure":
      return [2, FAILURES.indexOf(message.failure)];
    case "release":
      return [5];
    case "reacquire":
      return message.target === "tip" ? [9] : message.target === "immutable" ? [11] : [6, pointValue(message.target)];
    case "done":
      return [7];
  }
}
