/**
 * Who gets a message: subscriptions in a tree of tokens, with the answer for a subject remembered until a subscription comes or
 * goes. A subscription and its removal cost as much as its tokens, whatever the number of others.
 */

/** What the tree needs to know of a subscription. */
export interface Subscription {
  readonly subject: string;
  /** Name of the queue group, of whose members one gets each message; empty for none. */
  readonly queue: string;
}

/** The subscriptions that match a subject: each of `plain`, and one out of each group. */
export interface Matches<S> {
  readonly plain: readonly S[];
  readonly groups: readonly (readonly S[])[];
}

interface Branch<S> {
  readonly next: Map<string, Branch<S>>;
  readonly here: Set<S>;
  /** Subscriptions that end with `>` after this branch. */
  readonly below: Set<S>;
}

const REMEMBERED = 16_384;

function branch<S>(): Branch<S> {
  return { next: new Map(), here: new Set(), below: new Set() };
}

/** All subscriptions of an endpoint. */
export class Routes<S extends Subscription> {
  private readonly root = branch<S>();
  private readonly remembered = new Map<string, Matches<S>>();
  /** How many subscriptions there are. */
  size = 0;

  /** Adds a subscription, whose subject must be valid. */
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

  /** Removes a subscription that was added, and the branches that are empty without it. */
  remove(subscription: S): void {
    const path: { parent: Branch<S>; token: string }[] = [];
    let at = this.root;
    let removed = false;
    for (const token of subscription.subject.split(".")) {
      if (token === ">") {
        removed = at.below.delete(subscription);
        break;
      }
      const next = at.next.get(token);
      if (!next) return;
      path.push({ parent: at, token });
      at = next;
    }
    if (!removed) removed = at.here.delete(subscription);
    for (let i = path.length - 1; i >= 0; i--) {
      const { parent, token } = path[i]!;
      const child = parent.next.get(token)!;
      if (child.next.size || child.here.size || child.below.size) break;
      parent.next.delete(token);
    }
    if (removed) this.changed(-1);
  }

  private changed(by: number): void {
    this.size += by;
    if (this.remembered.size) this.remembered.clear();
  }

  /** Who gets a message on a subject. */
  match(subject: string): Matches<S> {
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
    // Level by level, so that a subject of very many tokens costs no stack.
    let level: Branch<S>[] = [this.root];
    for (const token of subject.split(".")) {
      const deeper: Branch<S>[] = [];
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
    // An inbox is written to once or twice and never again.
    if (subject.startsWith("_INBOX.")) return matches;
    if (this.remembered.size >= REMEMBERED) this.remembered.clear();
    this.remembered.set(subject, matches);
    return matches;
  }
}
