/**
 * Requests the signatures of witnesses for each new checkpoint. Each witness has a loop of its own: one that is away or
 * refuses delays no other one and not the log, and is requested again after a while, with the checkpoint that is the newest
 * then.
 */
import { fromUtf8, utf8 } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import { isObject, readJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fetchOutside } from "#src/base/outsideFetch.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { parseCheckpoint, parseSize } from "#src/tlog/checkpoint.ts";
import {
  keyIdOf,
  type NoteKey,
  parseSignatures,
  parseVkey,
  signatureLine,
  type SignedNote,
  verifySignatures,
  WITNESS_KEY,
} from "#src/tlog/note.ts";
import { consistencyProof } from "#src/tlog/tree.ts";
import { addCheckpointText } from "#src/tlog/witness.ts";
import { cosignatures, refusals } from "#src/tokens/log/metrics.ts";
import { withHashes } from "#src/tokens/log/rows.ts";
import type { WitnessAddress } from "#src/tokens/log/settings.ts";

export interface WitnessRequestOptions {
  readonly store: Store;
  readonly witnesses: readonly WitnessAddress[];
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  readonly log: Log;
  /** Milliseconds until a witness that did not sign is requested again; doubled each time. */
  readonly retryMs?: number;
}

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** Longest text of a witness that is kept, in UTF-16 units. */
const MOST_SAID = 200;

export class WitnessRequests {
  #wakes = new Set<() => void>();

  constructor(private readonly options: WitnessRequestOptions) {}

  /** Says that there is a new checkpoint. */
  wake(): void {
    for (const wake of this.#wakes) wake();
  }

  /** Requests until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.wake(), { once: true });
    await Promise.all(this.options.witnesses.map((witness) => this.#follow(witness, signal)));
  }

  async #follow(witness: WitnessAddress, signal: AbortSignal): Promise<void> {
    const { log, retryMs = RETRY_MS } = this.options;
    const { url } = witness;
    for (let failures = 0; !signal.aborted;) {
      let wake = () => {};
      const woken = new Promise<void>((resolve) => this.#wakes.add(wake = resolve));
      const answer = await this.#request(witness, signal).catch((error) => fail("failed", reason(error)));
      if (answer.ok) {
        failures = 0;
        if (!signal.aborted) await woken;
      } else if (!signal.aborted) {
        refusals.of(url, answer.error.code).inc();
        await this.#note(url, answer.error.message);
        if (failures === 0) log.warn("a witness has not signed", { url, reason: answer.error.message });
        await sleep(Math.min(LONGEST_RETRY_MS, retryMs * 2 ** Math.min(failures++, 20)), signal);
      }
      this.#wakes.delete(wake);
    }
  }

  /** Requests a signature for the newest checkpoint, where it is missing. */
  async #request(witness: WitnessAddress, signal: AbortSignal): Promise<Result<void, Failure>> {
    const { store: { sql } } = this.options;
    const key = await keyOf(witness, signal);
    if (!key.ok) return key;
    const due = await readDue(sql, witness.url, key.value);
    if (!due) return ok(undefined);
    let { before } = due;
    // the second attempt has the size that the witness says
    for (const isLast of [false, true]) {
      const proof = await withHashes(sql, (hashOf) => consistencyProof(before, due.size, hashOf));
      const body = addCheckpointText({ before, proof, checkpoint: due.note });
      const { url } = witness;
      const answer = await fetchOutside(`${url}/add-checkpoint`, {
        ...{ allowPrivate: false, chosen: url, signal, body, contentType: "text/plain; charset=utf-8" },
      });
      if (!answer.ok) return answer;
      const { status, bytes } = answer.value;
      const text = fromUtf8(bytes) ?? "";
      if (status === 200) return await this.#keep(witness, key.value, due, text);
      const theirs = status === 409 ? parseSize(text.replace(/\n$/, "")) : undefined;
      if (theirs === undefined || isLast) return fail(`status_${status}`, `The witness answers ${status}${said(text)}`);
      if (theirs > due.size) {
        return fail("ahead", `The witness has signed ${theirs} entries, the log has ${due.size}.`);
      }
      before = theirs;
    }
    return ok(undefined);
  }

  /** Stores a signature that is right. */
  async #keep(
    { url }: WitnessAddress,
    key: NoteKey,
    { note, size }: Due,
    text: string,
  ): Promise<Result<void, Failure>> {
    const checkpoint = parseCheckpoint(note);
    if (!checkpoint.ok) return checkpoint;
    const lines = parseSignatures(text);
    if (!lines.ok) return lines;
    const signed: SignedNote = { ...checkpoint.value.note, signatures: lines.value };
    const verified = verifySignatures(signed, [key]);
    if (!verified.ok) return verified;
    const [mine] = verified.value;
    if (!mine) return fail("not_signed", "The answer has no signature of the witness's key.");
    await this.options.store.sql.begin(async (sql) => {
      await this.options.fence(sql);
      // the checkpoint may have been removed meanwhile, or signed under another name
      await sql`insert into log_cosignature (size, witness, line)
        select size, ${nameOf(key)}, ${
        signatureLine(mine.line)
      } from log_checkpoint where size = ${size} and note = ${note}
        on conflict (size, witness) do update set line = excluded.line`;
      await sql`insert into log_witness (url, size, signed_at) values (${url}, ${size}, now())
        on conflict (url) do update set size = excluded.size, signed_at = excluded.signed_at`;
    });
    cosignatures.of(url).inc();
    return ok(undefined);
  }

  /** Keeps why a witness did not sign, for operators. */
  async #note(url: string, refusal: string): Promise<void> {
    const { log, store: { sql } } = this.options;
    await sql`insert into log_witness (url, size, refused_at, refusal) values (${url}, 0, now(), ${refusal})
      on conflict (url) do update set refused_at = excluded.refused_at, refusal = excluded.refusal`.catch((error) =>
      log.debug("the refusal of a witness is not kept", { reason: reason(error) })
    );
  }
}

/** What an instance of this service says of its refusal. */
function said(text: string): string {
  const body = readJson(utf8(text));
  return isObject(body) && typeof body.error === "string" ? `: ${body.error.slice(0, MOST_SAID)}` : ".";
}

interface Due {
  readonly size: number;
  readonly note: string;
  /** Size that the witness signed last, as far as is known. */
  readonly before: number;
}

const nameOf = (key: NoteKey) => `${key.name}+${keyIdOf(key)}`;

/** The newest checkpoint, where the witness has not signed it. */
async function readDue(sql: Queries, url: string, key: NoteKey): Promise<Due | undefined> {
  const [row] = await sql<{ size: bigint; note: string; before: bigint; signed: boolean }[]>`
    select k.size, k.note, coalesce((select w.size from log_witness w where w.url = ${url}), 0) as before,
      exists (select from log_cosignature c where c.size = k.size and c.witness = ${nameOf(key)}) as signed
    from log_checkpoint k order by k.size desc limit 1`;
  if (!row || row.signed) return undefined;
  const [size, before] = [Number(row.size), Number(row.before)];
  return { size, note: row.note, before: Math.min(before, size) };
}

/** The key of a witness; an instance of this service says its own. */
async function keyOf({ url, key }: WitnessAddress, signal: AbortSignal): Promise<Result<NoteKey, Failure>> {
  if (key) return ok(key);
  const answer = await fetchOutside(url, { allowPrivate: false, chosen: url, signal });
  if (!answer.ok) return answer;
  const info = answer.value.status === 200 ? readJson(answer.value.bytes) : undefined;
  if (!isObject(info) || typeof info.vkey !== "string") {
    return fail(
      "no_key",
      `${url} answers ${answer.value.status} and not with the key of a witness (another Arbor's is at /witness).`,
    );
  }
  const parsed = parseVkey(info.vkey);
  return parsed.ok && parsed.value.type !== WITNESS_KEY ? fail("no_key", "The key is not one of a witness.") : parsed;
}
