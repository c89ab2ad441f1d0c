/** An actor of a stake credential, restored from its stored form after every turn, as in a worker. */
import { expect } from "vitest";
import { delegationActor } from "#actors/delegation.ts";
import { delegationInputs } from "#machines/delegation.ts";
import type { Json } from "#src/base/json.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { type EntityState, fold } from "#src/runtime/turns/fold.ts";
import { hydrate, stateName, viewOf } from "#src/runtime/turns/machine.ts";
import type { Event } from "#src/runtime/types.ts";

const kind = delegationActor();

export class DelegationActor {
  held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  private seq = 0;
  constructor(readonly id: string) {}

  /** A turn over a row of the chain log, which the actor must accept. */
  receive(event: Touched["event"]): void {
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

  /** Its state; undefined before its first event. */
  get view() {
    const { snapshot, version } = this.held;
    if (!snapshot) return undefined;
    const { can } = viewOf({ kind: "delegation", id: this.id }, snapshot, version);
    return { state: stateName(snapshot.value), context: snapshot.context as Record<string, unknown>, can };
  }
}
