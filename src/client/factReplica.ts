/**
 * The facts of tokens, rebuilt from their events alone. The events come from any of the service's streams: server-sent
 * events, NATS or webhooks.
 *
 * Assumptions:
 * - The events of a token arrive in the order of their versions, each at least once.
 * - No rollback is deeper than `keepSlots`.
 */
import type { FactChange, FactText, TokenContent } from "#machines/token.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { bytesText } from "#src/contract/text.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { call } from "#src/client/http.ts";
import { digest } from "#src/forestry/hash.ts";
import { LeafSet } from "#src/forestry/leafSet.ts";

/** The members of an event that a replica reads; other members are ignored. */
export interface ActorEvent {
  /** `arbor.token.updated`. */
  readonly type: string;
  /** After a restore of the database: its generation. Later ones are greater. */
  readonly generation?: string | undefined;
  readonly data: {
    readonly entity: { readonly kind: string; readonly id: string };
    readonly version: number;
    /** State after the event. */
    readonly to: string;
    readonly content?: unknown;
  };
}

/** A fact as its event has it; `readFactText` reads texts that are references. */
export interface ReplicatedFact {
  readonly key: FactText;
  readonly value: FactText;
}

/** A token in a replica. */
export interface ReplicatedToken {
  /** `absent`, `live`, `quarantined` or `ended`. */
  readonly status: string;
  readonly owner: string | null;
  readonly root: string | null;
  /** The state output, `<transaction hash>#<index>`. */
  readonly ref: string | null;
  /** Whether the replica has every change of the facts since the token was booted. */
  readonly complete: boolean;
}

/** What one block changed: the facts before it, by the digests of their keys; null where there was none. */
interface Undo {
  readonly slot: number;
  readonly before: readonly (readonly [path: string, fact: ReplicatedFact | null])[];
}

interface TokenState {
  version: number;
  /** The generation of its last event; missing or empty for the first. */
  generation?: string;
  status: string;
  owner: string | null;
  root: string | null;
  ref: string | null;
  /** By the digests of their keys. */
  facts: Map<string, ReplicatedFact>;
  /** Changes that a rollback may undo, the oldest first. */
  undo: Undo[];
  /** Slot of the newest change that a rollback can no longer undo. */
  final: number;
  /** Changes that apply when the token is released. */
  unexplained: { readonly slot: number; readonly changes: readonly FactChange[] }[];
  /** Changes of an update whose last event has not arrived. */
  parts: readonly FactChange[];
  /** Slot of the first change that is missing. */
  missing: number | null;
}

/** A replica as JSON. */
export interface SavedReplica {
  readonly keepSlots: number;
  readonly tokens: readonly (
    & { readonly id: string; readonly facts: readonly (readonly [string, ReplicatedFact])[] }
    & Omit<TokenState, "facts">
  )[];
}

/** Slots in which a rollback on mainnet ends: 3k/f. */
const KEEP_SLOTS = 129_600;

const newToken = (): TokenState => ({
  version: 0,
  status: "absent",
  owner: null,
  root: null,
  ref: null,
  facts: new Map(),
  undo: [],
  final: -1,
  unexplained: [],
  parts: [],
  missing: null,
});

/**
 * All tokens with their facts, from events. Save it together with the position of the last applied event; events that
 * arrive again after a restart change nothing.
 *
 * @example
 * ```ts
 * import { FactReplica } from "./src/client/factReplica.ts";
 * import { dataOf, follow } from "./src/client/sse.ts";
 *
 * export async function replicate(operator: string, signal: AbortSignal) {
 *   const replica = new FactReplica();
 *   for await (const item of follow(`${operator}/events?kind=token&from=start`, { signal })) {
 *     if (item.type === "restored") replica.clear();
 *     if (item.type !== "event" || item.event.event !== "transition") continue;
 *     if (replica.apply(dataOf(item))) console.log(item.event.id, replica.tokens());
 *   }
 * }
 * ```
 */
export class FactReplica {
  private readonly states = new Map<string, TokenState>();

  /** `keepSlots`: how many slots back a rollback can be undone; by default 129,600, those of mainnet. */
  constructor(private readonly keepSlots = KEEP_SLOTS) {}

  /** The replica that `toJSON` gave. */
  static from({ keepSlots, tokens }: SavedReplica): FactReplica {
    const replica = new FactReplica(keepSlots);
    for (const { id, ...token } of structuredClone(tokens)) {
      replica.states.set(id, { ...token, undo: [...token.undo], facts: new Map(token.facts) });
    }
    return replica;
  }

  /** The replica as JSON, for `from`. */
  toJSON(): SavedReplica {
    const tokens = [...this.states].map(([id, token]) => ({ id, ...token, facts: [...token.facts] }));
    return structuredClone({ keepSlots: this.keepSlots, tokens });
  }

  /** Forgets all tokens, because the database was restored to an earlier point: all events are to be applied again. */
  clear(): void {
    this.states.clear();
  }

  /**
   * Applies an event. False for an event that was applied before, and for one of another kind of actor. A token whose
   * events were lost by a restore of the database is incomplete until all are applied again (`clear`).
   */
  apply(event: ActorEvent): boolean {
    const { generation = "", data: { entity, version, to, content } } = event;
    if (entity.kind !== "token") return false;
    const token = this.states.get(entity.id) ?? newToken();
    const isOther = generation > (token.generation ?? "");
    if (version <= token.version && !isOther) return false;
    this.states.set(entity.id, token);
    if (version !== token.version + 1 || content === undefined) token.missing = -1;
    token.version = version;
    if (isOther) token.generation = generation;
    token.status = to;
    if (content !== undefined) this.take(token, event.type.slice(event.type.lastIndexOf(".") + 1), content);
    return true;
  }

  /** Ids of the live and quarantined tokens. */
  tokens(): string[] {
    return [...this.states].filter(([, { status }]) => status === "live" || status === "quarantined").map(([id]) => id);
  }

  /** A token; `undefined` if no event named it. */
  token(tokenId: string): ReplicatedToken | undefined {
    const token = this.states.get(tokenId);
    if (!token) return undefined;
    const { status, owner, root, ref, missing } = token;
    return { status, owner, root, ref, complete: missing === null };
  }

  /** Facts of a live token; `undefined` if it is not live, or if changes are missing. */
  facts(tokenId: string): readonly ReplicatedFact[] | undefined {
    const token = this.states.get(tokenId);
    return token?.status === "live" && token.missing === null ? [...token.facts.values()] : undefined;
  }

  /** Whether the facts of a live token result in its root, which the ledger has. */
  verify(tokenId: string): boolean {
    const token = this.states.get(tokenId);
    const facts = this.facts(tokenId);
    if (!token || !facts) return false;
    const set = new LeafSet();
    for (const { key, value } of facts) set.add({ path: fromHex(digestOf(key)), value: fromHex(digestOf(value)) });
    const root = set.root();
    return root.ok && toHex(root.value) === token.root;
  }

  private take(token: TokenState, transition: string, content: unknown): void {
    switch (transition) {
      case "booted": {
        const { owner, root, ref } = content as TokenContent["BOOTED"];
        const { version, status } = token;
        Object.assign(token, newToken(), { version, status, owner, root, ref });
        return;
      }
      case "applied": {
        const { changes } = content as TokenContent["APPLIED"];
        token.parts = [...token.parts, ...changes];
        return;
      }
      case "updated": {
        const { owner, root, ref, slot, applied, unexplained, changes: last = [] } = content as TokenContent["UPDATED"];
        const changes = [...token.parts, ...last];
        Object.assign(token, { owner, root, ref, parts: [] });
        if (changes.length !== applied) token.missing ??= slot;
        if (unexplained) token.unexplained.push({ slot, changes });
        else this.change(token, slot, changes);
        return;
      }
      case "released": {
        for (const { slot, changes } of token.unexplained.splice(0)) this.change(token, slot, changes);
        return;
      }
      case "rolled-back":
        return rollBack(token, content as TokenContent["ROLLED_BACK"]);
    }
  }

  private change(token: TokenState, slot: number, changes: readonly FactChange[]): void {
    const before = changes.map(({ key, newValue }) => {
      const path = digestOf(key);
      const fact = token.facts.get(path) ?? null;
      if (newValue === undefined) token.facts.delete(path);
      else token.facts.set(path, { key, value: newValue });
      return [path, fact] as const;
    });
    token.undo.push({ slot, before });
    const kept = token.undo.findIndex((one) => one.slot >= slot - this.keepSlots);
    for (const { slot } of token.undo.splice(0, kept)) token.final = slot;
  }
}

/** Undoes what is above a slot. */
function rollBack(token: TokenState, { to, slot, owner, root, ref }: TokenContent["ROLLED_BACK"]): void {
  const { version, status } = token;
  if (to === "absent") return void Object.assign(token, newToken(), { version, status });
  Object.assign(token, { owner, root, ref, parts: [] });
  if (token.missing !== null && token.missing > slot) token.missing = null;
  if (slot < token.final) token.missing = -1;
  token.unexplained = token.unexplained.filter((one) => one.slot <= slot);
  while ((token.undo.at(-1)?.slot ?? -1) > slot) {
    for (const [path, fact] of [...token.undo.pop()?.before ?? []].reverse()) {
      if (fact) token.facts.set(path, fact);
      else token.facts.delete(path);
    }
  }
}

/** Digest of the bytes of a text: of a key, its place in the trie. */
function digestOf(text: FactText): string {
  if (typeof text === "object" && "digest" in text) return text.digest;
  return toHex(digest(typeof text === "string" ? keyBytes(text) : fromHex(text.hex)));
}

/** A change in a response of the token service, with keys and values in hexadecimal. */
interface RequestAnswer {
  readonly change: { readonly key: string; readonly value: string };
}

/**
 * The text of a key or a value in an event, as the service shows it. A reference is read from the token service, and
 * verified by its digest.
 *
 * @throws {ApiError} `request_unknown` where a rollback has removed the request; its event follows.
 * @throws {Error} where the service answers another text.
 *
 * @example
 * ```ts
 * import { readFactText } from "./src/client/factReplica.ts";
 *
 * console.log(await readFactText("http://127.0.0.1:3000", { hex: "6d6f6f6e" }, "value")); // moon
 * ```
 */
export async function readFactText(service: string, text: FactText, member: "key" | "value"): Promise<string> {
  if (typeof text === "string") return text;
  if ("hex" in text) return bytesText(fromHex(text.hex));
  const { change } = await call<RequestAnswer>(service, "GET", `${text.href}?encoding=hex`);
  const bytes = fromHex(change[member]);
  if (toHex(digest(bytes)) !== text.digest) throw new Error(`${text.href} answers another ${member}`);
  return bytesText(bytes);
}
