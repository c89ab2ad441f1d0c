/**
 * Phase 2 with scalus, a Plutus machine in JavaScript. Loading it costs about a second and 100 MB, so only the threads that
 * evaluate (and tests) import this module; everybody else is handed an `Evaluate`.
 */
import scalus from "scalus";
import { concat, equalBytes, fromHex } from "#src/base/bytes.ts";
import { encode, head } from "#src/cardano/cbor.ts";
import { decodeData, encodeData } from "#src/cardano/data.ts";
import { type Output, refKey, type Utxo } from "#src/cardano/output.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import { type Evaluation, type EvaluationInput, PURPOSES, type RedeemerUnits } from "#src/plutus/types.ts";

const { Scalus, SlotConfig } = scalus;

/** Names of scalus for the purposes, in the order of `PURPOSES`. */
const TAGS = ["Spend", "Mint", "Cert", "Reward", "Voting", "Proposing"];

/**
 * Runs every script of a transaction and gives the units each redeemer took. The redeemers' own units set no limit; a script
 * that errors, an input that is not among `utxos` and bytes that are no transaction come back as `ok: false`, with what the
 * failing script traced. Never throws.
 */
export function evaluateScripts(input: EvaluationInput): Evaluation {
  const { transaction, utxos, parameters, slots } = input;
  try {
    const redeemers = Scalus.evalPlutusScripts(
      transaction,
      utxoMap(utxos),
      new SlotConfig(slots.zeroTime, slots.zeroSlot, slots.slotLength),
      [0, 1, 2].map((language) => (parameters.costModels.get(language) ?? []).map(Number)),
    );
    return { ok: true, redeemers: redeemers.map(units) };
  } catch (error) {
    return { ok: false, message: messageOf(error), logs: logsOf(error) };
  }
}

/** CBOR of `{* transaction_input => transaction_output}`; an output given twice (an input that is also collateral) goes in once. */
function utxoMap(utxos: readonly Utxo[]): Uint8Array {
  const entries = new Map(utxos.map((utxo) => [refKey(utxo.ref), utxo]));
  const parts = [head(5, entries.size)];
  for (const { ref, output } of entries.values()) {
    parts.push(encode([fromHex(ref.txHash), ref.index]), readable(output));
  }
  return concat(...parts);
}

/**
 * An output in the one form that scalus is sure to read: it refuses encodings that the ledger takes (a constructor by number in a list of unknown
 * length), so that anybody's output could stop whoever spends it. Scripts see no encodings.
 */
function readable(output: Output): Uint8Array {
  const { address, value, datum, script } = output;
  if (!datum) return output.raw;
  try {
    const plain = encodeData(decodeData(datum));
    return equalBytes(plain, datum) ? output.raw : encodeOutput({ address, value, datum: plain, script });
  } catch {
    return output.raw;
  }
}

function units(redeemer: InstanceType<typeof Scalus.Redeemer>): RedeemerUnits {
  const purpose = PURPOSES[TAGS.indexOf(redeemer.tag)];
  if (purpose === undefined) throw new TypeError(`a redeemer for ${redeemer.tag}`);
  return {
    purpose,
    index: redeemer.index,
    units: { memory: BigInt(redeemer.budget.memory), steps: BigInt(redeemer.budget.steps) },
  };
}

function messageOf(error: unknown): string {
  const message = error instanceof Error || hasMessage(error) ? error.message : String(error);
  return message || "a script failed";
}

function hasMessage(error: unknown): error is { message: string } {
  return typeof error === "object" && error !== null && "message" in error && typeof error.message === "string";
}

function logsOf(error: unknown): readonly string[] {
  if (typeof error !== "object" || error === null || !("logs" in error) || !Array.isArray(error.logs)) return [];
  return error.logs.map(String);
}
