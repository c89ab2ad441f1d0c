/**
 * `POST /utils/txs/evaluate` and `…/evaluate/utxos`: the execution units that a transaction needs, in the forms of Ogmios,
 * which Blockfrost passes on.
 *
 * Outputs are those of the tip, those that transactions of the mempool create (also those that they spend), and the
 * additional ones of the request. As with Blockfrost, what is wrong with the transaction is an answer with status 200.
 */
import { fromHex, fromUtf8, isHex } from "#src/base/bytes.ts";
import { isObject, type Json } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { compareRefs, type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { MAX_SIZE_FACTOR } from "#src/devnet/blocks/submission.ts";
import { badRequest, blockfrostFailure } from "#src/devnet/serve/blockfrost/failures.ts";
import { ogmiosAnswer } from "#src/devnet/serve/blockfrost/ogmios.ts";
import { type Operation, post } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { done, MAX_BODY, requireType } from "#src/devnet/serve/blockfrost/submit.ts";
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
  { devnet, measure, log }: BlockfrostService,
  transaction: Uint8Array | undefined,
  additional: readonly Utxo[],
): Promise<EvaluationAnswer> {
  if (!transaction) return { kind: "not_text" };
  const { maxTxSize } = devnet.genesis.parameters;
  if (transaction.length > MAX_SIZE_FACTOR * maxTxSize) {
    const message = `The transaction has ${transaction.length} bytes; the maximum size is ${maxTxSize}.`;
    return { kind: "undecodable", message };
  }
  const read = readTransaction(transaction);
  if (!read.ok) return { kind: "undecodable", message: read.error.message };
  const { inputs, references, collateral } = read.value.body;
  const pending = new Map<string, Output>(
    devnet.mempool().flatMap(({ applied }) => applied.created.map(({ ref, output }) => [refKey(ref), output])),
  );
  const ledger = await devnet.query(({ utxo, parameters }) => {
    const known = (ref: OutRef) => utxo.get(ref) ?? pending.get(refKey(ref));
    const needed = [...inputs, ...references, ...collateral];
    return {
      parameters,
      utxos: needed.flatMap((ref) => {
        const output = known(ref);
        return output ? [{ ref, output }] : [];
      }),
      overlap: additional.filter(({ ref, output }) => contradicts(known(ref), output)).map(({ ref }) => ref),
    };
  });
  if (!ledger) throw blockfrostFailure(503, "The devnet is not running in this process; try again.");
  const { parameters, utxos, overlap } = ledger;
  if (overlap.length > 0) return { kind: "overlap", refs: overlap.sort(compareRefs) };
  const measured = await measure({
    transaction,
    // of two outputs with one reference the later counts: what is on the chain is complete
    utxos: [...additional, ...utxos],
    parameters,
    slots: devnet.network.slots,
    horizon: devnet.horizon(),
  }).catch((error) => {
    log.warn("a transaction was not evaluated", { reason: reason(error) });
    throw blockfrostFailure(503, "The scripts could not be evaluated now; try again.");
  });
  return measured.ok ? { kind: "measured", redeemers: measured.redeemers } : measured;
}

/**
 * Whether an additional output has another address or value than the known one. Data and scripts are not compared: clients leave
 * them out.
 */
function contradicts(known: Output | undefined, { address, value }: Output): boolean {
  if (!known) return false;
  const { lovelace, assets } = known.value;
  return address !== known.address || value.lovelace !== lovelace || value.assets.size !== assets.size ||
    [...assets].some(([unit, quantity]) => value.assets.get(unit) !== quantity);
}
