/** Builds: computations that an entity's worker does beside its turns, from the state that the last turn left. */
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail } from "#src/base/result.ts";
import type { EntityState } from "#src/runtime/turns/fold.ts";
import type { EntityTarget, LoadedEntity } from "#src/runtime/turns/loader.ts";
import * as measure from "#src/runtime/metrics.ts";
import { startMachine, unreadableFailure, viewOf } from "#src/runtime/turns/machine.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { CommandAnswer } from "#src/runtime/turns/queue.ts";
import { isRetryable } from "#src/store/store.ts";

export interface BuildsOptions {
  readonly load: (wanted: EntityTarget) => Promise<LoadedEntity | Error>;
  readonly resident: (wanted: EntityTarget) => EntityState | undefined;
  readonly epochOf: (partition: number) => number | undefined;
  /** Aborts when the worker ends: who waits for a build asks the next owner. */
  readonly leaving: AbortSignal;
  readonly log: Log;
  /** Most builds at the same time. */
  readonly atOnce?: number;
}

/** A function that answers builds. One that is asked again by its id while it runs is not started twice. */
export function createBuilds(
  options: BuildsOptions,
): (wanted: EntityTarget, id: string, name: string, input: Json, deadline: number) => Promise<CommandAnswer> {
  const running = new Map<string, Promise<CommandAnswer>>();
  const run = async (wanted: EntityTarget, name: string, input: Json, deadline: number): Promise<CommandAnswer> => {
    const { kind, entity, partition } = wanted;
    const build = kind.builds !== undefined && Object.hasOwn(kind.builds, name) ? kind.builds[name] : undefined;
    if (build === undefined) return fail("unknown_kind", `A ${kind.kind} has no build "${name}".`);
    const parsed = build.input.safeParse(input);
    if (!parsed.success) return fail("invalid", `The input of "${name}" is malformed.`, issues(parsed.error.issues));
    if (options.epochOf(partition) === undefined) return "not_owner";
    let held = options.resident(wanted);
    if (held === undefined) {
      const loaded = await options.load(wanted);
      if (loaded instanceof Error) return unreadableFailure(kind, loaded);
      if (loaded.paused) return fail("paused", `This ${kind.kind} is paused.`);
      held = loaded.held;
    }
    const snapshot = held.snapshot ?? startMachine(kind.machine, entity)[0];
    const ended = new AbortController();
    const ms = deadline - Date.now();
    const timer = setTimeout(() => ended.abort(new Error("the time was up")), Math.max(0, ms));
    const leave = () => ended.abort(new Error("the worker ends"));
    options.leaving.addEventListener("abort", leave, { once: true });
    const late = () => options.leaving.aborted ? "not_owner" : fail("unavailable", "The build took too long.");
    try {
      return await Promise.race<CommandAnswer>([
        build.run(viewOf(entity, snapshot, held.version), parsed.data, { entity, signal: ended.signal, deadline }),
        new Promise((resolve) => ended.signal.addEventListener("abort", () => resolve(late()))),
      ]);
    } catch (error) {
      // A build that ends with its signal's reason was late and did not fail.
      if (ended.signal.aborted) return late();
      throw error;
    } finally {
      clearTimeout(timer);
      options.leaving.removeEventListener("abort", leave);
    }
  };
  return (wanted, id, name, input, deadline) => {
    const known = running.get(id);
    if (known !== undefined) return known;
    // Where it is counted, and once however often it is asked for while it runs.
    const begun = performance.now();
    const labels = [wanted.kind.kind, Object.hasOwn(wanted.kind.builds ?? {}, name) ? name : "unknown"] as const;
    const counted = (told: CommandAnswer): CommandAnswer => {
      measure.builds.of(...labels, measure.outcomeOf(told)).inc();
      measure.buildSeconds.of(...labels).since(begun);
      return told;
    };
    if (running.size >= (options.atOnce ?? 256)) {
      return Promise.resolve(counted(fail("overloaded", "Too many builds run at the moment; try again later.")));
    }
    const answer = run(wanted, name, input, deadline).catch((error): CommandAnswer => {
      // A build changes nothing, so the caller may ask again.
      if (isRetryable(error)) return fail("unavailable", "The database cannot be reached at the moment; try again.");
      options.log.error("a build failed", { entity: entityKey(wanted.entity), build: name, reason: reason(error) });
      return fail("failed", `The build "${name}" failed: ${reason(error)}`);
    }).then(counted).finally(() => running.delete(id));
    running.set(id, answer);
    return answer;
  };
}

/** What a schema found wrong, without the values, which may be secret. */
export function issues(found: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]) {
  return found.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join("."), message }));
}
