/**
 * Phase 2 with scalus, a Plutus machine in JavaScript. Loading it costs about a second and 100 MB, so only the threads that
 * evaluate (and tests) import this module; all others are given an `Evaluate`.
 */
import scalus from "scalus";
import { concat, fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, head } from "#src/cardano/cbor.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { canonicalOutput, canonicalTransaction } from "#src/plutus/canonical.ts";
import { type Evaluation, type EvaluationInput, PURPOSES, type RedeemerUnits } from "#src/plutus/types.ts";

const { Scalus, SlotConfig } = scalus;

/** Names of scalus for the purposes, in the order of `PURPOSES`. */
const TAGS = ["Spend", "Mint", "Cert", "Reward", "Voting", "Proposing"];

/**
 * Runs every script of a transaction and gives the units each redeemer took. The redeemers' own units set no limit. A script that
 * errors is `refused`, with what it traced; everything else that stops the machine is `unreadable`: an input that is not among `utxos`,
 * a missing redeemer, bytes that it does not read. Never throws.
 */
export function evaluateScripts(input: EvaluationInput): Evaluation {
  const { transaction, utxos } = input;
  try {
    return { ok: true, redeemers: run(canonicalTransaction(transaction), utxos, input).map(units) };
  } catch (error) {
    const message = messageOf(error);
    const logs = logsOf(error);
    if (logs) return { ok: false, kind: "refused", message, logs };
    return { ok: false, kind: "unreadable", message, outputs: unreadable(utxos, input).map(({ ref }) => ref) };
  }
}

function run(
  transaction: Uint8Array,
  utxos: readonly Utxo[],
  { parameters, slots }: Pick<EvaluationInput, "parameters" | "slots">,
) {
  return Scalus.evalPlutusScripts(
    transaction,
    utxoMap(utxos),
    new SlotConfig(slots.zeroTime, slots.zeroSlot, slots.slotLength),
    [0, 1, 2].map((language) => (parameters.costModels.get(language) ?? []).map(Number)),
  );
}

/** Outputs that are tried together. */
const GROUP = 16;

/** Those of some outputs that the machine cannot read. */
function unreadable(utxos: readonly Utxo[], input: EvaluationInput): readonly Utxo[] {
  const found: Utxo[] = [];
  for (let at = 0; at < utxos.length; at += GROUP) {
    const group = utxos.slice(at, at + GROUP);
    if (!areRead(group, input)) found.push(...group.filter((utxo) => !areRead([utxo], input)));
  }
  return found;
}

/** Whether the machine reads outputs: it is given a transaction that spends one of them and runs no script. */
function areRead(utxos: readonly Utxo[], input: EvaluationInput): boolean {
  const { txHash, index } = utxos[0]!.ref;
  const body = new Map<Encodable, Encodable>([[0, [[fromHex(txHash), index]]], [1, []], [2, 0]]);
  try {
    run(encode([body, new Map(), true, null]), utxos, input);
    return true;
  } catch {
    return false;
  }
}

/** CBOR of `{* transaction_input => transaction_output}`; an output given twice (an input that is also collateral) goes in once. */
function utxoMap(utxos: readonly Utxo[]): Uint8Array {
  const entries = new Map(utxos.map((utxo) => [refKey(utxo.ref), utxo]));
  const parts = [head(5, entries.size)];
  for (const { ref, output } of entries.values()) {
    parts.push(encode([fromHex(ref.txHash), ref.index]), canonicalOutput(output));
  }
  return concat(...parts);
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
  return message || "the machine says nothing about it";
}

function hasMessage(error: unknown): error is { message: string } {
  return typeof error === "object" && error !== null && "message" in error && typeof error.message === "string";
}

/** What a failing script traced; undefined for every other error: only scalus' error of a script has logs. */
function logsOf(error: unknown): readonly string[] | undefined {
  if (typeof error !== "object" || error === null || !("logs" in error) || !Array.isArray(error.logs)) return undefined;
  return error.logs.map(String);
}
