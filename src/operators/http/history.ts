/** Transitions as an operator reads them: with content, the explained cause, and links to what they concern. */
import type { z } from "zod";
import type * as api from "#src/operators/api/operator.ts";
import { isObject, type Json } from "#src/base/json.ts";
import type { Lookups } from "#src/operators/http/lookups.ts";
import { wholeContentOf } from "#src/runtime/events/content.ts";
import { type HistoryEntry, readEffectNames, readKnownActors } from "#src/runtime/operations/inspect.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { ActorKind, EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

type Link = Omit<z.infer<typeof api.link>, "href">;
type Cause = z.infer<typeof api.cause>;

/** Most links of a transition. */
const LINKS = 50;
/** How deep members of events are searched for links. */
const DEPTH = 4;

/** The path of an actor in this service. */
export function actorPath({ kind, id }: EntityRef): string {
  return `/actors/${kind}/${encodeURIComponent(id)}`;
}

/** The transitions of an actor as the history shows them. */
export async function describeHistory(
  { store, kind, index }: {
    readonly store: Store;
    readonly kind: Pick<ActorKind, "content"> | undefined;
    readonly index: Lookups | undefined;
  },
  entity: EntityRef,
  entries: readonly HistoryEntry[],
) {
  const causes = entries.map(({ cause, body }) => causeOf(cause, body));
  const effects = causes.flatMap((one) => one.type === "effect" && isOf(one, entity) ? [one.n] : []);
  const slots = causes.flatMap((one) => one.type === "block" || one.type === "rollback" ? [one.slot] : []);
  const [names, blocks, touched] = await Promise.all([
    readEffectNames(store, entity, effects),
    index?.blocks([...new Set(slots)]),
    entity.kind === "transaction" ? index?.touchedBy([entity.id], LINKS) : undefined,
  ]);
  const around = (touched ?? []).flatMap(({ kind, id }): Link[] =>
    kind === "token" || kind === "request" ? [{ rel: kind, kind, id }] : [{ rel: "wallet", kind, id }]
  );
  const links = entries.map(({ body }, i) => {
    const cause = causes[i];
    const block = cause?.type === "block" ? blocks?.get(cause.slot)?.hash : undefined;
    const own = block === undefined ? [] : [{ rel: "block" as const, kind: "block", id: block }];
    return distinct([...linksIn(body, DEPTH), ...own, ...around]).filter((link) => !isOf(link, entity)).slice(0, LINKS);
  });
  const known = await readKnownActors(store, distinct(links.flat()));
  return entries.map(({ body, ...entry }, i) => ({
    ...entry,
    payload: wholeContentOf(kind?.content, body) ?? null,
    causes: causes.slice(i, i + 1).map((cause): Cause => {
      if (cause.type === "effect") return { ...cause, name: isOf(cause, entity) ? names.get(cause.n) ?? null : null };
      if (cause.type !== "block" && cause.type !== "rollback") return cause;
      const block = blocks?.get(cause.slot);
      return block === undefined ? cause : { ...cause, height: block.height, hash: block.hash };
    }),
    links: (links[i] ?? []).map((link) => ({ ...link, href: known.has(entityKey(link)) ? actorPath(link) : null })),
  }));
}

const isOf = (a: EntityRef, b: EntityRef) => a.kind === b.kind && a.id === b.id;

function distinct(links: readonly Link[]): Link[] {
  return [...new Map(links.map((link) => [entityKey(link), link])).values()];
}

/** A cause as data. The block's hash and height are those of the event, where it has them. */
function causeOf(cause: string, body: Json): Cause {
  const input = /^input:(\d+)$/.exec(cause)?.[1];
  if (input !== undefined) {
    const seq = Number(input);
    const { slot, type, block: named, ...rest } = isObject(body) ? body : {};
    if (typeof slot !== "number") return { type: "input", seq };
    const { hash: block, height } = isObject(named) ? named : { hash: named, height: rest.height };
    return {
      type: type === "ROLLED_BACK" ? "rollback" : "block",
      seq,
      slot,
      height: typeof height === "number" ? height : null,
      hash: typeof block === "string" ? block : null,
    };
  }
  const [, kind, id, n] = /^effect:([a-z0-9-]+)\/(.+):(\d+)$/s.exec(cause) ?? [];
  if (kind !== undefined && id !== undefined) {
    return { type: "effect", kind, id, n: Number(n), name: null, href: actorPath({ kind, id }) };
  }
  const reminder = /^reminder:(.*)$/s.exec(cause)?.[1];
  return reminder === undefined ? { type: "command", id: cause } : { type: "reminder", name: reminder };
}

const HASH = /^[0-9a-f]{64}$/;
const REF = /^([0-9a-f]{64})#\d+$/;

/** What the members of an event name. Machines name them alike: `hash` and `ref` are of transactions, and so on. */
function linksIn(body: Json, depth: number): Link[] {
  if (depth === 0 || typeof body !== "object" || body === null) return [];
  if (Array.isArray(body)) return body.slice(0, LINKS).flatMap((one) => linksIn(one, depth - 1));
  return Object.entries(body).flatMap(([name, value]): Link[] => {
    const values = Array.isArray(value) ? value.slice(0, LINKS) : [value];
    const texts = values.filter((one) => typeof one === "string").flatMap((text) => linksOf(name, text));
    if (texts.length > 0) return texts;
    // In these members `hash` is that of a block.
    if (isObject(value) && /^(block|birth)$/.test(name)) return linksIn({ block: value.hash ?? null }, 2);
    return linksIn(value, depth - 1);
  });
}

function linksOf(name: string, text: string): Link[] {
  const made = REF.exec(text)?.[1];
  if (made !== undefined) {
    const transaction: Link = { rel: "transaction", kind: "transaction", id: made };
    return /^requests?$/.test(name) ? [{ rel: "request", kind: "request", id: text }, transaction] : [transaction];
  }
  if (/^wallets?$/.test(name)) return [{ rel: "wallet", kind: "wallet", id: text }];
  if (!HASH.test(text)) return [];
  if (/^(hash|tx|txHash|transactions?)$/.test(name)) return [{ rel: "transaction", kind: "transaction", id: text }];
  if (/^(token|tokenId)$/.test(name)) return [{ rel: "token", kind: "token", id: text }];
  return /^(block|blockHash)$/.test(name) ? [{ rel: "block", kind: "block", id: text }] : [];
}
