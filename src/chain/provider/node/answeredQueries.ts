/**
 * The queries that a node supports, learnt from how it reacts.
 *
 * Assumption: a node closes the connection on a query that it does not know, without an error; but it closes
 * connections for other reasons too. If it does so twice on the same query with no answer between, the query counts as
 * unsupported for a while. Then it is tried again: the node may have been upgraded.
 */
import type { EraQuery } from "#src/node/queries/query.ts";

type QueryKind = EraQuery["kind"];

/** Milliseconds after which an unsupported query is tried again. */
const RETRY_MS = 600_000;

export class AnsweredQueries {
  readonly #suspects = new Set<QueryKind>();
  readonly #unsupported = new Map<QueryKind, number>();
  #closedConnections = 0;

  /** Whether a query may be sent. */
  has(kind: QueryKind): boolean {
    const until = this.#unsupported.get(kind);
    if (until === undefined) return true;
    if (performance.now() < until) return false;
    this.#unsupported.delete(kind);
    return true;
  }

  /** How often the node closed the connection on a query. */
  get closedConnections(): number {
    return this.#closedConnections;
  }

  /** Records that the node answered a query. */
  answered(kind: QueryKind): void {
    this.#suspects.delete(kind);
  }

  /** Records that the node closed the connection on a query. */
  connectionClosed(kind: QueryKind): void {
    this.#closedConnections++;
    if (this.#suspects.delete(kind)) this.#unsupported.set(kind, performance.now() + RETRY_MS);
    else this.#suspects.add(kind);
  }
}
