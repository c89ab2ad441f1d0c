/** `arbor events`: transitions of actors as they happen, and their streams at NATS. */
import process from "node:process";
import type { Command } from "commander";
import { sleep } from "#src/base/clock.ts";
import { type Context, define, wholeNumber } from "#src/cli/arbor/command.ts";
import { CliError } from "#src/cli/error.ts";

/** Time between two looks at a rebuild, in milliseconds. */
const LOOK_MS = 500;

interface EventsOptions {
  readonly follow?: boolean;
  readonly limit?: number;
  readonly kind?: string;
  readonly id?: string;
  readonly transition?: string;
  readonly from?: string;
}

/** Adds `arbor events`. */
export function eventsCommand(program: Command): void {
  const events = define(program, {
    usage: "events",
    description: "transitions of actors: a line each in a terminal, CloudEvents as JSON lines in a pipe (operators)",
    example: "events --follow --kind token",
  }, async ({ operator, output, options: { follow, limit, ...selection } }: Context<EventsOptions>) => {
    if (!follow && limit === undefined) {
      throw new CliError("One of --follow and --limit is required: the stream has no end.", "bad_options");
    }
    const stopped = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());
    const { kind, id, transition, from = follow ? "now" : "start" } = selection;
    let left = limit ?? Infinity;
    for await (const one of (await operator()).events({ kind, id, transition, from, signal: stopped.signal })) {
      if (one.type === "reset") output.note("Transitions before this point are no longer retained.");
      if (one.type === "restored") {
        output.note("The database was restored to an earlier point: the transitions begin again.");
      }
      if (one.type !== "transition") continue;
      const { time, data: { entity, from: before, to, version } } = one.event;
      const name = one.event.type.split(".").at(-1);
      output.line(`${time}  ${entity.kind}/${entity.id}  ${version} ${name}  ${before} → ${to}`, one.event);
      if (--left === 0) break;
    }
  }).option("--follow", "print transitions until interrupted")
    .option("--limit <n>", "end after so many transitions", wholeNumber(1, 1_000_000_000))
    .option("--kind <kind>", "only actors of this kind")
    .option("--id <id>", "only the actor with this id")
    .option("--transition <name>", "only this transition, in kebab case")
    .option(
      "--from <position>",
      "now, start (all retained ones), or a position (default: now with --follow, else start)",
    );

  define(events, {
    usage: "restored",
    description: "say that the database was restored to an earlier point: subscribers begin again (operators)",
    example: "events restored --since 2026-11-29T12:00:00Z",
  }, async ({ operator, output, options }: Context<{ readonly since?: string }>) => {
    const state = await (await operator()).restored(options);
    output.record(state, Object.entries(state));
  }).option("--since <time>", "when the restored database was first used (default: nothing was written since)");

  define(events, {
    usage: "generation",
    description: "the generation of the log of transitions: another one begins with each restore (operators)",
    example: "events generation",
  }, async ({ operator, output }: Context<object>) => {
    const state = await (await operator()).generation();
    output.record(state, Object.entries(state));
  });

  define(events, {
    usage: "rebuild",
    description: "write the JetStream streams again from the database (operators)",
    example: "events rebuild",
  }, async ({ operator, output, options: { stream } }: Context<{ readonly stream: boolean }>) => {
    const client = await operator();
    let state = await client.startRebuild({ stream });
    while (stream && state.status === "running") {
      await sleep(LOOK_MS);
      state = await client.rebuild();
      output.note(`${state.stored} of ${state.total} transitions`);
    }
    if (stream && state.status === "failed") throw new CliError(`The rebuild failed: ${state.reason}.`, "failed");
    output.record(state, Object.entries(state));
  }).option("--no-stream", "the server has no JetStream any more, on purpose: publish over core NATS from now on");
}
