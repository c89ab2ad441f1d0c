/** Outputs of the contract by reference: states and requests, including spent ones. */
import { decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";

/** Reads those outputs that are states or requests; by `refKey`. */
export async function readContractOutputs(sql: Queries, refs: readonly OutRef[]): Promise<Map<string, Output>> {
  const keys = sql.array(refs.map(refKey));
  const rows = await sql<{ ref: string; output: Uint8Array }[]>`
    select ref, output from token_state where ref = any(${keys}::text[])
    union all select ref, output from token_request where ref = any(${keys}::text[])`;
  return new Map(rows.map(({ ref, output }) => [ref, readOutput(decode(new Uint8Array(output)))]));
}
