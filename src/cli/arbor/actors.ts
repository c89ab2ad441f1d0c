/** `arbor actor`: the state and the transitions of every actor, and pausing. */
import type { Command } from "commander";
import { type Context, define, first, limitOption, pageSize } from "#src/cli/arbor/command.ts";
import { toJson } from "#src/base/json.ts";

/** Greatest `--limit`. */
const MOST = 100_000;
/** Most entries of one page of the service. */
const PAGE = 200;

/** Adds `arbor actor` with all of its commands. */
export function actorCommands(program: Command): void {
  const parent = program.command("actor").description("actors: their states, transitions and pauses (operators)")
    .addHelpText("after", "\nExample:\n  $ arbor actor list --kind token");

  define(
    parent,
    {
      usage: "list [prefix]",
      description: "actors by kind and id, those whose id begins with the prefix",
      example: "actor list --kind token --paused",
    },
    async (
      { operator, output, options: { kind, state, paused, limit } }: Context<
        { kind?: string; state?: string; paused?: boolean; limit?: number }
      >,
      q,
    ) => {
      const selection = { kind, state, paused, q, limit: pageSize(limit, PAGE) };
      const actors = await first((await operator()).actors(selection), limit, output);
      output.list(
        actors,
        ["kind", "id", "state", "version", "paused", "changed"],
        actors.map((one) => [one.kind, one.id, one.state, one.version, one.paused ? "paused" : "", one.changed]),
      );
    },
  ).option("--kind <kind>", "only actors of this kind")
    .option("--state <state>", "only actors in this state")
    .option("--paused", "only paused actors")
    .option("--no-paused", "only actors that are not paused")
    .addOption(limitOption(MOST));

  define(parent, {
    usage: "show <kind> <id>",
    description: "the state of an actor, its pending work and its owner",
    example: "actor show token 96d1f0…",
  }, async ({ operator, output }, kind, id) => {
    const actor = await (await operator()).actor(kind, id);
    output.record(actor, [
      ["actor", `${actor.entity.kind}/${actor.entity.id}`],
      ["state", actor.state],
      ["version", actor.version],
      ["paused", actor.paused],
      ["changed", actor.changed],
      ["allowed events", actor.allowed.join(", ")],
      ["allowed intents", actor.intents.join(", ")],
      ["reminders", actor.reminders.map(({ name, at }) => `${name} at ${at}`).join(", ")],
      ["open effects", actor.effects.map(({ name, attempts }) => `${name} (${attempts} failed)`).join(", ")],
      ["unread inputs", actor.unreadInputs],
      ["partition", actor.partition],
      ["owner", actor.owner],
      ["epoch", actor.epoch],
      ["mailbox", actor.mailbox?.depth],
      ["context", toJson(actor.context)],
    ]);
  });

  define(parent, {
    usage: "history <kind> <id>",
    description: "retained transitions of an actor, newest first",
    example: "actor history token 96d1f0… --limit 10",
  }, async ({ operator, output, options: { limit } }: Context<{ limit?: number }>, kind, id) => {
    const transitions = await first((await operator()).history(kind, id, pageSize(limit, PAGE)), limit, output);
    output.list(
      transitions,
      ["version", "event", "from", "to", "cause", "at"],
      transitions.map(({ version, event, from, to, cause, at }) => [version, event, from, to, cause, at]),
    );
  }).addOption(limitOption(MOST));

  pauseCommands(parent);
}

function pauseCommands(parent: Command): void {
  for (
    const [name, description] of [
      ["pause", "refuse commands to an actor; its other events wait"],
      ["resume", "resume a paused actor; waiting events are applied in order"],
    ] as const
  ) {
    define(parent, { usage: `${name} <kind> <id>`, description, example: `actor ${name} token 96d1f0…` }, async (
      { operator, output },
      kind,
      id,
    ) => {
      const answer = await (await operator())[name](kind, id);
      output.value(answer.paused ? "paused" : "running", answer);
    });
  }
}
