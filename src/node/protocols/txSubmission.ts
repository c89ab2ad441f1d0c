/** Local-tx-submission: the client submits a transaction, the server accepts or refuses it. */
import { CborError, decode, encode, Encoded, raw } from "#src/cardano/cbor.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import {
  messageParts,
  readTransaction,
  requireCount,
  transactionValue,
  type WireTransaction,
} from "#src/node/protocols/values.ts";

/** Messages of local-tx-submission; `reason` is the CBOR within the message. */
export type SubmissionMessage =
  | { readonly type: "submit"; readonly transaction: WireTransaction }
  | { readonly type: "accept" }
  | { readonly type: "reject"; readonly reason: Uint8Array }
  | { readonly type: "done" };

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
  encode(message) {
    switch (message.type) {
      case "submit":
        return [encode([0, transactionValue(message.transaction)])];
      case "accept":
        return [encode([1])];
      case "reject":
        return [encode([2, new Encoded(message.reason)])];
      case "done":
        return [encode([3])];
    }
  },
  decode(bytes) {
    const { tag, rest } = messageParts(decode(bytes));
    requireCount(tag === 0 || tag === 2 ? 1 : 0, rest);
    switch (tag) {
      case 0:
        return { type: "submit", transaction: readTransaction(rest[0]) };
      case 1:
        return { type: "accept" };
      case 2:
        return { type: "reject", reason: raw(rest[0]!) };
      case 3:
        return { type: "done" };
      default:
        throw new CborError(`there is no message ${tag}`);
    }
  },
};
