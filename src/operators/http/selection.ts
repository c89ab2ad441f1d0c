/**
 * Refuses selections of actors and of transitions by what does not exist: nothing would ever match them, and silence would
 * look like an answer.
 */
import { refusal } from "#src/operators/http/status.ts";
import { kebab } from "#src/runtime/events/transition.ts";
import { eventsOf, statesOf } from "#src/runtime/operations/graph.ts";
import type { ActorKind } from "#src/runtime/types.ts";

/** What is known of a kind. */
export type SelectableKind = Pick<ActorKind, "kind" | "machine" | "content" | "ids">;

/** A selection of transitions or of actors; a missing member matches all. */
interface Selection {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  readonly transition?: string | undefined;
  readonly state?: string | undefined;
}

/**
 * Names of a kind's transitions in kebab case, sorted: those of its machine, and those that have content. The latter
 * include events of older machines, whose content is read from the log as long as it has them.
 */
export function transitionsOf({ machine, content }: {
  readonly machine: SelectableKind["machine"];
  readonly content?: SelectableKind["content"] | undefined;
}): string[] {
  return [...new Set([...eventsOf(machine), ...Object.keys(content?.schemas ?? {})].map(kebab))].sort();
}

/** The refusal of a path that names a kind which does not exist: 404 `kind_unknown` with the known ones. */
export function unknownKind(kind: string, kinds: Iterable<Pick<SelectableKind, "kind">>): Error {
  return refusal({ code: "kind_unknown", ...unknown("kind", kind, "kinds", [...kinds].map((one) => one.kind)) });
}

/** The refusal of a selection that names a kind which does not exist: 400 `bad_kind` with the known ones. */
export function badKind(kind: string, kinds: Iterable<Pick<SelectableKind, "kind">>): Error {
  return refusal({ code: "bad_kind", ...unknown("kind", kind, "kinds", [...kinds].map((one) => one.kind)) });
}

/**
 * Refuses a selection that can match nothing. @throws HttpFailure 400 `bad_kind`, `bad_transition`, `bad_state` with
 * the known names, `bad_id`
 */
export function knownSelection({ kind, id, transition, state }: Selection, all: Iterable<SelectableKind>): void {
  const known = [...all];
  const kinds = known.filter((one) => kind === undefined || one.kind === kind);
  if (kind !== undefined && kinds.length === 0) throw badKind(kind, known);
  const of = kind === undefined ? "" : ` of ${kind}`;
  if (transition !== undefined) {
    const names = kinds.flatMap(transitionsOf);
    if (!names.includes(transition)) {
      throw refusal({ code: "bad_transition", ...unknown("transition", transition + of, "transitions", names) });
    }
  }
  if (state !== undefined) {
    const states = kinds.map(({ machine }) => statesOf(machine));
    const names = states.flatMap((some) => some ?? []);
    // the states of parallel machines are combinations
    if (!states.includes(undefined) && !names.includes(state)) {
      throw refusal({ code: "bad_state", ...unknown("state", state + of, "states", names) });
    }
  }
  if (id !== undefined && !kinds.some(({ ids }) => ids === undefined || ids.test(id))) {
    throw refusal({
      code: "bad_id",
      message: `${id} cannot be the id of ${kind === undefined ? "an actor" : `a ${kind}`}.`,
    });
  }
}

/** Message and details of the refusal of a name. */
function unknown(what: string, name: string, plural: string, known: readonly string[]) {
  const names = [...new Set(known)].sort();
  return {
    message: `The ${what} ${name} is unknown. Known ${plural} are ${names.join(", ")}.`,
    details: { [plural]: names },
  };
}
