/**
 * Which of several PostgreSQL servers takes writes, noticed also where connections stay open without an answer.
 *
 * A promotion begins a new timeline. Of the servers that take writes, the one on the latest timeline is the primary; one
 * on an earlier timeline than was seen before is a former primary that came back, and gets no statement.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { inTime, sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";

/** What a server says of itself. */
export interface ServerState {
  readonly writable: boolean;
  /** Eight hexadecimal digits; undefined on a standby. */
  readonly timeline: string | undefined;
}

/** Asks one server; `end` gives up its connection. */
export interface ServerQuestion {
  ask(): Promise<ServerState>;
  end(): Promise<void>;
}

/** The primary among some servers. */
export interface PrimaryWatch {
  /** The URL of the primary. Waits for it some seconds, then rejects with `CONNECT_TIMEOUT`. */
  find(): Promise<string>;
  /** Has the servers asked at once: a connection was lost, or a server refused a write. */
  doubt(): void;
  /** Calls a function with the URL of each new primary. */
  onMoved(listener: (url: string) => void): void;
  stop(): Promise<void>;
}

/** Statement for `ServerState`; a standby has no own position in the log. */
export const SERVER_STATE = `
  select current_setting('transaction_read_only') = 'off' as writable,
    case when pg_is_in_recovery() then null else left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`;

/** Time in ms between two rounds of questions, and between those while no server is the primary. */
const ROUND_MS = 2_000;
const SEARCH_MS = 250;
/** Time limit in ms for an answer. */
const ANSWER_MS = 2_000;
/** How long a new connection waits for a primary, in ms. */
const FIND_MS = 3_000;
/** Time limit in ms for a TCP connection. */
const DIAL_MS = 3_000;

/** Watches the servers at some URLs, from the first `find` on. `question` opens a connection for its questions. */
export function watchPrimary(
  urls: readonly string[],
  question: (url: string) => ServerQuestion,
  findMs = FIND_MS,
): PrimaryWatch {
  const questions = new Map<string, ServerQuestion>();
  const listeners: ((url: string) => void)[] = [];
  const waiting = new Set<(url: string) => void>();
  const stopped = new AbortController();
  let findings = "not asked yet";
  /** The primary of the last round that found one, and its timeline. */
  let last: { readonly url: string; readonly timeline: string } | undefined;
  /** Whether the last round found it. */
  let found = false;
  let again = new AbortController();
  let running: Promise<void> | undefined;

  const stateOf = async (url: string): Promise<ServerState | string> => {
    const one = questions.get(url) ?? question(url);
    questions.set(url, one);
    try {
      const state = await inTime(one.ask(), ANSWER_MS);
      if (state !== undefined) return state;
      throw new Error("no answer");
    } catch (error) {
      questions.delete(url);
      void one.end();
      return reason(error);
    }
  };
  const round = async () => {
    const states = await Promise.all(urls.map(async (url) => ({ url, state: await stateOf(url) })));
    const said: string[] = [];
    let best: typeof last;
    for (const { url, state } of states) {
      const { writable = false, timeline } = typeof state === "string" ? {} : state;
      const old = timeline !== undefined && last !== undefined && timeline < last.timeline;
      if (writable && timeline !== undefined && !old) {
        const later = best === undefined || timeline > best.timeline;
        if (later || timeline === best?.timeline && url === last?.url) best = { url, timeline };
      }
      const what = typeof state === "string" ? state : old ? "a former primary" : "read only";
      said.push(`${new URL(url).host}: ${what}`);
    }
    found = best !== undefined;
    findings = said.join("; ");
    if (best === undefined) return;
    const moved = last !== undefined && last.url !== best.url;
    last = best;
    for (const resolve of waiting) resolve(best.url);
    waiting.clear();
    if (moved) { for (const listener of listeners) listener(best.url); }
  };
  const run = async () => {
    while (!stopped.signal.aborted) {
      again = new AbortController();
      await round();
      const pause = AbortSignal.any([stopped.signal, ...found ? [again.signal] : []]);
      await sleep(found ? ROUND_MS : SEARCH_MS, pause);
    }
    await Promise.all([...questions.values()].map((one) => one.end()));
  };
  return {
    find: async () => {
      running ??= run();
      if (found && last !== undefined) return last.url;
      let late = (_: string) => {};
      const next = new Promise<string>((resolve) => waiting.add(late = resolve));
      const url = await inTime(next, findMs);
      waiting.delete(late);
      if (url !== undefined) return url;
      throw Object.assign(new Error(`no server of the database takes writes (${findings})`), {
        code: "CONNECT_TIMEOUT",
      });
    },
    doubt: () => {
      found = false;
      again.abort();
    },
    onMoved: (listener) => void listeners.push(listener),
    stop: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** A socket to the server in a URL, with the members that postgres.js sets. Rejects if it does not connect in time. */
export async function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const at = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 5432) };
  const socket = connect(at);
  const connected = once(socket, "connect").then(() => true);
  if (await inTime(connected, DIAL_MS) === undefined) {
    connected.catch(() => {});
    socket.destroy();
    throw Object.assign(new Error(`${at.host}:${at.port} does not answer`), { code: "CONNECT_TIMEOUT" });
  }
  return Object.assign(socket, at);
}
