/** Local-tx-monitor: the client reads a snapshot of the server's mempool. */
import { as, type Encodable } from "#src/cardano/cbor.ts";
import { messageCodec, type MessageOf } from "#src/node/protocols/messages.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { wireId, wireNumber, type WireTransaction, wireTransaction } from "#src/node/protocols/values.ts";
import { amount, type CborShape, record } from "#src/node/queries/shape.ts";

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

const sizes = record<MempoolSizes>({ capacity: wireNumber, size: wireNumber, transactions: wireNumber });

const measure = record<{ readonly size: bigint; readonly capacity: bigint }>({ size: amount, capacity: amount }, {
  more: true,
});
const measures: CborShape<MempoolMeasures["measures"]> = {
  read: (item, at) =>
    new Map(as(item, "map").value.map(([name, pair]) => [as(name, "text").value, measure.read(pair, at)])),
  write: (value, at) =>
    new Map<Encodable, Encodable>([...value].map(([name, pair]) => [name, measure.write(pair, at)])),
};

const bool: CborShape<boolean> = { read: (item) => as(item, "bool").value, write: (value) => value };
const lastTransaction: CborShape<WireTransaction | undefined> = wireTransaction;

const messages = {
  done: [0],
  /** A second one waits until the mempool differs from the acquired snapshot. */
  acquire: [1],
  acquired: [2, { slot: wireNumber }],
  release: [3],
  nextTx: [5],
  replyNextTx: [6, { transaction: lastTransaction }, "optional"],
  hasTx: [7, { id: wireId }],
  replyHasTx: [8, { has: bool }],
  getSizes: [9],
  replyGetSizes: [10, { sizes }],
  getMeasures: [11],
  replyGetMeasures: [12, { transactions: wireNumber, measures }],
} as const;
const codec = messageCodec(messages);

/** Messages of local-tx-monitor. */
export type MonitorMessage = MessageOf<typeof messages>;

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
  encode: (message) => [codec.encode(message)],
  decode: (bytes) => codec.decode(bytes),
};
