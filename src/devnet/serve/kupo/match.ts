/** A match as JSON. */
import { toHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { MatchRow, Spend } from "#src/devnet/index/kupo/matches.ts";
import { textOfAddress } from "#src/devnet/serve/blockfrost/documents.ts";

/** How quantities are written. */
type Quantity = (quantity: bigint) => Json;

/** How matches are written. */
export interface MatchForm {
  /** Quantities as text: for clients that lose digits of large numbers. */
  readonly quantitiesAsText: boolean;
  /** Whether datums and scripts are in them. */
  readonly resolve: boolean;
  /** Hash that stands for the block of the genesis. */
  readonly genesisHash: string;
}

/** The JSON of an output. */
export function matchJson(row: MatchRow, spend: Spend | undefined, form: MatchForm): Json {
  const quantity: Quantity = form.quantitiesAsText ? String : jsonInteger;
  return {
    transaction_index: row.tx_index,
    transaction_id: row.tx_hash,
    output_index: row.index,
    address: textOfAddress(row.address),
    value: {
      coins: quantity(row.lovelace),
      assets: Object.fromEntries(
        (row.assets ?? []).map(({ unit, quantity: held }) => [assetId(unit), quantity(BigInt(held))]),
      ),
    },
    datum_hash: row.datum_hash,
    ...(form.resolve ? { datum: row.datum && toHex(new Uint8Array(row.datum)) } : {}),
    ...(row.datum_hash === null ? {} : { datum_type: row.inline ? "inline" : "hash" }),
    script_hash: row.script_hash,
    ...(form.resolve ? { script: scriptJson(row.script_kind, row.script_bytes) } : {}),
    created_at: { slot_no: jsonInteger(row.slot ?? 0n), header_hash: row.block ?? form.genesisHash },
    spent_at: spend === undefined ? null : {
      slot_no: jsonInteger(row.spent_slot ?? 0n),
      header_hash: row.spent_block,
      transaction_id: row.spent_tx,
      input_index: spend.input,
      redeemer: spend.redeemer ? toHex(spend.redeemer) : null,
    },
  };
}

/** Policy and name, with a dot between them where there is a name. */
function assetId(unit: string): string {
  return unit.length === 56 ? unit : `${unit.slice(0, 56)}.${unit.slice(56)}`;
}

/** Kupo's names of script languages by those of the index. */
const LANGUAGES: Readonly<Record<string, string>> = {
  timelock: "native",
  plutusV1: "plutus:v1",
  plutusV2: "plutus:v2",
  plutusV3: "plutus:v3",
};

/** The JSON of a script; null where there is none. Plutus scripts are in one byte string, native ones as they are. */
export function scriptJson(kind: string | null | undefined, bytes: Uint8Array | null | undefined): Json {
  if (kind === null || kind === undefined || !bytes) return null;
  return { language: LANGUAGES[kind] ?? kind, script: toHex(new Uint8Array(bytes)) };
}
