/**
 * Which queries a node answers, as far as has been seen.
 *
 * Hypothesis: a node hangs up on a query that it does not know, and says nothing; but it hangs up for other reasons too. Who hangs up
 * twice on the same query, with no answer between, is taken not to have it, for a while: it may be replaced by a newer one.
 */
import type { EraQuery } from "#src/node/queries/query.ts";

type Kind = EraQuery["kind"];

/** Milliseconds after which a query is tried again. */
const AGAIN_MS = 600_000;

export class Answered {
  readonly #suspects = new Set<Kind>();
  readonly #lacking = new Map<Kind, number>();
  #hangUps = 0;

  /** Whether a query may be asked. */
  has(kind: Kind): boolean {
    const until = this.#lacking.get(kind);
    if (until === undefined) return true;
    if (performance.now() < until) return false;
    this.#lacking.delete(kind);
    return true;
  }

  /** How often the node hung up on a query. */
  get hangUps(): number {
    return this.#hangUps;
  }

  /** The node answered a query. */
  answered(kind: Kind): void {
    this.#suspects.delete(kind);
  }

  /** The node hung up on a query. */
  hungUp(kind: Kind): void {
    this.#hangUps++;
    if (this.#suspects.delete(kind)) this.#lacking.set(kind, performance.now() + AGAIN_MS);
    else this.#suspects.add(kind);
  }
}
