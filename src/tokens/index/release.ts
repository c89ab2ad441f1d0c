/**
 * Releases tokens from quarantine at an operator's request. The ledger's bytes in the rows of states and requests are
 * replayed. If the replay explains every state up to the current one, the token's rows are replaced by the replay's rows and
 * the quarantine ends. A later rollback then finds ordinary rows.
 *
 * Assumptions:
 * - A release request is not part of the index. It stays until it is answered, even if a process dies.
 * - `readReplay` may run at any time. `writeReplay` runs in a transaction under the follower's lease while no block is
 *   applied.
 * - A token's rows change only with its state output.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { onlyOf } from "#src/base/present.ts";
import { ok, type Result } from "#src/base/result.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { Row, Touched } from "#src/chain/index/projection.ts";
import { type Datum, decodeDatum } from "#src/contract/datum.ts";
import {
  replay,
  type ReplayChange,
  type ReplayedBucket,
  type ReplayedFact,
  type ReplayedState,
  type ReplayResult,
  type ReplayState,
  type UnexplainedReplay,
  unexplainedReplay,
} from "#src/tokens/index/replay.ts";
import { bigint, bytes, maybeSlot, maybeText, number, text } from "#src/tokens/index/rows.ts";
import { CUT_ABOVE } from "#src/tokens/index/trie.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows of one table that differ from the replay: delete `wrong`, then insert `right`. */
interface Difference<T> {
  readonly wrong: readonly T[];
  readonly right: readonly T[];
}

/** The outcome of a replay, to be written by `writeReplay`. */
export interface ReplayFinding {
  readonly token: string;
  /** Reference of the state that it leads to. */
  readonly ref: string;
  readonly outcome: Result<
    {
      readonly facts: Difference<ReplayedFact>;
      readonly buckets: Difference<ReplayedBucket>;
      readonly states: readonly ReplayedState[];
    },
    UnexplainedReplay
  >;
}

/** The outcome of a release request. */
interface ReleaseOutcome {
  readonly released: boolean;
  /** Why not. */
  readonly reason: string | undefined;
}

/** Rows per query. */
const PAGE = 1_000;

/** Live quarantined tokens, oldest quarantine first: since which slot, and why. */
export async function readQuarantined(sql: Queries): Promise<{ tokenId: string; reason: string; slot: number }[]> {
  const rows = await sql<{ token: string; reason: string; from_slot: bigint }[]>`
    select token, reason, from_slot from token_quarantine q where to_slot is null
      and exists (select 1 from token_state s where s.token = q.token and s.to_slot is null) order by from_slot, token`;
  return rows.map(({ token, reason, from_slot }) => ({ tokenId: token, reason, slot: Number(from_slot) }));
}

/** Requests that a token be replayed; gives the request's number for `readReleaseOutcome`. */
export async function requestRelease(sql: Queries, token: string): Promise<bigint> {
  const rows = await sql<{ asked: bigint }[]>`
    insert into token_release (token, asked, answered) values (${token}, 1, 0)
    on conflict (token) do update set asked = token_release.asked + 1, since = now() returning asked`;
  return onlyOf(rows).asked;
}

/** The outcome of a release request, or of a later one for the same token; undefined while it is pending. */
export async function readReleaseOutcome(
  sql: Queries,
  token: string,
  asked: bigint,
): Promise<ReleaseOutcome | undefined> {
  const [row] = await sql<{ reason: string | null }[]>`
    select reason from token_release where token = ${token} and answered >= ${asked}`;
  return row && { released: row.reason === null, reason: row.reason ?? undefined };
}

/** The oldest pending release request. */
export async function nextReleaseRequest(sql: Queries): Promise<{ token: string; asked: bigint } | undefined> {
  const [row] = await sql<{ token: string; asked: bigint }[]>`
    select token, asked from token_release where answered < asked order by since, token limit 1`;
  return row;
}

/** Replays a token. `sql` must see one point of the index. Undefined if the token is not live. `pause` yields to the event loop. */
export async function readReplay(
  sql: Queries,
  token: string,
  { pause, cutAbove = CUT_ABOVE }: { readonly pause: () => Promise<void>; readonly cutAbove?: number },
): Promise<ReplayFinding | undefined> {
  const [live] = await sql<Row[]>`
    select ref from token_state where token = ${token} and to_slot is null order by from_slot desc limit 1`;
  if (!live) return undefined;
  const ref = text(live, "ref");
  const found = (outcome: ReplayFinding["outcome"]): ReplayFinding => ({ token, ref, outcome });
  const states = await readStates(sql, token, pause);
  if (!states.ok) return found(states);
  const changes = await readChanges(sql, token, pause);
  if (!changes.ok) return found(changes);
  const done = await replay(token, states.value, changes.value, { cutAbove, pause });
  if (!done.ok) return found(done);
  const now = states.value.find((state) => state.ref === ref);
  if (done.value.root !== now?.root) return found(unexplainedReplay(`The replay does not lead to state ${ref}.`));
  return found(ok(await differences(sql, token, done.value, pause)));
}

/** The datum in an output's bytes; undefined if there is none or it cannot be read. */
function datumIn(row: Row): Datum | undefined {
  try {
    const { datum } = readOutput(decode(bytes(row, "output")));
    return datum && decodeDatum(datum);
  } catch {
    return undefined;
  }
}

type Pause = () => Promise<void>;

/** All rows of a query in pages: `read` gives the next rows, at most `PAGE`, after the last one of the previous page. */
async function* paged(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  pause: Pause,
): AsyncGenerator<Row, void> {
  let rows: readonly Row[] = [];
  do {
    rows = await read(rows.at(-1));
    yield* rows;
    await pause();
  } while (rows.length === PAGE);
}

async function readStates(
  sql: Queries,
  token: string,
  pause: Pause,
): Promise<Result<ReplayState[], UnexplainedReplay>> {
  const states: ReplayState[] = [];
  const read = (last: Row | undefined) => {
    const [slot, ref] = last ? [bigint(last, "from_slot"), text(last, "ref")] : [-1n, ""];
    return sql<Row[]>`select ref, output, from_slot from token_state
      where token = ${token} and (from_slot, ref) > (${slot}, ${ref}) order by from_slot, ref limit ${PAGE}`;
  };
  for await (const row of paged(read, pause)) {
    const ref = text(row, "ref");
    const datum = datumIn(row);
    if (datum?.type !== "state") return unexplainedReplay(`The row of state ${ref} does not hold its output.`);
    states.push({ ref, ...datum.state, slot: number(row, "from_slot") });
  }
  return ok(states);
}

async function readChanges(
  sql: Queries,
  token: string,
  pause: Pause,
): Promise<Result<ReplayChange[], UnexplainedReplay>> {
  const changes: ReplayChange[] = [];
  const read = (last: Row | undefined) => {
    const [slot, position, ref] = last
      ? [bigint(last, "from_slot"), bigint(last, "position"), text(last, "ref")]
      : [-1n, -1n, ""];
    return sql<Row[]>`
      select e.ref, e.tx, e.position, e.from_slot, r.output from token_request_end e
      left join token_request r on r.ref = e.ref
      where e.token = ${token} and e.status = 'applied' and (e.from_slot, e.position, e.ref) > (${slot}, ${position}, ${ref})
      order by e.from_slot, e.position, e.ref limit ${PAGE}`;
  };
  for await (const row of paged(read, pause)) {
    const ref = text(row, "ref");
    const datum = datumIn(row);
    if (datum?.type !== "request" || datum.request.name !== token) {
      return unexplainedReplay(`The row of request ${ref} does not hold its output.`);
    }
    const { key, operation } = datum.request;
    const [slot, position] = [number(row, "from_slot"), bigint(row, "position")];
    changes.push({ ref, tx: maybeText(row, "tx"), slot, position, key, operation });
  }
  return ok(changes);
}

/** Compares stored rows with expected rows; `same` compares two rows with the same key. */
class Comparison<T> {
  private readonly wrong: T[] = [];
  private readonly rest: Map<string, T>;
  constructor(
    wanted: readonly T[],
    private readonly keyOf: (row: T) => string,
    private readonly same: (a: T, b: T) => boolean,
  ) {
    this.rest = new Map(wanted.map((row) => [keyOf(row), row]));
  }

  /** Compares one stored row. */
  see(row: T): void {
    const key = this.keyOf(row);
    const wanted = this.rest.get(key);
    if (wanted && this.same(row, wanted)) this.rest.delete(key);
    else this.wrong.push(row);
  }

  result(): Difference<T> {
    return { wrong: this.wrong, right: [...this.rest.values()] };
  }
}

const sameFact = (a: ReplayedFact, b: ReplayedFact) =>
  a.to_slot === b.to_slot && a.token === b.token && a.bucket === b.bucket && a.path === b.path &&
  equalBytes(a.key, b.key) && equalBytes(a.value, b.value) && equalBytes(a.digest, b.digest);
const sameBucket = (a: ReplayedBucket, b: ReplayedBucket) => a.to_slot === b.to_slot && equalBytes(a.hash, b.hash);

async function differences(sql: Queries, token: string, { facts, buckets, states }: ReplayResult, pause: Pause) {
  const factRows = new Comparison(facts, (row) => `${row.entry} ${row.from_slot}`, sameFact);
  // rows whose entry has the token's prefix, then rows that name the token but have another entry
  const read = (last: Row | undefined) => {
    const [entry, slot] = last ? [text(last, "entry"), bigint(last, "from_slot")] : [`${token}:`, -1n];
    return sql<Row[]>`select * from fact where entry < ${`${token}:g`}
      and (entry, from_slot) > (${entry}, ${slot}) order by entry, from_slot limit ${PAGE}`;
  };
  for await (const row of paged(read, pause)) factRows.see(replayedFactOf(row));
  const strange = await sql<Row[]>`select * from fact
    where token = ${token} and to_slot is null and (entry < ${`${token}:`} or entry >= ${`${token}:g`})`;
  for (const row of strange) factRows.see(replayedFactOf(row));
  const bucketRows = new Comparison(buckets, (row) => `${row.bucket} ${row.from_slot}`, sameBucket);
  const kept = await sql<Row[]>`select * from token_bucket where token = ${token}`;
  for (const row of kept) {
    bucketRows.see({
      token,
      bucket: number(row, "bucket"),
      hash: bytes(row, "hash"),
      from_slot: number(row, "from_slot"),
      to_slot: maybeSlot(row, "to_slot"),
    });
  }
  const lines = await sql<Row[]>`select ref, owner, root, facts, cut from token_state where token = ${token}`;
  const byRef = new Map(lines.map((row) => [text(row, "ref"), row]));
  const wrong = states.filter((state) => {
    const row = byRef.get(state.ref);
    return (["owner", "root", "facts", "cut"] as const).some((column) => row?.[column] !== state[column]);
  });
  return { facts: factRows.result(), buckets: bucketRows.result(), states: wrong };
}

function replayedFactOf(row: Row): ReplayedFact {
  return {
    entry: text(row, "entry"),
    token: text(row, "token"),
    bucket: text(row, "bucket"),
    path: text(row, "path"),
    key: bytes(row, "key"),
    value: bytes(row, "value"),
    digest: bytes(row, "digest"),
    from_slot: number(row, "from_slot"),
    to_slot: maybeSlot(row, "to_slot"),
  };
}

/**
 * Writes a replay's rows and answers the release request. `finding` is undefined if the token was not live. Gives the events
 * for the token's actor at `slot`, the index's current slot. If the token's state has changed since, nothing is written and
 * the request stays pending.
 */
export async function writeReplay(
  sql: Queries,
  { token, asked }: { readonly token: string; readonly asked: bigint },
  finding: ReplayFinding | undefined,
  slot: number,
): Promise<Touched[]> {
  const answer = (reason: string | null) =>
    sql`update token_release set answered = greatest(answered, ${asked}), reason = ${reason} where token = ${token}`;
  const rows = await sql<Row[]>`select ref, to_slot from token_state where token = ${token}
    order by from_slot desc, to_slot desc nulls first limit 1`;
  const [state] = rows;
  if (!state || state.to_slot !== null) {
    await answer(state ? "The token has ended." : "There is no such token.");
    return [];
  }
  if (!finding || finding.ref !== state.ref) return [];
  if (!finding.outcome.ok) {
    await answer(finding.outcome.error.message);
    return [];
  }
  const { facts, buckets, states } = finding.outcome.value;
  await writeFacts(sql, facts);
  await writeBuckets(sql, token, buckets);
  for (const { ref, owner, root, facts, cut } of states) {
    await sql`update token_state set owner = ${owner}, root = ${root}, facts = ${facts}, cut = ${cut} where ref = ${ref}`;
  }
  const gone = await sql`delete from token_quarantine where token = ${token} returning 1`;
  await answer(null);
  return gone.length === 0 ? [] : [{ entity: { kind: "token", id: token }, event: { type: "RELEASED", slot } }];
}

/** A list in parts of at most `PAGE`. */
function* chunks<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += PAGE) yield list.slice(i, i + PAGE);
}

async function writeFacts(sql: Queries, { wrong, right }: Difference<ReplayedFact>): Promise<void> {
  for (const rows of chunks(wrong)) {
    await sql`delete from fact f using unnest(
        ${sql.array(rows.map(({ entry }) => entry))}::text[],
        ${sql.array(rows.map(({ from_slot }) => BigInt(from_slot)))}::bigint[]) w (entry, from_slot)
      where f.entry = w.entry and f.from_slot = w.from_slot`;
  }
  for (const page of chunks(right)) {
    const rows = page.map((row) => ({
      ...row,
      key: hexOf(row.key),
      value: hexOf(row.value),
      digest: hexOf(row.digest),
    }));
    await sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot, to_slot)
      select entry, token, bucket, path, key, value, digest, from_slot, to_slot
      from json_populate_recordset(null::fact, ${JSON.stringify(rows)}::text::json)`;
  }
}

const hexOf = (data: Uint8Array) => `\\x${toHex(data)}`;

async function writeBuckets(sql: Queries, token: string, { wrong, right }: Difference<ReplayedBucket>): Promise<void> {
  for (const rows of chunks(wrong)) {
    await sql`delete from token_bucket b using unnest(
        ${sql.array(rows.map(({ bucket }) => BigInt(bucket)))}::bigint[],
        ${sql.array(rows.map(({ from_slot }) => BigInt(from_slot)))}::bigint[]) w (bucket, from_slot)
      where b.token = ${token} and b.bucket = w.bucket and b.from_slot = w.from_slot`;
  }
  for (const page of chunks(right)) {
    const rows = page.map((row) => ({ ...row, hash: hexOf(row.hash) }));
    await sql`insert into token_bucket (token, bucket, hash, from_slot, to_slot)
      select token, bucket, hash, from_slot, to_slot
      from json_populate_recordset(null::token_bucket, ${JSON.stringify(rows)}::text::json)`;
  }
}
