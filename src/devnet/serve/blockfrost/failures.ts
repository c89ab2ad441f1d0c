/** Refusals in Blockfrost's form: `{ status_code, error, message }`. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type RefusalFormat } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** Names of the statuses, as Blockfrost has them. */
const NAMES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  425: "Mempool Full",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Message of an internal error. */
const INTERNAL = "An unexpected response was received from the backend.";

/** A failure with a status and a message of Blockfrost's. */
export function blockfrostFailure(status: ContentfulStatusCode, message: string): HttpFailure {
  return new HttpFailure(status, status === 503 ? "unavailable" : "blockfrost", message);
}

/** 400 with a message. */
export const badRequest = (message: string): HttpFailure => blockfrostFailure(400, message);

/** 404: what the path names does not exist. */
export const notFound = (): HttpFailure => blockfrostFailure(404, "The requested component has not been found.");

/** Refusals of malformed parameters. */
export const malformed = {
  address: () => badRequest("Invalid address for this network or malformed address format."),
  stakeAddress: () => badRequest("Invalid or malformed stake address format."),
  asset: () => badRequest("Invalid or malformed asset format."),
  policy: () => badRequest("Invalid or malformed policy format."),
  pool: () => badRequest("Invalid or malformed pool id format."),
  representative: () => badRequest("Invalid or malformed drep id."),
  action: () => badRequest("Invalid or malformed governance action id."),
  committee: () => badRequest("Invalid or malformed committee credential."),
  blockHash: () => badRequest("Missing or malformed block hash."),
  blockNumber: () => badRequest("Missing, out of range or malformed block number."),
  slot: () => badRequest("Missing, out of range or malformed slot_number."),
  epoch: () => badRequest("Missing, out of range or malformed epoch_number."),
  label: () => badRequest("Missing, out of range or malformed label."),
  range: () => badRequest("Invalid (malformed or out of range) from/to parameter(s)."),
  xpub: () => badRequest("Invalid or malformed xpub format. Has to be hex of length 128."),
  xpubIndex: () => badRequest("Missing, out of range or malformed index."),
  xpubRole: () => badRequest("Missing, out of range or malformed role."),
} as const satisfies Readonly<Record<string, () => HttpFailure>>;

/** The form of all refusals. Blockfrost answers an unknown path, and a method that a path does not have, with 400. */
export const blockfrostRefusals: RefusalFormat = {
  body: ({ status, code, message }) => ({
    status_code: status,
    error: NAMES[status] ?? "Error",
    message: code === "internal_error" ? INTERNAL : message,
  }),
  missing: () => badRequest("Invalid path. Please check https://docs.blockfrost.io/"),
};
