/** Reads of the index: scripts, their redeemers, and datums. Each function is one statement. */
import { isHex } from "#src/base/bytes.ts";
import { direction, limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { Queries } from "#src/store/store.ts";

/** A script. */
export interface ScriptRow {
  /** `timelock`, `plutusV1`, `plutusV2`, `plutusV3`. */
  readonly kind: string;
  /** CBOR of a native script, else what the byte string in the witness set holds. */
  readonly bytes: Uint8Array;
}

/** Hashes of all scripts in the order of their first appearance. */
export async function readScriptHashes(sql: Queries, page: Page): Promise<string[]> {
  const order = direction(sql, page);
  const rows = await sql<{ hash: string }[]>`
    select hash from devnet_index_script order by height ${order}, tx_index ${order}, hash ${order} ${
    limits(sql, page)
  }`;
  return rows.map(({ hash }) => hash);
}

/** A script by its hash; no script has a text that is not hexadecimal, such as one with a NUL. */
export async function readScriptRow(sql: Queries, hash: string): Promise<ScriptRow | undefined> {
  if (!isHex(hash)) return undefined;
  const [row] = await sql<ScriptRow[]>`select kind, bytes from devnet_index_script where hash = ${hash}`;
  return row && { kind: row.kind, bytes: new Uint8Array(row.bytes) };
}

/** A redeemer of a script; `fee` is the price of its units. */
export interface RedeemerRow {
  readonly tx_hash: string;
  readonly index: number;
  readonly purpose: string;
  readonly data_hash: string;
  readonly memory: bigint;
  readonly steps: bigint;
  readonly fee: bigint;
}

/** Redeemers of a script in the order of the chain, in a transaction by purpose and index. */
export async function readScriptRedeemers(sql: Queries, hash: string, page: Page): Promise<RedeemerRow[]> {
  const order = direction(sql, page);
  return await sql<RedeemerRow[]>`
    select tx_hash, index, purpose, data_hash, memory, steps, fee from devnet_index_redeemer where script_hash = ${hash}
    order by height ${order}, tx_index ${order},
      array_position(array['spend', 'mint', 'cert', 'reward', 'vote', 'propose'], purpose) ${order}, index ${order}
    ${limits(sql, page)}`;
}

/** CBOR of a datum, or of a redeemer's argument, by its hash. */
export async function readDatum(sql: Queries, hash: string): Promise<Uint8Array | undefined> {
  const [row] = await sql<{ cbor: Uint8Array }[]>`select cbor from devnet_index_datum where hash = ${hash}`;
  return row && new Uint8Array(row.cbor);
}
