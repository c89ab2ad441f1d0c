/** The CloudEvents of tokens for the inputs of their actors, as a worker publishes them. */
import { tokenActor } from "#actors/token.ts";
import type { ActorEvent } from "#src/client/factReplica.ts";
import type { Touched } from "#src/chain/index/projection.ts";
import { contentsOf } from "#src/runtime/events/content.ts";
import { cloudEvent } from "#src/runtime/events/transition.ts";
import { type EntityState, fold } from "#src/runtime/turns/fold.ts";
import type { Event } from "#src/runtime/types.ts";
import { notCalled } from "../service/walletEdge.ts";

const kind = tokenActor(notCalled("token"));
const contents = contentsOf([kind]);

export class TokenEvents {
  private readonly actors = new Map<string, EntityState>();
  private seq = 0;

  /** The events of some inputs, in order; content is read from the JSON that the outbox would hold. */
  publish(touched: readonly Touched[]): ActorEvent[] {
    return touched.flatMap(({ entity, event }) => {
      const held = this.actors.get(entity.id) ?? { snapshot: undefined, version: 0, inputSeq: 0 };
      const item = { from: "input", seq: ++this.seq, event: kind.inputs.parse(event) as Event } as const;
      const { next, transitions, bodies, failed } = fold(kind, entity, held, [item], 0);
      if (failed.length > 0) throw new Error(failed[0]!.error);
      this.actors.set(entity.id, next);
      return transitions.map((transition, i) => {
        const content = contents.of("token", JSON.parse(bodies[i]!));
        return JSON.parse(JSON.stringify(cloudEvent({ ...transition, content }))) as ActorEvent;
      });
    });
  }
}
