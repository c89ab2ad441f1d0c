/**
 * `POST /tx/submit`. Refusals have the form of `cardano-submit-api`, which Blockfrost passes on: JSON within the message,
 * with the ledger's failures as Haskell shows them.
 */
import type { Context } from "hono";
import { fromHex, fromUtf8, isHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { major } from "#src/cardano/walk.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { badRequest, blockfrostFailure } from "#src/devnet/serve/blockfrost/failures.ts";
import { type Operation, post } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { failuresAtNode } from "#src/devnet/serve/rejection.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { readBytes, respond } from "#src/http/json.ts";
import { CONWAY, eraName } from "#src/node/protocols/values.ts";
import { showFailure } from "#src/node/rejections/haskellText.ts";

/** Bytes of a body that are read: far more than any transaction has. */
export const MAX_BODY = 1_048_576;

/** Eras whose decoders a node tries. */
const DECODED_ERAS = 6;

/** The operation that submits a transaction. */
export function submitOperations({ devnet }: BlockfrostService): Operation[] {
  return [
    post("/tx/submit", async (_, { context }) => {
      const bytes = await readTransactionBytes(context);
      const submitted = await devnet.submit(bytes);
      if (submitted.ok) {
        if (submitted.value.outcome === "accepted") return done(context, scanTransaction(bytes).hash);
        const { failures } = submitted.value;
        const [first] = failures;
        if (first?.name === "DeserialiseFailure") throw badRequest(readError(bytes, first.message));
        throw badRequest(validationError((await failuresAtNode(devnet, failures, bytes)).map(showFailure)));
      }
      const { code, message } = submitted.error;
      switch (code) {
        case "undecodable":
          throw badRequest(readError(bytes, message));
        case "mempool_full":
          throw blockfrostFailure(425, "Mempool is full, please try resubmitting again later.");
        case "devnet_unavailable":
          throw new HttpFailure(503, code, message);
      }
    }),
  ];
}

/** Whether a request came by the prefix of Yaci Store, whose clients expect some answers in another form. */
const isOfYaci = ({ req }: Context) => req.path.startsWith("/api/v1/");

/** The answer to a transaction that was taken: status 200 with Blockfrost, 202 with Yaci Store. */
export function done(context: Context, document: unknown): Response {
  return respond(context, isOfYaci(context) ? 202 : 200, document);
}

/** A transaction is CBOR; Yaci Store also takes it as hexadecimal text. */
async function readTransactionBytes(context: Context): Promise<Uint8Array> {
  const { req } = context;
  const type = req.header("content-type");
  if (isOfYaci(context) && type?.startsWith("text/plain")) {
    const text = fromUtf8(await readBytes(req.raw, 2 * MAX_BODY))?.trim().toLowerCase() ?? "";
    if (!isHex(text)) throw badRequest("The body is not hexadecimal.");
    return fromHex(text);
  }
  requireType(type, "application/cbor");
  return await readBytes(req.raw, MAX_BODY);
}

/** @throws {HttpFailure} 415 unless a content type, without its parameters, is the expected one */
export function requireType(given: string | undefined, expected: string): void {
  if (given?.split(";")[0]?.trim().toLowerCase() === expected) return;
  throw blockfrostFailure(415, `The content type must be ${expected}.`);
}

/** The message for a transaction that the ledger refuses. */
function validationError(failures: readonly string[]): string {
  const error = { era: `ShelleyBasedEra${eraName(CONWAY)}`, error: failures, kind: "ShelleyTxValidationError" };
  return toJson({
    contents: {
      contents: { contents: error, tag: "TxValidationErrorInCardanoMode" },
      tag: "TxCmdTxSubmitValidationError",
    },
    tag: "TxSubmitFail",
  });
}

/** The message for bytes that are no transaction: one text for each era. */
function readError(bytes: Uint8Array, message: string): string {
  const isList = (bytes[0] ?? 0) >> 5 === major.array;
  const why = isList ? message.replaceAll('"', "'") : "expected list len or indef";
  const text = `DecoderErrorDeserialiseFailure "Shelley Tx" (DeserialiseFailure 0 "${why}")`;
  const contents = Array.from({ length: DECODED_ERAS }, () => text);
  return toJson({ contents: { contents, tag: "TxCmdTxReadError" }, tag: "TxSubmitFail" });
}
