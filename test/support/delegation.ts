/** An actor of a stake credential, taken out of its stored form after every turn as a worker has it. */
import { expect } from "vitest";
import { delegationActor } from "#actors/delegation.ts";
import { delegationInputs } from "#machines/delegation.ts";
import type { Json } from "#src/base/json.ts";
import type { Touched } from "#src/cardano/projection.ts";
import { type EntityState, fold } from "#src/runtime/turns/fold.ts";
import { hydrate, stateName, viewOf } from "#src/runtime/turns/machine.ts";
import type { Event } from "#src/runtime/types.ts";

const kind = delegationActor();

export class DelegationHeard {
  held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  private seq = 0;
  constructor(readonly id: string) {}

  /** A turn over a row of the chain log, which must be one that the actor takes. */
  hear(event: Touched["event"]): void {
    const entity = { kind: "delegation", id: this.id };
    const parsed = delegationInputs.parse(event) as Event;
    const folded = fold(kind, entity, this.held, [{ from: "input", seq: ++this.seq, event: parsed }], 1_000);
    expect(folded.failed).toEqual([]);
    expect(folded.inputs.map(({ outcome }) => outcome)).toEqual(["applied"]);
    const snapshot = folded.text === undefined
      ? folded.next.snapshot
      : hydrate(kind, JSON.parse(folded.text) as Json, kind.version);
    this.held = { ...folded.next, snapshot };
  }

  /** What it holds; undefined before it heard anything. */
  get view() {
    const { snapshot, version } = this.held;
    if (!snapshot) return undefined;
    const { can } = viewOf({ kind: "delegation", id: this.id }, snapshot, version);
    return { state: stateName(snapshot.value), context: snapshot.context as Record<string, unknown>, can };
  }
}
