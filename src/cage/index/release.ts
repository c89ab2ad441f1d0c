/**
 * Replays of tokens whose facts the index does not vouch for any more, as an operator wishes them. What the ledger's own bytes in rows of
 * states and requests say is replayed; where it explains every state up to the one on the ledger, the token's rows become what the replay
 * gives, as if the index had never gone wrong, and the quarantine goes. So a rollback behind it finds rows like any others.
 *
 * Hypotheses: a wish is no part of the index: it stays until it is answered, whoever dies meanwhile; `readReplay` may run at any time, and
 * `writeReplay` in a transaction under the follower's lease, while no block is applied; rows of a token change with its state
 * output alone.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { Row, Touched } from "#src/cardano/projection.ts";
import { type Datum, decodeDatum } from "#src/cage/datum.ts";
import {
  type BucketLine,
  type FactLine,
  replay,
  type ReplayChange,
  type Replayed,
  type ReplayState,
  type StateLine,
  type Unexplained,
  unexplained,
} from "#src/cage/index/replay.ts";
import { CUT_ABOVE } from "#src/cage/index/trie.ts";
import type { Queries } from "#src/store/store.ts";

/** Rows of one table that the replay would have otherwise: which to delete, and which to insert after that. */
interface Difference<T> {
  readonly wrong: readonly T[];
  readonly right: readonly T[];
}

/** What a replay found, to be written or told. */
export interface Finding {
  readonly token: string;
  /** Of the state that it leads to. */
  readonly ref: string;
  readonly outcome: Result<
    {
      readonly facts: Difference<FactLine>;
      readonly buckets: Difference<BucketLine>;
      readonly states: readonly StateLine[];
    },
    Unexplained
  >;
}

/** What became of a wish. */
export interface ReleaseAnswer {
  readonly released: boolean;
  /** Why not. */
  readonly reason: string | undefined;
}

/** Rows that are read at once. */
const PAGE = 1_000;

const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);
const slotOf = (value: unknown) => value === null ? null : Number(value);

/** Tokens in quarantine that are alive, the oldest quarantine first: since which slot, and why. */
export async function readQuarantined(sql: Queries): Promise<{ tokenId: string; reason: string; slot: number }[]> {
  const rows = await sql<{ token: string; reason: string; from_slot: bigint }[]>`
    select token, reason, from_slot from token_quarantine q where to_slot is null
      and exists (select 1 from token_state s where s.token = q.token and s.to_slot is null) order by from_slot, token`;
  return rows.map(({ token, reason, from_slot }) => ({ tokenId: token, reason, slot: Number(from_slot) }));
}

/** Wishes that a token be replayed; gives the wish's number, to ask what became of it. */
export async function wishRelease(sql: Queries, token: string): Promise<bigint> {
  const [row] = await sql<{ asked: bigint }[]>`
    insert into token_release (token, asked, answered) values (${token}, 1, 0)
    on conflict (token) do update set asked = token_release.asked + 1, since = now() returning asked`;
  return row!.asked;
}

/** What became of a wish or a later one for the same token; undefined while nothing has. */
export async function readRelease(sql: Queries, token: string, asked: bigint): Promise<ReleaseAnswer | undefined> {
  const [row] = await sql<{ reason: string | null }[]>`
    select reason from token_release where token = ${token} and answered >= ${asked}`;
  return row && { released: row.reason === null, reason: row.reason ?? undefined };
}

/** The token that has waited longest for a replay, and the number of the wish. */
export async function wantedRelease(sql: Queries): Promise<{ token: string; asked: bigint } | undefined> {
  const [row] = await sql<{ token: string; asked: bigint }[]>`
    select token, asked from token_release where answered < asked order by since, token limit 1`;
  return row;
}

/**
 * Replays a token; `sql` is to see one point of the index. Undefined where there is none that is alive. `pause` is awaited now and then.
 */
export async function readReplay(
  sql: Queries,
  token: string,
  { pause, cutAbove = CUT_ABOVE }: { readonly pause: () => Promise<void>; readonly cutAbove?: number },
): Promise<Finding | undefined> {
  const [live] = await sql<Row[]>`
    select ref from token_state where token = ${token} and to_slot is null order by from_slot desc limit 1`;
  if (!live) return undefined;
  const ref = live.ref as string;
  const found = (outcome: Finding["outcome"]): Finding => ({ token, ref, outcome });
  const states = await readStates(sql, token, pause);
  if (!states.ok) return found(states);
  const changes = await readChanges(sql, token, pause);
  if (!changes.ok) return found(changes);
  const done = await replay(token, states.value, changes.value, { cutAbove, pause });
  if (!done.ok) return found(done);
  const root = states.value.find((state) => state.ref === ref)!.root;
  if (done.value.root !== root) return found(unexplained(`The replay does not lead to state ${ref}.`));
  return found(ok(await differences(sql, token, done.value, pause)));
}

/** The datum of an output as the ledger has it; undefined where the row does not hold one. */
function datumIn(output: unknown): Datum | undefined {
  try {
    const { datum } = readOutput(decode(bytes(output)));
    return datum && decodeDatum(datum);
  } catch {
    return undefined;
  }
}

type Pause = () => Promise<void>;

async function readStates(sql: Queries, token: string, pause: Pause): Promise<Result<ReplayState[], Unexplained>> {
  const states: ReplayState[] = [];
  for (let at: [slot: bigint, ref: string] = [-1n, ""];;) {
    const rows = await sql<Row[]>`select ref, output, from_slot from token_state
      where token = ${token} and (from_slot, ref) > (${at[0]}, ${at[1]}) order by from_slot, ref limit ${PAGE}`;
    for (const row of rows) {
      const ref = row.ref as string;
      const datum = datumIn(row.output);
      if (datum?.type !== "state") return unexplained(`The row of state ${ref} does not hold its output.`);
      states.push({ ref, ...datum.state, slot: Number(row.from_slot) });
    }
    await pause();
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return ok(states);
    at = [last.from_slot as bigint, last.ref as string];
  }
}

async function readChanges(sql: Queries, token: string, pause: Pause): Promise<Result<ReplayChange[], Unexplained>> {
  const changes: ReplayChange[] = [];
  for (let at: [slot: bigint, position: bigint, ref: string] = [-1n, -1n, ""];;) {
    const rows = await sql<Row[]>`
      select e.ref, e.tx, e.position, e.from_slot, r.output from token_request_end e
      left join token_request r on r.ref = e.ref
      where e.token = ${token} and e.status = 'applied' and (e.from_slot, e.position, e.ref) > (${at[0]}, ${at[1]}, ${
      at[2]
    }) order by e.from_slot, e.position, e.ref limit ${PAGE}`;
    for (const row of rows) {
      const ref = row.ref as string;
      const datum = datumIn(row.output ?? new Uint8Array());
      if (datum?.type !== "request" || datum.request.name !== token) {
        return unexplained(`The row of request ${ref} does not hold its output.`);
      }
      const { key, operation } = datum.request;
      const tx = (row.tx as string | null) ?? undefined;
      changes.push({ ref, tx, slot: Number(row.from_slot), position: row.position as bigint, key, operation });
    }
    await pause();
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return ok(changes);
    at = [last.from_slot as bigint, last.position as bigint, last.ref as string];
  }
}

/** Rows as they are against rows as they should be; `same` tells of two with the same key whether they say the same. */
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

  /** Takes in a row that is there. */
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

const sameFact = (a: FactLine, b: FactLine) =>
  a.to_slot === b.to_slot && a.token === b.token && a.bucket === b.bucket && a.path === b.path &&
  equalBytes(a.key, b.key) && equalBytes(a.value, b.value) && equalBytes(a.digest, b.digest);
const sameBucket = (a: BucketLine, b: BucketLine) => a.to_slot === b.to_slot && equalBytes(a.hash, b.hash);

async function differences(sql: Queries, token: string, { facts, buckets, states }: Replayed, pause: Pause) {
  const factRows = new Comparison(facts, (row) => `${row.entry} ${row.from_slot}`, sameFact);
  // whatever lies under the token's entries or says that it is the token's
  for (let at: [entry: string, slot: bigint] = [`${token}:`, -1n];;) {
    const rows = await sql<Row[]>`select * from fact where entry < ${`${token}:g`}
      and (entry, from_slot) > (${at[0]}, ${at[1]}) order by entry, from_slot limit ${PAGE}`;
    for (const row of rows) factRows.see(factLine(row));
    await pause();
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) break;
    at = [last.entry as string, last.from_slot as bigint];
  }
  const strange = await sql<Row[]>`select * from fact
    where token = ${token} and to_slot is null and (entry < ${`${token}:`} or entry >= ${`${token}:g`})`;
  for (const row of strange) factRows.see(factLine(row));
  const bucketRows = new Comparison(buckets, (row) => `${row.bucket} ${row.from_slot}`, sameBucket);
  const kept = await sql<Row[]>`select * from token_bucket where token = ${token}`;
  for (const row of kept) {
    bucketRows.see({
      token,
      bucket: row.bucket as number,
      hash: bytes(row.hash),
      from_slot: Number(row.from_slot),
      to_slot: slotOf(row.to_slot),
    });
  }
  const lines = await sql<Row[]>`select ref, owner, root, facts, cut from token_state where token = ${token}`;
  const byRef = new Map(lines.map((row) => [row.ref as string, row]));
  const wrong = states.filter((state) => {
    const row = byRef.get(state.ref);
    return (["owner", "root", "facts", "cut"] as const).some((column) => row?.[column] !== state[column]);
  });
  return { facts: factRows.result(), buckets: bucketRows.result(), states: wrong };
}

function factLine(row: Row): FactLine {
  return {
    entry: row.entry as string,
    token: row.token as string,
    bucket: row.bucket as string,
    path: row.path as string,
    key: bytes(row.key),
    value: bytes(row.value),
    digest: bytes(row.digest),
    from_slot: Number(row.from_slot),
    to_slot: slotOf(row.to_slot),
  };
}

/**
 * Writes what a replay found, and answers the wish; `finding` is undefined where the token was not alive. Gives what that means to the token
 * at `slot`, where the index stands. Where the token's state is another by now nothing is written, and the wish stands.
 */
export async function writeReplay(
  sql: Queries,
  { token, asked }: { readonly token: string; readonly asked: bigint },
  finding: Finding | undefined,
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

async function writeFacts(sql: Queries, { wrong, right }: Difference<FactLine>): Promise<void> {
  for (let i = 0; i < wrong.length; i += PAGE) {
    const rows = wrong.slice(i, i + PAGE);
    await sql`delete from fact f using unnest(
        ${sql.array(rows.map(({ entry }) => entry))}::text[],
        ${sql.array(rows.map(({ from_slot }) => BigInt(from_slot)))}::bigint[]) w (entry, from_slot)
      where f.entry = w.entry and f.from_slot = w.from_slot`;
  }
  for (let i = 0; i < right.length; i += PAGE) {
    const rows = right.slice(i, i + PAGE).map((row) => ({
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

async function writeBuckets(sql: Queries, token: string, { wrong, right }: Difference<BucketLine>): Promise<void> {
  for (let i = 0; i < wrong.length; i += PAGE) {
    const rows = wrong.slice(i, i + PAGE);
    await sql`delete from token_bucket b using unnest(
        ${sql.array(rows.map(({ bucket }) => BigInt(bucket)))}::bigint[],
        ${sql.array(rows.map(({ from_slot }) => BigInt(from_slot)))}::bigint[]) w (bucket, from_slot)
      where b.token = ${token} and b.bucket = w.bucket and b.from_slot = w.from_slot`;
  }
  for (let i = 0; i < right.length; i += PAGE) {
    const rows = right.slice(i, i + PAGE).map((row) => ({ ...row, hash: hexOf(row.hash) }));
    await sql`insert into token_bucket (token, bucket, hash, from_slot, to_slot)
      select token, bucket, hash, from_slot, to_slot
      from json_populate_recordset(null::token_bucket, ${JSON.stringify(rows)}::text::json)`;
  }
}
