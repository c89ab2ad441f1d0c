/**
 * `POST /utils/txs/evaluate` and `…/evaluate/utxos`: the execution units that a transaction needs, in the forms of Ogmios,
 * which Blockfrost passes on.
 *
 * As with Blockfrost, what is wrong with the transaction is an answer with status 200.
 */
import { fromHex, fromUtf8, isHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { badRequest, blockfrostFailure } from "#src/devnet/serve/blockfrost/failures.ts";
import { ogmiosAnswer } from "#src/devnet/serve/blockfrost/ogmios.ts";
import { type Operation, post } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { done, MAX_BODY, requireType } from "#src/devnet/serve/blockfrost/submit.ts";
import { evaluateTransaction } from "#src/devnet/serve/evaluation.ts";
import { readBytes, readJson } from "#src/http/json.ts";
import type { EvaluationAnswer } from "#src/ogmios/evaluation.ts";
import { readAdditionalUtxos } from "#src/ogmios/outputs.ts";

/** The operations that evaluate scripts. */
export function evaluateOperations(service: BlockfrostService): Operation[] {
  return [
    post("/utils/txs/evaluate", async (_, { context }) => {
      const { req } = context;
      requireType(req.header("content-type"), "application/cbor");
      const bytes = await readBytes(req.raw, 2 * MAX_BODY);
      const answer = await evaluate(service, textBytes(fromUtf8(bytes)?.trim() ?? ""), []);
      return done(context, ogmiosAnswer(answer, versionOf(req.query("version"))));
    }),
    post("/utils/txs/evaluate/utxos", async (_, { context: { req } }) => {
      requireType(req.header("content-type"), "application/json");
      const body = await readJson(req.raw, { bytes: 2 * MAX_BODY, depth: 200 }, () => {
        return badRequest("The body is not valid JSON.");
      });
      if (!isObject(body) || typeof body.cbor !== "string") throw badRequest("body must have required property 'cbor'");
      const additional = readAdditionalUtxos(additionalOf(body));
      if (!additional.ok) throw badRequest(`body/additionalUtxoSet ${additional.error.message}`);
      const answer = await evaluate(service, textBytes(body.cbor), additional.value);
      return ogmiosAnswer(answer, versionOf(req.query("version")));
    }),
  ];
}

/** The outputs of a request; some clients send `null` for none. */
function additionalOf(body: { readonly [name: string]: Json }): Json {
  return body.additionalUtxoSet ?? body.additionalUtxo ?? [];
}

function versionOf(text: string | undefined): 5 | 6 {
  return text === "6" ? 6 : 5;
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Bytes of hexadecimal or base64 text; undefined for anything else. */
function textBytes(text: string): Uint8Array | undefined {
  if (text === "") return undefined;
  if (isHex(text.toLowerCase())) return fromHex(text.toLowerCase());
  if (!BASE64.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "base64"));
}

async function evaluate(
  service: BlockfrostService,
  transaction: Uint8Array | undefined,
  additional: readonly Utxo[],
): Promise<EvaluationAnswer> {
  if (!transaction) return { kind: "not_text" };
  const evaluated = await evaluateTransaction(service, transaction, additional);
  if (evaluated.kind === "unavailable") throw blockfrostFailure(503, evaluated.message);
  return evaluated;
}
