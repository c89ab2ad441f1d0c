/**
 * Queries of an Ogmios server, over one connection that is opened when it is needed.
 *
 * Assumptions: a server restarts, so a query on a connection that turns out to be broken is repeated once on a new one.
 * A connection holds one ledger state and one snapshot of the mempool at a time, so what uses either takes turns.
 */
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";
import { type At, type Unanswered, type Unreachable, unsupported } from "#src/chain/provider/answer.ts";
import { type OgmiosConnection, type Params, placeOf } from "#src/chain/provider/ogmios/connection.ts";
import {
  asOgmiosError,
  OgmiosError,
  ogmiosError,
  type OgmiosFailure,
  ServerError,
} from "#src/chain/provider/ogmios/errors.ts";
import { connect, type KnownNetwork, type NetworkSettings } from "#src/chain/provider/ogmios/genesis.ts";
import { pointJson, readPoint } from "#src/ogmios/values.ts";

export interface ClientSettings extends NetworkSettings {
  readonly log: Log;
}

/** The ledger's state at a point. */
export interface LedgerState {
  readonly point: Point;
  /** The answer to `queryLedgerState/<name>`. Throws `OgmiosError`. */
  query(name: string, params?: Params): Promise<Json>;
}

/** Attempts at a state that a rollback takes away. */
const MAX_TRIES = 5;
/** Milliseconds until a query is sent again whose answer was too large. */
const TOO_LARGE_MS = 600_000;
/** The state cannot be acquired, or no longer exists. */
const NOT_ACQUIRED = 2000;
const STATE_GONE = 2003;

const hasGone = (error: unknown) =>
  error instanceof ServerError && (error.number === NOT_ACQUIRED || error.number === STATE_GONE);

/** Runs work one after the other. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

export class OgmiosClient {
  /** The server, for messages. */
  readonly where: string;
  readonly #closing = new AbortController();
  readonly #ledgerTurns = new Turns();
  readonly #mempoolTurns = new Turns();
  #connecting: Promise<OgmiosConnection> | undefined;
  #known: KnownNetwork | undefined;
  readonly #tooLarge = new Map<string, { readonly error: OgmiosError; readonly until: number }>();

  constructor(private readonly settings: ClientSettings) {
    this.where = placeOf(settings.url);
  }

  /** Aborts when this is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** The network; in one attempt to connect where it is not known. */
  async network(): Promise<Result<KnownNetwork, OgmiosFailure>> {
    if (this.#known) return ok(this.#known);
    const reached = await this.attempt(() => Promise.resolve(this.#known));
    if (!reached.ok) return reached;
    if (!reached.value) throw new Error("a connection was given before its network was read");
    return ok(reached.value);
  }

  /** Runs requests; once more on a new connection if an existing one turns out to be broken. */
  async attempt<T>(work: (connection: OgmiosConnection) => Promise<T>): Promise<Result<T, OgmiosFailure>> {
    for (let again = this.#connecting !== undefined;; again = false) {
      try {
        return ok(await work(await this.#connection()));
      } catch (error) {
        const { failure } = asOgmiosError(error, `Ogmios at ${this.where}`);
        if (!again || failure.code !== "unreachable") return { ok: false, error: failure };
      }
    }
  }

  /** Runs requests for a caller of the port. */
  async query<T>(work: (connection: OgmiosConnection) => Promise<T>): Promise<Result<T, Unreachable>> {
    const answer = await this.attempt(work);
    return answer.ok ? answer : this.unreachable(answer.error);
  }

  /** Queries the ledger at its tip. */
  async atTip<T>(work: (ledger: LedgerState) => Promise<T>): Promise<Result<At<T>, Unreachable>> {
    return await this.query((connection) => this.#acquired(connection, undefined, work));
  }

  /** Queries the ledger at its tip, with queries that the server may not have. */
  async ofLedger<T>(work: (ledger: LedgerState) => Promise<T>): Promise<Result<At<T>, Unanswered>> {
    const answer = await this.attempt((connection) => this.#acquired(connection, undefined, work));
    if (answer.ok) return answer;
    const { code, message } = answer.error;
    return code === "lacking" || code === "too_large" ? unsupported(message) : this.unreachable(answer.error);
  }

  /** Queries the ledger at a point; undefined if the server does not have the state of that point. */
  async atPoint<T>(point: Point, work: (ledger: LedgerState) => Promise<T>): Promise<At<T> | undefined> {
    const answer = await this.attempt((connection) =>
      this.#acquired(connection, point, work).catch((error) => {
        if (hasGone(error)) return undefined;
        throw error;
      })
    );
    if (answer.ok) return answer.value;
    throw new OgmiosError(answer.error);
  }

  /** Runs requests about one snapshot of the mempool. */
  ofMempool<T>(work: (connection: OgmiosConnection) => Promise<T>): Promise<Result<T, Unreachable>> {
    return this.query((connection) =>
      this.#mempoolTurns.take(async () => {
        await connection.request("acquireMempool");
        try {
          return await work(connection);
        } finally {
          // without this the next snapshot is only given after a change
          await connection.request("releaseMempool");
        }
      })
    );
  }

  /** A failure for a caller of the port. */
  unreachable({ code, message }: OgmiosFailure): ReturnType<typeof fail<"network_unreachable">> {
    this.settings.log.warn("Ogmios did not respond", { server: this.where, code, reason: message });
    return fail("network_unreachable", message);
  }

  /** Ends the connection; later queries fail. */
  close(): void {
    const open = this.#connecting;
    this.#closing.abort();
    open?.then((connection) => connection.close(), () => {});
  }

  /** Holds a state of the ledger meanwhile; that of the tip without a point. */
  #acquired<T>(
    connection: OgmiosConnection,
    wanted: Point | undefined,
    work: (ledger: LedgerState) => Promise<T>,
  ): Promise<At<T>> {
    return this.#ledgerTurns.take(async () => {
      for (let tries = 1;; tries++) {
        try {
          const point = wanted ?? readPoint(await connection.request("queryNetwork/tip"));
          await connection.request("acquireLedgerState", { point: pointJson(point) });
          const query = (name: string, params?: Params) => this.#query(connection, `queryLedgerState/${name}`, params);
          try {
            return { point, value: await work({ point, query }) };
          } finally {
            await connection.request("releaseLedgerState");
          }
        } catch (error) {
          // a rollback took the point away
          if (wanted || !hasGone(error) || tries >= MAX_TRIES) throw error;
        }
      }
    });
  }

  /** Sends a query, unless its answer was too large a while ago; one with parameters may have a smaller one. */
  async #query(connection: OgmiosConnection, method: string, params?: Params): Promise<Json> {
    const before = params ? undefined : this.#tooLarge.get(method);
    if (before && performance.now() < before.until) throw before.error;
    try {
      return await connection.request(method, params);
    } catch (error) {
      if (error instanceof OgmiosError && error.code === "too_large" && !params) {
        this.#tooLarge.set(method, { error, until: performance.now() + TOO_LARGE_MS });
      }
      throw error;
    }
  }

  /** The open connection, or a new one. Throws `OgmiosError`. */
  #connection(): Promise<OgmiosConnection> {
    if (this.closed.aborted) throw ogmiosError("aborted", "The port was closed.");
    if (this.#connecting) return this.#connecting;
    const opened = this.#connecting = connect(this.settings, this.closed).then(({ connection, known }) => {
      this.#known = known;
      return connection;
    });
    const forget = () => {
      if (this.#connecting === opened) this.#connecting = undefined;
    };
    opened.then(({ ended }) => ended.aborted ? forget() : ended.addEventListener("abort", forget), forget);
    return opened;
  }
}
