/** Local-tx-monitor: the client reads a snapshot of the server's mempool. */
import { as, asInt, CborError, decode, type Encodable, encode } from "#src/cardano/cbor.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import {
  idValue,
  messageParts,
  readId,
  readSmallNumber,
  readTransaction,
  requireCount,
  transactionValue,
  type WireId,
  type WireTransaction,
} from "#src/node/protocols/values.ts";

/** Fill level of a mempool. */
export interface MempoolSizes {
  /** Capacity in bytes. */
  readonly capacity: number;
  /** Bytes in use. */
  readonly size: number;
  readonly transactions: number;
}

/** Fill level of a mempool by each of its measures (from version 20). */
export interface MempoolMeasures {
  readonly transactions: number;
  readonly measures: ReadonlyMap<string, { readonly size: bigint; readonly capacity: bigint }>;
}

/** Messages of local-tx-monitor. A second `acquire` waits until the mempool differs from the acquired snapshot. */
export type MonitorMessage =
  | { readonly type: "done" }
  | { readonly type: "acquire" }
  | { readonly type: "acquired"; readonly slot: number }
  | { readonly type: "release" }
  | { readonly type: "nextTx" }
  | { readonly type: "replyNextTx"; readonly transaction: WireTransaction | undefined }
  | { readonly type: "hasTx"; readonly id: WireId }
  | { readonly type: "replyHasTx"; readonly has: boolean }
  | { readonly type: "getSizes" }
  | { readonly type: "replyGetSizes"; readonly sizes: MempoolSizes }
  | { readonly type: "getMeasures" }
  | { readonly type: "replyGetMeasures"; readonly measures: MempoolMeasures };

export type MonitorState = "idle" | "acquiring" | "acquired" | "nexting" | "having" | "sizing" | "measuring" | "done";

/** First version with `getMeasures`. */
export const MEASURES_SINCE = 20;

const MIB = 2 ** 20;

/** The protocol. */
export const txMonitor: Protocol<MonitorState, MonitorMessage> = {
  name: "local-tx-monitor",
  id: 9,
  initial: "idle",
  agency: {
    idle: "client",
    acquiring: "server",
    acquired: "client",
    nexting: "server",
    having: "server",
    sizing: "server",
    measuring: "server",
    done: "none",
  },
  transitions: {
    idle: { acquire: "acquiring", done: "done" },
    acquiring: { acquired: "acquired" },
    acquired: {
      acquire: "acquiring",
      release: "idle",
      nextTx: "nexting",
      hasTx: "having",
      getSizes: "sizing",
      getMeasures: "measuring",
    },
    nexting: { replyNextTx: "acquired" },
    having: { replyHasTx: "acquired" },
    sizing: { replyGetSizes: "acquired" },
    measuring: { replyGetMeasures: "acquired" },
    done: {},
  },
  limits: {
    client: { message: 2 * MIB, ingress: 4 * MIB },
    server: { message: 4096, ingress: 64 * 1024 },
  },
  encode(message) {
    return [encode(value(message))];
  },
  decode(bytes) {
    const { tag, rest } = messageParts(decode(bytes));
    if (tag !== 6) requireCount(tag === 12 ? 2 : tag === 2 || tag === 7 || tag === 8 || tag === 10 ? 1 : 0, rest);
    switch (tag) {
      case 0:
        return { type: "done" };
      case 1:
        return { type: "acquire" };
      case 2:
        return { type: "acquired", slot: readSmallNumber(rest[0]) };
      case 3:
        return { type: "release" };
      case 5:
        return { type: "nextTx" };
      case 6:
        if (rest.length > 0) requireCount(1, rest);
        return { type: "replyNextTx", transaction: rest[0] && readTransaction(rest[0]) };
      case 7:
        return { type: "hasTx", id: readId(rest[0]) };
      case 8:
        return { type: "replyHasTx", has: as(rest[0], "bool").value };
      case 9:
        return { type: "getSizes" };
      case 10: {
        const sizes = as(rest[0], "array").value;
        requireCount(3, sizes);
        const [capacity, size, transactions] = sizes;
        return {
          type: "replyGetSizes",
          sizes: {
            capacity: readSmallNumber(capacity),
            size: readSmallNumber(size),
            transactions: readSmallNumber(transactions),
          },
        };
      }
      case 11:
        return { type: "getMeasures" };
      case 12: {
        const measures = as(rest[1], "map").value.map(([name, pair]) => {
          const [size, capacity] = as(pair, "array").value;
          return [as(name, "text").value, { size: asInt(size), capacity: asInt(capacity) }] as const;
        });
        return {
          type: "replyGetMeasures",
          measures: { transactions: readSmallNumber(rest[0]), measures: new Map(measures) },
        };
      }
      default:
        throw new CborError(`there is no message ${tag}`);
    }
  },
};

function value(message: MonitorMessage): Encodable {
  switch (message.type) {
    case "done":
      return [0];
    case "acquire":
      return [1];
    case "acquired":
      return [2, message.slot];
    case "release":
      return [3];
    case "nextTx":
      return [5];
    case "replyNextTx":
      return message.transaction ? [6, transactionValue(message.transaction)] : [6];
    case "hasTx":
      return [7, idValue(message.id)];
    case "replyHasTx":
      return [8, message.has];
    case "getSizes":
      return [9];
    case "replyGetSizes": {
      const { capacity, size, transactions } = message.sizes;
      return [10, [capacity, size, transactions]];
    }
    case "getMeasures":
      return [11];
    case "replyGetMeasures": {
      const { transactions, measures } = message.measures;
      return [12, transactions, new Map([...measures].map(([name, { size, capacity }]) => [name, [size, capacity]]))];
    }
  }
}
