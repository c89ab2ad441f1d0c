/** Local-tx-submission: the client submits a transaction, the server accepts or refuses it. */
import { messageCodec, type MessageOf } from "#src/node/protocols/messages.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { wireTransaction } from "#src/node/protocols/values.ts";
import { anything } from "#src/node/queries/vocabulary.ts";

const messages = {
  submit: [0, { transaction: wireTransaction }],
  accept: [1],
  /** The reason is the CBOR within the message. */
  reject: [2, { reason: anything }],
  done: [3],
} as const;
const codec = messageCodec(messages);

/** Messages of local-tx-submission. */
export type SubmissionMessage = MessageOf<typeof messages>;

export type SubmissionState = "idle" | "busy" | "done";

const MIB = 2 ** 20;

/** The protocol. */
export const txSubmission: Protocol<SubmissionState, SubmissionMessage> = {
  name: "local-tx-submission",
  id: 6,
  initial: "idle",
  agency: { idle: "client", busy: "server", done: "none" },
  transitions: { idle: { submit: "busy", done: "done" }, busy: { accept: "idle", reject: "idle" }, done: {} },
  limits: {
    client: { message: 8 * MIB, ingress: 16 * MIB },
    // a transaction has 16 kB on a public network; a devnet may allow more
    server: { message: MIB, ingress: 2 * MIB },
  },
  encode: (message) => [codec.encode(message)],
  decode: (bytes) => codec.decode(bytes),
};
