/**
 * Routing of messages to subscriptions: a tree of subject tokens, with a cache of matches per subject, which is cleared
 * when subscriptions change. Adding or removing a subscription costs as much as it has tokens, however many others
 * there are.
 */

/** A subscription, as the tree needs it. */
export interface RoutedSubscription {
  readonly subject: string;
  /** Queue group: one of its members gets each message; empty for none. */
  readonly queue: string;
}

/** The subscriptions that match a subject: all of `plain`, and one of each group. */
export interface SubjectMatches<S> {
  readonly plain: readonly S[];
  readonly groups: readonly (readonly S[])[];
}

interface RouteBranch<S> {
  readonly next: Map<string, RouteBranch<S>>;
  readonly here: Set<S>;
  /** Subscriptions that end with `>` after this branch. */
  readonly below: Set<S>;
}

const MAX_CACHED = 16_384;

function branch<S>(): RouteBranch<S> {
  return { next: new Map(), here: new Set(), below: new Set() };
}

/** All subscriptions of an endpoint. */
export class SubscriptionRoutes<S extends RoutedSubscription> {
  private readonly root = branch<S>();
  private readonly remembered = new Map<string, SubjectMatches<S>>();
  /** Number of subscriptions. */
  size = 0;
  /** Number of changes: what was matched before a change may be out of date. */
  changes = 0;

  /** Whether nothing is kept, not even of removed subscriptions. */
  get isEmpty(): boolean {
    return this.root.next.size === 0;
  }

  /** Adds a subscription; its subject must be valid. */
  add(subscription: S): void {
    let at = this.root;
    for (const token of subscription.subject.split(".")) {
      if (token === ">") {
        at.below.add(subscription);
        return this.changed(1);
      }
      let next = at.next.get(token);
      if (!next) at.next.set(token, next = branch());
      at = next;
    }
    at.here.add(subscription);
    this.changed(1);
  }

  /** Removes a subscription, and branches that become empty. */
  remove(subscription: S): void {
    const path: { parent: RouteBranch<S>; token: string; child: RouteBranch<S> }[] = [];
    let at = this.root;
    let removed = false;
    for (const token of subscription.subject.split(".")) {
      if (token === ">") {
        removed = at.below.delete(subscription);
        break;
      }
      const next = at.next.get(token);
      if (!next) return;
      path.push({ parent: at, token, child: next });
      at = next;
    }
    if (!removed) removed = at.here.delete(subscription);
    for (const { parent, token, child } of path.reverse()) {
      if (child.next.size || child.here.size || child.below.size) break;
      parent.next.delete(token);
    }
    if (removed) this.changed(-1);
  }

  private changed(by: number): void {
    this.size += by;
    this.changes++;
    if (this.remembered.size) this.remembered.clear();
  }

  /** The subscriptions that match a subject. */
  match(subject: string): SubjectMatches<S> {
    const known = this.remembered.get(subject);
    if (known) return known;
    const plain: S[] = [];
    const groups = new Map<string, S[]>();
    const collect = (found: Set<S>) => {
      for (const subscription of found) {
        if (!subscription.queue) plain.push(subscription);
        else {
          const group = groups.get(subscription.queue);
          if (group) group.push(subscription);
          else groups.set(subscription.queue, [subscription]);
        }
      }
    };
    // level by level instead of recursively: a subject may have very many tokens
    let level: RouteBranch<S>[] = [this.root];
    for (const token of subject.split(".")) {
      const deeper: RouteBranch<S>[] = [];
      for (const at of level) {
        if (at.below.size) collect(at.below);
        const exact = at.next.get(token);
        const any = at.next.get("*");
        if (exact) deeper.push(exact);
        if (any && any !== exact) deeper.push(any);
      }
      level = deeper;
      if (level.length === 0) break;
    }
    for (const at of level) if (at.here.size) collect(at.here);
    const matches = { plain, groups: [...groups.values()] };
    // inboxes are not cached: each is used once or twice
    if (subject.startsWith("_INBOX.")) return matches;
    if (this.remembered.size >= MAX_CACHED) this.remembered.clear();
    this.remembered.set(subject, matches);
    return matches;
  }
}
