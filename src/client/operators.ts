/**
 * The typed client of the operator service; runs in a browser too, on pages of the service itself.
 *
 * @example
 * ```ts
 * import { OperatorClient } from "./src/client/operators.ts";
 *
 * export async function pauseAll(service: string, token: string, kind: string): Promise<number> {
 *   const client = new OperatorClient(service, token);
 *   let paused = 0;
 *   for await (const { id } of client.actors({ kind, paused: false })) {
 *     if ((await client.pause(kind, id)).paused) paused++;
 *   }
 *   return paused;
 * }
 * ```
 */
import type { z } from "zod";
import type * as eventApi from "#src/operators/api/events.ts";
import type * as api from "#src/operators/api/operator.ts";
import { call, type Query, queryText } from "#src/client/http.ts";
import { dataOf, follow, type FollowOptions } from "#src/client/sse.ts";

export type Actor = z.output<typeof api.actor>;
export type ActorLine = z.output<typeof api.actorLine>;
export type Kinds = z.output<typeof api.kinds>;
export type Overview = z.output<typeof api.overview>;
export type Workers = z.output<typeof api.workers>;
export type Transition = z.output<typeof api.transition>;
export type PastState = z.output<typeof api.past>;
export type DeadLetter = z.output<typeof api.deadLetter>;
export type ReleasedToken = z.output<typeof api.releaseState>;
export type QuarantinedTokens = z.output<typeof api.quarantinedTokens>;
export type LogGeneration = z.output<typeof api.logGeneration>;
export type Rebuild = z.output<typeof api.rebuildState>;
export type TransitionEvent = z.output<typeof eventApi.transitionEvent>;

/** A selection of actors. */
export interface ActorSelection {
  readonly kind?: string | undefined;
  readonly state?: string | undefined;
  readonly paused?: boolean | undefined;
  /** Prefix of the id. */
  readonly q?: string | undefined;
  /** Most actors of one page. */
  readonly limit?: number | undefined;
}

/** A selection of transitions, and where their stream starts. */
export interface TransitionSelection extends FollowOptions {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly transition?: string | undefined;
  /** `now` (default), `start` for all retained events, or a position. */
  readonly from?: string | undefined;
}

/** An item of the stream of transitions; a stream that continues after it gets `id` as `after`. */
export type OperatorEvent =
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: "transition"; readonly id: string; readonly event: TransitionEvent }
  /** The database was restored to an earlier point: what came after `restoredTo` is lost, and all events follow again. */
  | { readonly type: "restored"; readonly generation: string; readonly restoredTo: string }
  /** Transitions before `id` were deleted before this reader got them. */
  | { readonly type: "reset"; readonly id: string };

/**
 * The operator service over HTTP: state and transitions of every actor, and what an operator can do.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 *
 * @example
 * ```ts
 * import { OperatorClient } from "./src/client/operators.ts";
 *
 * const client = new OperatorClient("http://127.0.0.1:8091");
 * console.log(await client.kinds().catch((error) => error.code));
 * ```
 */
export class OperatorClient {
  readonly #token: string | undefined;

  /** `base` is the URL of the service, such as `http://127.0.0.1:8091`; `token` is its bearer token, if it has one. */
  constructor(readonly base: string, token?: string) {
    this.#token = token;
  }

  overview(): Promise<Overview> {
    return this.get("/overview");
  }

  /** Kinds of actors, with the number of actors in each state. */
  kinds(): Promise<Kinds> {
    return this.get("/kinds");
  }

  workers(): Promise<Workers> {
    return this.get("/workers");
  }

  /** Actors by kind and id; further pages are requested as they are read. */
  async *actors(selection: ActorSelection = {}): AsyncGenerator<ActorLine, void> {
    type Page = z.output<typeof api.actors>;
    for await (const { actors } of this.pages<Page>("/actors", { ...selection }, "after")) yield* actors;
  }

  /** An actor, with its state, pending work and owner. */
  actor(kind: string, id: string): Promise<Actor> {
    return this.get(actorPath(kind, id));
  }

  /** Retained transitions of an actor, newest first; `limit` is the size of a page. */
  async *history(kind: string, id: string, limit?: number): AsyncGenerator<Transition, void> {
    type Page = z.output<typeof api.history>;
    const pages = this.pages<Page>(`${actorPath(kind, id)}/history`, { limit }, "before");
    for await (const { transitions } of pages) yield* transitions;
  }

  /** The state of an actor at a version. */
  stateAt(kind: string, id: string, version: number): Promise<PastState> {
    return this.get(`${actorPath(kind, id)}/at`, { version });
  }

  /** Commands to a paused actor are refused; its other events wait. */
  pause(kind: string, id: string): Promise<{ readonly paused: boolean }> {
    return this.send("POST", `${actorPath(kind, id)}/pause`);
  }

  resume(kind: string, id: string): Promise<{ readonly paused: boolean }> {
    return this.send("POST", `${actorPath(kind, id)}/resume`);
  }

  /** Events that failed, newest first. */
  async *deadLetters(
    selection: { readonly kind?: string; readonly id?: string } = {},
  ): AsyncGenerator<DeadLetter, void> {
    type Page = z.output<typeof api.deadLetters>;
    for await (const { deadLetters } of this.pages<Page>("/dead-letters", selection, "after")) yield* deadLetters;
  }

  quarantined(): Promise<QuarantinedTokens> {
    return this.get("/tokens/quarantined");
  }

  /** Replays a token from its first state and releases it from quarantine. */
  release(tokenId: string): Promise<ReleasedToken> {
    return this.send("POST", `/tokens/${encodeURIComponent(tokenId)}/release`);
  }

  /** Begins to write the streams of transitions again from the database. */
  startRebuild(body: { readonly stream?: boolean } = {}): Promise<Rebuild> {
    return this.send("POST", "/events/rebuild", body);
  }

  /** Says that the database was restored to an earlier point, and used from `since` on (ISO 8601; by default not yet). */
  restored(body: { readonly since?: string } = {}): Promise<LogGeneration> {
    return this.send("POST", "/events/restored", body);
  }

  /** The generation of the log of transitions: another one begins with each restore. */
  generation(): Promise<LogGeneration> {
    return this.get("/events/generation");
  }

  /** The last rebuild of the streams of transitions. */
  rebuild(): Promise<Rebuild> {
    return this.get("/events/rebuild");
  }

  /** Transitions, until the signal aborts: the stream reconnects, and the server sends what was missed. */
  async *events(
    { kind, id, transition, from, ...options }: TransitionSelection = {},
  ): AsyncGenerator<OperatorEvent, void> {
    const url = `${this.base.replace(/\/$/, "")}/events${queryText({ kind, id, transition, from })}`;
    for await (const one of follow(url, { ...options, headers: { ...this.headers(), ...options.headers } })) {
      if (one.type !== "event") yield one;
      else if (one.event.event === "reset") yield { type: "reset", id: one.event.id };
      else if (one.event.event === "transition") yield { type: "transition", id: one.event.id, event: dataOf(one) };
    }
  }

  /** A GET request for an endpoint without a method here. */
  get<T>(path: string, query: Query = {}): Promise<T> {
    return call<T>(this.base, "GET", path + queryText(query), undefined, undefined, this.headers());
  }

  /** A request that changes something. */
  send<T>(method: "POST" | "DELETE", path: string, body?: unknown): Promise<T> {
    return call<T>(this.base, method, path, body, undefined, { ...this.headers(), "arbor-operator": "1" });
  }

  private headers(): Record<string, string> {
    return this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
  }

  /** All pages of a list; `cursor` is the parameter that takes the `next` of the page before. */
  private async *pages<T extends { readonly next: string | null }>(
    path: string,
    query: Query,
    cursor: string,
  ): AsyncGenerator<T, void> {
    let next: string | null | undefined;
    do {
      const page: T = await this.get<T>(path, { ...query, [cursor]: next ?? undefined });
      yield page;
      next = page.next;
    } while (next !== null);
  }
}

const actorPath = (kind: string, id: string) => `/actors/${encodeURIComponent(kind)}/${encodeURIComponent(id)}`;
