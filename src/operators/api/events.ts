/** Events of transitions, and the queries of their streams; safe in a browser. */
import { z } from "zod";
import { kindText as kind, plainText } from "#src/http/textSchemas.ts";

const id = plainText(200);
const transition = z.string().regex(/^[a-z0-9-]{1,200}$/, "expected an event name in kebab case");

/** A selection of transitions. */
export const eventFilter = {
  kind: kind.optional().meta({ description: "Only transitions of actors of this kind.", example: "token" }),
  id: id.optional().describe("Only transitions of the actor with this id."),
  transition: transition.optional().meta({ description: "Only this transition.", example: "rolled-back" }),
};

export const position = z.string().regex(/^[\x21-\x7e]{1,3000}$/, "not a position").describe(
  "A position in commit order: the `id` of a server-sent event.",
);

export const eventsQuery = {
  ...eventFilter,
  from: position.optional().meta({
    description: "Where to start: `now` (default), `start` for all retained events, or a position to continue after. " +
      "The header Last-Event-ID takes precedence.",
    example: "now",
  }),
};

/** The body of an event: CloudEvents 1.0, JSON. */
export const transitionEvent = z.object({
  specversion: z.literal("1.0"),
  id: z.string().meta({
    description:
      "`<kind>/<id>:<version>`, and after a restore `@<generation>` behind it; the same each time the event is " +
      "delivered, and never that of another one.",
    example: "token/96d1…:7",
  }),
  source: z.string().meta({
    description: "`/arbor/<kind>/<id>`, with the id encoded as in the NATS subject.",
    format: "uri-reference",
  }),
  type: z.string().meta({ description: "`arbor.<kind>.<transition>`.", example: "arbor.token.booted" }),
  time: z.string().meta({ description: "Time of the transition.", format: "date-time" }),
  datacontenttype: z.literal("application/json"),
  generation: z.string().optional().meta({
    description: "Generation of the log: missing for events from before the first restore to an earlier point; later " +
      "ones are greater.",
    example: "mx1sjqtc",
  }),
  dataschema: z.string().meta({
    description: "`urn:arbor:event:<kind>.<transition>:<version>`: the schema of the content, and its version.",
    example: "urn:arbor:event:token.booted:1",
    format: "uri",
  }),
  data: z.object({
    entity: z.object({ kind, id }),
    version: z.int().min(1).describe("Number of the actor's transition: 1, 2, 3 … without gaps."),
    from: z.string().meta({ description: "State before the transition.", example: "absent" }),
    to: z.string().meta({ description: "State after the transition.", example: "live" }),
    cause: z.string().describe("Id of the command, `input:<seq>`, `reminder:<name>` or `effect:<kind>/<id>:<n>`."),
    content: z.record(z.string(), z.unknown()).optional().describe(
      "What happened, at most 8,000 bytes. Missing for a reader without the right to it.",
    ),
    contentReference: z.string().optional().meta({
      description: "Path at the operator service that has the content, where it is longer.",
      format: "uri-reference",
    }),
  }),
}).meta({ id: "TransitionEvent", description: "A transition as a CloudEvent." });
/** The body of the events of one kind, derived from its machine's states and transitions. */
export function transitionEventOf(
  kind: string,
  machine: {
    readonly states: readonly string[] | undefined;
    readonly transitions: readonly string[];
    /** Schemas of content, one for each form. */
    readonly contents: readonly z.ZodObject[];
  },
) {
  const { shape } = transitionEvent;
  const { from, to, content } = shape.data.shape;
  const state = (schema: typeof from) =>
    machine.states === undefined ? schema : z.enum(machine.states).describe(schema.description ?? "");
  const types = machine.transitions.map((one) => `arbor.${kind}.${one}`);
  return transitionEvent.extend({
    id: shape.id.regex(new RegExp(`^${kind}/[\\s\\S]+:[1-9][0-9]*(@[0-9a-z]+)?$`)).meta({ example: `${kind}/…:7` }),
    source: shape.source.regex(new RegExp(`^/arbor/${kind}/[A-Za-z0-9_%-]+$`)),
    type: z.enum(types).describe(shape.type.description ?? ""),
    data: shape.data.extend({
      entity: z.object({ kind: z.literal(kind), id }),
      from: state(from),
      to: state(to),
      content: z.union([z.never(), ...machine.contents]).optional().describe(content.description ?? ""),
    }),
  }).describe(`A transition of a ${kind} as a CloudEvent.`);
}
export type TransitionEvent = z.infer<typeof transitionEvent>;

/** The event for a reader whose position is older than the retained events. */
export const resetEvent = z.object({
  position: z.string().describe("The position at which the stream continues."),
});
