/**
 * The jobs of builder threads. Inputs and results are plain values for structured clone: no functions, no class
 * instances.
 */
import type { Failure, Result } from "#src/base/result.ts";
import type { BundleFailure, BundleFile, BundleInput } from "#src/threads/bundle.ts";

/**
 * Jobs by name, each from its input to its result. A module adds its own to this interface by declaration merging
 * (`declare module`), in a file that its other files import `Builders` from; the composition has a handler for each.
 */
export interface Jobs {
  /** Loads the code that jobs need, so that the first one does not wait. */
  warm(input: null): Result<null, never>;
  /** Text of a module for browsers. */
  bundle(input: BundleInput): Result<BundleFile[], BundleFailure>;
}

export type JobName = keyof Jobs;
export type JobInput<J extends JobName> = Parameters<Jobs[J]>[0];
type JobResult<J extends JobName> = ReturnType<Jobs[J]>;
/** The value of a successful job. */
export type JobValue<J extends JobName> = Extract<JobResult<J>, { ok: true }>["value"];
/** The failures of a job itself. */
export type JobFailure<J extends JobName> = Extract<JobResult<J>, { ok: false }>["error"];

/**
 * Failures of the threads: `overloaded`: the queue is full or the service is stopping; `deadline`: not done in time;
 * `crashed`: the thread ended (it is replaced).
 */
export type ThreadFailure = Failure<"overloaded" | "deadline" | "crashed">;

/** The message to a thread. */
export interface JobOrder {
  readonly id: number;
  readonly job: JobName;
  readonly input: unknown;
}

/** The message from a thread; `broke` is the message of an unexpected error. */
export type JobReport =
  | { readonly id: number; readonly result: Result<unknown, Failure> }
  | { readonly id: number; readonly broke: string };
