/** What the proof of one fact is made of, out of rows at one point. */
import { toHex } from "#src/base/bytes.ts";
import type { Row } from "#src/cardano/projection.ts";
import { type PackedFacts, readFactLeaves } from "#src/cage/index/leaves.ts";
import { readToken, type TokenState } from "#src/cage/index/read.ts";
import type { Queries } from "#src/store/store.ts";

/** A fact's row. */
export interface StoredFact {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A token's state, and where it is vouched for, the fact under a path and what its proof is made of. */
export type Evidence =
  | { readonly status: "unknown" | "ended" }
  | { readonly status: "quarantined"; readonly state: TokenState }
  | { readonly status: "live"; readonly state: TokenState; readonly fact?: StoredFact; readonly facts: PackedFacts };

/** Reads the evidence of a path (digest of the key); `sql` is to see one point of the index. */
export async function readEvidence(sql: Queries, token: string, path: Uint8Array): Promise<Evidence> {
  const found = await readToken(sql, token);
  if (!("state" in found)) return found;
  if (found.status === "quarantined") return { status: "quarantined", state: found.state };
  const [facts, [row]] = await Promise.all([
    readFactLeaves(sql, found.state, [toHex(path)]),
    sql<Row[]>`select key, value from fact where entry = ${`${token}:${toHex(path)}`} and to_slot is null`,
  ]);
  const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);
  return {
    status: "live",
    state: found.state,
    facts,
    ...(row ? { fact: { key: bytes(row.key), value: bytes(row.value) } } : {}),
  };
}
