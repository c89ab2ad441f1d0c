/** The matches of a chain, computed from its blocks alone. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { compareRefs, refKey } from "#src/cardano/output.ts";
import { type Pattern, type PatternedOutput } from "#src/devnet/index/kupo/pattern.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import type { Oracle, OracleOutput, OracleScript, OracleTx } from "../explorer/explorerOracle.ts";

/** A match of an answer. */
export type Match = { [member: string]: Json };

const LANGUAGES = { timelock: "native", plutusV1: "plutus:v1", plutusV2: "plutus:v2", plutusV3: "plutus:v3" } as const;

/** Number as JSON has it. */
const number = (value: bigint): Json => value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** An output, as patterns see it. */
export function patterned({ ref, output, payment, stake, assets, tx }: OracleOutput): PatternedOutput {
  return {
    ...ref,
    address: output.address,
    payment: payment?.hash,
    stake: stake?.slice(1),
    units: assets.map(([unit]) => unit),
    labels: (tx?.metadata ?? []).map(([label]) => String(label)),
  };
}

/** Whether a pattern matches, in other words than the product's. */
export function oracleMatches(pattern: Pattern, output: OracleOutput): boolean {
  const one = patterned(output);
  const parts: Record<Pattern["kind"], () => boolean> = {
    any: () => true,
    shelley: () => !one.address.startsWith("8"),
    address: () => pattern.kind === "address" && one.address === pattern.address,
    credentials: () =>
      pattern.kind === "credentials" &&
      [pattern.payment ?? one.payment ?? "none", pattern.stake ?? one.stake].join() === [one.payment, one.stake].join(),
    output: () =>
      pattern.kind === "output" && refKey(output.ref).startsWith(pattern.txHash) &&
      [undefined, output.ref.index].includes(pattern.index),
    asset: () =>
      pattern.kind === "asset" &&
      one.units.some((unit) =>
        unit.slice(0, 56) === pattern.policy && [undefined, unit.slice(56)].includes(pattern.name)
      ),
    label: () => pattern.kind === "label" && one.labels.includes(pattern.label),
  };
  return parts[pattern.kind]();
}

/** Outputs of the chain, newest first. */
export function newestFirst(oracle: Oracle): OracleOutput[] {
  const place = ({ tx, ref }: OracleOutput) => [tx?.block.height ?? -1, tx?.index ?? 0, ref.index];
  // of the genesis in its own order, which is that of its transactions
  return oracle.outputs.map((output, at) => ({ output, at })).sort((a, b) => {
    const [one, other] = [place(a.output), place(b.output)];
    const [height, index, output] = one.map((value, i) => other[i]! - value);
    if (!a.output.tx && !b.output.tx) return b.at - a.at;
    return height! || index! || output!;
  }).map(({ output }) => output);
}

function scriptOf(script: OracleScript | undefined): Json {
  return script ? { language: LANGUAGES[script.type], script: toHex(script.bytes) } : null;
}

/** Place of the input with which a transaction spent an output, and the data of its redeemer. */
function spend(by: OracleTx, { ref }: OracleOutput): { input: number; redeemer: string | null } {
  const inputs = [...by.spent].map((one) => one.ref).sort(compareRefs);
  const input = inputs.findIndex((one) => refKey(one) === refKey(ref));
  const redeemer = by.valid
    ? by.redeemers.find(({ purpose, index }) => purpose === "spend" && index === input)
    : undefined;
  return { input, redeemer: redeemer ? toHex(redeemer.data) : null };
}

/** The form of matches. */
interface Form {
  readonly resolve?: boolean;
  readonly text?: boolean;
}

/** Kupo's JSON of an output. */
export function matchOf(oracle: Oracle, output: OracleOutput, { resolve = false, text = false }: Form = {}): Match {
  const { ref, tx, assets, spentBy } = output;
  const quantity = (value: bigint) => text ? String(value) : number(value);
  const genesis = oracle.outputs.filter((one) => !one.tx);
  const by = spentBy && spend(spentBy, output);
  return {
    transaction_index: tx ? tx.index : genesis.indexOf(output),
    transaction_id: ref.txHash,
    output_index: ref.index,
    address: output.address,
    value: {
      coins: quantity(output.output.value.lovelace),
      assets: Object.fromEntries(assets.map(([unit, held]) => [
        [unit.slice(0, 56), unit.slice(56)].filter((part) => part !== "").join("."),
        quantity(held),
      ])),
    },
    datum_hash: output.dataHash,
    ...(output.dataHash === null ? {} : { datum_type: output.inlineDatum === null ? "hash" : "inline" }),
    script_hash: output.script?.hash ?? null,
    ...(resolve
      ? { datum: output.dataHash === null ? null : datumOf(oracle, output.dataHash), script: scriptOf(output.script) }
      : {}),
    created_at: tx
      ? { slot_no: tx.block.slot, header_hash: tx.block.hash }
      : { slot_no: 0, header_hash: byronHash(oracle.genesis) },
    spent_at: spentBy && by
      ? {
        slot_no: spentBy.block.slot,
        header_hash: spentBy.block.hash,
        transaction_id: spentBy.hash,
        input_index: by.input,
        redeemer: by.redeemer,
      }
      : null,
  };
}

/** A datum that the chain has shown: in an output, in a witness set, or as the data of a redeemer. */
export function datumOf(oracle: Oracle, hash: string): string | null {
  const inline = oracle.outputs.find((one) => one.dataHash === hash && one.inlineDatum !== null)?.inlineDatum;
  const witnessed = oracle.txs.find(({ datums }) => datums.has(hash))?.datums.get(hash);
  return inline ?? (witnessed ? toHex(witnessed) : null);
}
