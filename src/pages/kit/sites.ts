/// <reference lib="dom" />
/** The pages of the deployment's other services, as the service wrote them into the document. */
import { pathOf } from "./router.ts";
import { setting } from "./setting.ts";

export type Site = "tokens" | "wallet" | "explorer" | "operator";

/** The pages in the order of the header. */
export const SITES: readonly (readonly [site: Site, name: string])[] = [
  ["tokens", "Tokens"],
  ["wallet", "Wallets"],
  ["explorer", "Explorer"],
  ["operator", "Operator"],
];

/** Origin of a service's page; undefined where this deployment has none. */
export const siteOf = (site: Site): string | undefined => setting(`page-${site}`);

/** Where the explorer shows something (`/tx/ab`); undefined where there is none. */
export function explorerAt(path: string): string | undefined {
  const origin = siteOf("explorer");
  return origin === undefined ? undefined : `${origin}/#${path}`;
}

/** Where the operator page shows an actor; undefined where there is none. */
export function actorAt(kind: string, id: string): string | undefined {
  const origin = siteOf("operator");
  return origin === undefined ? undefined : `${origin}/ui/actors${pathOf(kind, id)}`;
}

/** Where the operator page finds the actors of an id. */
export function actorsOf(id: string): string | undefined {
  const origin = siteOf("operator");
  return origin === undefined ? undefined : `${origin}/ui/search?q=${encodeURIComponent(id)}`;
}
