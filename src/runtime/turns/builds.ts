/** Builds: computations in an entity's worker, outside its turns, on the state after the last turn. */
import { z } from "zod";
import { type Json, messaged } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, ok } from "#src/base/result.ts";
import type { EntityState } from "#src/runtime/turns/fold.ts";
import type { EntityTarget, LoadedEntity } from "#src/runtime/turns/loader.ts";
import * as measure from "#src/runtime/metrics.ts";
import { startMachine, unreadableFailure, viewOf } from "#src/runtime/turns/machine.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { ActorKind, Build } from "#src/runtime/types.ts";
import type { CommandAnswer } from "#src/runtime/turns/queue.ts";
import { isRetryable } from "#src/store/store.ts";

export interface BuildsOptions {
  readonly load: (target: EntityTarget) => Promise<LoadedEntity | Error>;
  readonly resident: (target: EntityTarget) => EntityState | undefined;
  readonly epochOf: (partition: number) => number | undefined;
  /** Aborts when the worker stops: callers are then sent to the next owner. */
  readonly stopping: AbortSignal;
  readonly log: Log;
  /** Most builds at the same time, 256 by default. */
  readonly atOnce?: number;
}

/** The build that every kind has: the state after the last turn, also of a paused entity (`src/runtime/read.ts`). */
export const VIEW_BUILD = "@view";

const view: Build = {
  input: z.null(),
  run: ({ state, context, version }) => Promise.resolve(ok(messaged({ state, context, version }))),
};

function buildOf({ builds }: ActorKind, name: string): Build | undefined {
  if (name === VIEW_BUILD) return view;
  return builds !== undefined && Object.hasOwn(builds, name) ? builds[name] : undefined;
}

/** The name of a build for metrics and spans. */
export function buildLabel(kind: ActorKind, name: string): string {
  return buildOf(kind, name) === undefined ? "unknown" : name;
}

/** A function that runs builds. A request repeated with the same id while the build runs joins it. */
export function createBuilds(
  options: BuildsOptions,
): (target: EntityTarget, id: string, name: string, input: Json, deadline: number) => Promise<CommandAnswer> {
  const running = new Map<string, Promise<CommandAnswer>>();
  const run = async (target: EntityTarget, name: string, input: Json, deadline: number): Promise<CommandAnswer> => {
    const { kind, entity, partition } = target;
    const build = buildOf(kind, name);
    if (build === undefined) return fail("unknown_kind", `A ${kind.kind} has no build "${name}".`);
    const parsed = build.input.safeParse(input);
    if (!parsed.success) return fail("invalid", `The input of "${name}" is malformed.`, issues(parsed.error.issues));
    if (options.epochOf(partition) === undefined) return "not_owner";
    let state = options.resident(target);
    if (state === undefined) {
      const loaded = await options.load(target);
      if (loaded instanceof Error) return unreadableFailure(kind, loaded);
      if (loaded.paused && build !== view) return fail("paused", `This ${kind.kind} is paused.`);
      state = loaded.state;
    }
    const snapshot = state.snapshot ?? startMachine(kind.machine, entity)[0];
    const ended = new AbortController();
    const ms = deadline - Date.now();
    const timer = setTimeout(() => ended.abort(new Error("the timeout expired")), Math.max(0, ms));
    const stop = () => ended.abort(new Error("the worker is stopping"));
    options.stopping.addEventListener("abort", stop, { once: true });
    const late = () => options.stopping.aborted ? "not_owner" : fail("unavailable", "The build took too long.");
    try {
      return await Promise.race<CommandAnswer>([
        build.run(viewOf(entity, snapshot, state.version), parsed.data, { entity, signal: ended.signal, deadline }),
        new Promise((resolve) => ended.signal.addEventListener("abort", () => resolve(late()))),
      ]);
    } catch (error) {
      // A build that throws its signal's reason was too late; it did not fail.
      if (ended.signal.aborted) return late();
      throw error;
    } finally {
      clearTimeout(timer);
      options.stopping.removeEventListener("abort", stop);
    }
  };
  return (target, id, name, input, deadline) => {
    const known = running.get(id);
    if (known !== undefined) return known;
    // Repeated requests that join a running build are not counted.
    const start = performance.now();
    const labels = [target.kind.kind, buildLabel(target.kind, name)] as const;
    const counted = (answer: CommandAnswer): CommandAnswer => {
      measure.builds.of(...labels, measure.outcomeOf(answer)).inc();
      measure.buildSeconds.of(...labels).since(start);
      return answer;
    };
    if (running.size >= (options.atOnce ?? 256)) {
      return Promise.resolve(counted(fail("overloaded", "Too many builds are in progress; try again later.")));
    }
    const answer = run(target, name, input, deadline).catch((error): CommandAnswer => {
      // A build changes nothing, so the caller may repeat it.
      if (isRetryable(error)) return fail("unavailable", "The database is temporarily unavailable; try again.");
      options.log.error("a build failed", { entity: entityKey(target.entity), build: name, reason: reason(error) });
      return fail("failed", `The build "${name}" failed: ${reason(error)}`);
    }).then(counted).finally(() => running.delete(id));
    running.set(id, answer);
    return answer;
  };
}

/** The issues that a schema found, without the values, which may be secret. At most 20. */
export function issues(found: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]) {
  return found.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join("."), message }));
}
