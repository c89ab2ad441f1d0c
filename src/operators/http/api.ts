/** The JSON endpoints of the operator service. */
import type { OperatorPart } from "#src/operators/http/app.ts";
import { activityEndpoints } from "#src/operators/http/activity.ts";
import { actorControlEndpoints, actorEndpoints, type OperatorKind } from "#src/operators/http/actors.ts";
import { attentionEndpoint, type AttentionSources } from "#src/operators/http/attention.ts";
import { countEndpoints } from "#src/operators/http/counts.ts";
import { deadLetterEndpoints } from "#src/operators/http/deadLetters.ts";
import type { Lookups } from "#src/operators/http/lookups.ts";
import { searchEndpoint } from "#src/operators/http/search.ts";
import { placeEndpoints } from "#src/operators/http/places.ts";
import { tokenLogEndpoint, type TokenLogReads } from "#src/operators/http/tokenLog.ts";
import type { Log } from "#src/base/log.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { createControl } from "#src/runtime/operations/control.ts";
import { createDeadLetters } from "#src/runtime/operations/deadLetters.ts";
import type { Store } from "#src/store/store.ts";

export interface OperatorApiOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly ask: Ask["ask"];
  /** The kinds that workers of this version run. */
  readonly kinds: readonly OperatorKind[];
  /** After so many milliseconds without a sign of life a worker counts as dead. */
  readonly aliveMs: number;
  readonly log: Log;
  /** The index of the chain; without it history has no blocks, search finds ids only, and lags have no `follower`. */
  readonly index?: Lookups | undefined;
  /** The log of tokens, if there is one. */
  readonly tokenLog?: TokenLogReads | undefined;
  /** What needs attention and only the process knows. */
  readonly attention?: AttentionSources;
}

/** Actors, workers, dead letters and the rest, for `operatorApp`. */
export function operatorApi(
  { store, bus, ask, kinds, aliveMs, log, index, tokenLog, attention = {} }: OperatorApiOptions,
): OperatorPart {
  return (app) => {
    const known = new Map(kinds.map((kind) => [kind.kind, kind]));
    const control = createControl({ store, bus, log });
    const letters = createDeadLetters({ store, ask, control });
    const places = placeEndpoints(app, { store, bus, control, kinds: known, aliveMs, index });
    const { paused } = countEndpoints(app, { store, kinds: known, letters, places });
    actorEndpoints(app, { store, kinds: known, control, index });
    actorControlEndpoints(app, { store, kinds: known, control });
    searchEndpoint(app, { store, index });
    deadLetterEndpoints(app, letters, kinds);
    tokenLogEndpoint(app, tokenLog);
    activityEndpoints(app, store);
    attentionEndpoint(app, { store, places, letters, paused, sources: attention });
  };
}
