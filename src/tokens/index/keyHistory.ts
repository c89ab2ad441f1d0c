/** Reads what the values of one key in several states of a token, and their proofs, are computed from. */
import { toHex } from "#src/base/bytes.ts";
import type { Row } from "#src/chain/index/projection.ts";
import { changeOf, type Operation } from "#src/contract/datum.ts";
import { neededBuckets } from "#src/forestry/cut.ts";
import { digest } from "#src/forestry/hash.ts";
import type { Change } from "#src/forestry/trie.ts";
import type { PackedFacts } from "#src/tokens/index/leaves.ts";
import { newestStates, operationOf } from "#src/tokens/index/read.ts";
import { bytes, flag, maybeText, number } from "#src/tokens/index/rows.ts";
import { bucketKey, unpackCut } from "#src/tokens/index/trie.ts";
import type { Queries } from "#src/store/store.ts";

/** Most changes between the states of one page. */
const MOST_CHANGES = 256;

/** A state of a token, by its output. */
interface StateRef {
  /** `<hash>#<index>` */
  readonly ref: string;
  readonly slot: number;
}

/** The facts before some states, and the changes of each. */
export interface KeyEvidence {
  readonly facts: PackedFacts;
  /** Changes by state, of as many states as `most` allows. */
  readonly changes: readonly (readonly Change[])[];
  /** Values of the key by their digests in hexadecimal. */
  readonly values: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads the evidence of a path for states one after the other, which must be all of the token from the first of its block
 * on. At most `most` changes: no state where the first block has more. `sql` must see one point of the index.
 */
export async function readKeyEvidence(
  sql: Queries,
  token: string,
  path: Uint8Array,
  states: readonly StateRef[],
  most = MOST_CHANGES,
): Promise<KeyEvidence> {
  const [first, last] = [states[0], states.at(-1)];
  if (!first || !last) return { facts: { leaves: new Uint8Array() }, changes: [], values: new Map() };
  const rows = await sql<Row[]>`
    select e.tx, e.from_slot as slot, r.key, r.type, r.old_value, r.new_value
    from token_request_end e join token_request r on r.ref = e.ref
    where e.token = ${token} and e.status = 'applied' and e.from_slot between ${first.slot} and ${last.slot}
    order by e.from_slot, e.position, e.ref limit ${most + 1}`;
  const beyond = rows[most];
  const cut = beyond ? number(beyond, "slot") : Infinity;
  const made = rows.filter((row) => number(row, "slot") < cut).map((row) => ({
    slot: number(row, "slot"),
    tx: maybeText(row, "tx"),
    operation: operationOf(row),
    change: changeOf(bytes(row, "key"), operationOf(row)),
  }));
  const kept = states.filter(({ slot }) => slot < cut);
  const changes = kept.map(({ ref, slot }) => {
    // of requests that ended before their transactions were recorded it is that of the block's only state
    const alone = kept.filter((other) => other.slot === slot).length === 1;
    return made.filter((one) => one.slot === slot && (one.tx === undefined ? alone : one.tx === ref.slice(0, 64)));
  });
  const name = toHex(path);
  const values = valuesOf(made.filter(({ change }) => toHex(change.path) === name).map(({ operation }) => operation));
  const [row] = await sql<Row[]>`select value from fact where entry = ${`${token}:${name}`}
    and from_slot < ${first.slot} and (to_slot is null or to_slot >= ${first.slot})`;
  if (row) values.set(toHex(digest(bytes(row, "value"))), bytes(row, "value"));
  const paths = [path, ...made.map(({ change }) => change.path)];
  return {
    facts: await readFactsBefore(sql, token, first.slot, paths),
    changes: changes.map((all) => all.map(({ change }) => change)),
    values,
  };
}

function valuesOf(operations: readonly Operation[]): Map<string, Uint8Array> {
  const set = operations.flatMap((one) => one.type === "delete" ? [] : [one.value]);
  return new Map(set.map((value) => [toHex(digest(value)), value]));
}

/** The facts that changes at some paths need, as they were before the block at a slot. */
async function readFactsBefore(
  sql: Queries,
  token: string,
  slot: number,
  paths: readonly Uint8Array[],
): Promise<PackedFacts> {
  const live = sql`from_slot < ${slot} and (to_slot is null or to_slot >= ${slot})`;
  const [state] = await sql<Row[]>`select cut from token_state where ${newestStates(sql, token, slot - 1)}
    order by to_slot desc nulls first limit 1`;
  if (!state) return { leaves: new Uint8Array() };
  if (!flag(state, "cut")) {
    const [row] = await sql<Row[]>`
      select string_agg(decode(path, 'hex') || digest, ''::bytea) as leaves from fact where token = ${token} and ${live}`;
    return { leaves: bytes(row, "leaves") };
  }
  const [row] = await sql<Row[]>`
    select string_agg(int2send(bucket::int2) || hash, ''::bytea) as hashes from token_bucket
    where token = ${token} and ${live}`;
  const hashes = unpackCut(row);
  const buckets = neededBuckets(hashes, paths);
  // by the primary key, whose entries begin with the bucket: past facts of buckets have no index. Without "offset 0" a plan
  // for all parameters reads every fact by its slot
  const [found] = await sql<Row[]>`
    select string_agg(decode(f.path, 'hex') || f.digest, ''::bytea) as leaves
    from unnest(${sql.array(buckets.map((bucket) => bucketKey(token, bucket)))}::text[]) b(bucket)
    cross join lateral (
      select path, digest, from_slot, to_slot from fact where entry >= b.bucket and entry < b.bucket || 'g' offset 0) f
    where ${live}`;
  return { leaves: bytes(found, "leaves"), cut: { hashes, buckets } };
}
