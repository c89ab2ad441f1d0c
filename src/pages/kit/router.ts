/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The address of a page, behind the `#` (so that the page is one file and any address can be kept and sent) or as the
 * path of the URL. Secrets are never part of an address.
 */
import { elementAt } from "#src/base/present.ts";
import { computed, effect, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export type RouteMode = "hash" | "path";

/** What a view receives. */
export interface ViewProps {
  /** Parts of the address that the route names with `:name`, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

export interface Route {
  /** `/token/:id`; the last part `*` stands for any rest. */
  readonly path: string;
  /** Title of the document until the view sets its own by `useTitle`. */
  readonly title: string;
  readonly view: ComponentType<ViewProps>;
  /** Path of the section that it belongs to, where its own path does not begin with it. */
  readonly section?: string;
}

export interface Address {
  readonly path: string;
  readonly query: string;
}

let mode: RouteMode = "hash";
const address = signal<Address>({ path: "/", query: "" });
/** Counts addresses that the reader opened, so that the heading of a new view can receive the focus. */
export const visits = signal(0);

/** The address that is shown. */
export const here = computed(() => address.value);

function read(): Address {
  if (mode === "path") return { path: location.pathname, query: location.search.slice(1) };
  const text = location.hash.slice(1) || "/";
  const at = text.indexOf("?");
  return at < 0 ? { path: text, query: "" } : { path: text.slice(0, at), query: text.slice(at + 1) };
}

function update(): void {
  const next = read();
  const { path, query } = address.peek();
  if (next.path === path && next.query === query) return;
  if (next.path !== path) visits.value++;
  address.value = next;
}

/** A link's `href` of an address within the page: `/token/ab?tab=facts`. */
export const hrefOf = (path: string): string => mode === "hash" ? `#${path}` : path;

/** A path of parts that come from outside: `pathOf("token", id)`. */
export const pathOf = (...parts: readonly string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part)}`).join("");

/** Opens an address within the page; with `replace`, in place of the one in the history, which keeps the scroll position. */
export function go(path: string, replace = false): void {
  if (replace) history.replaceState(null, "", hrefOf(path));
  else history.pushState(null, "", hrefOf(path));
  update();
  if (!replace) scrollTo(0, 0);
}

/** Changes parameters of the query in place; `undefined` and "" remove one. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = address.peek();
  const values = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") values.delete(name);
    else values.set(name, value);
  }
  const text = values.toString();
  go(text === "" ? path : `${path}?${text}`, true);
}

/** The first route of the list that an address matches, with the named parts; undefined where none does. */
export function match(
  routes: readonly Route[],
  path: string,
): { readonly route: Route; readonly params: Record<string, string> } | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  for (const route of routes) {
    const wanted = route.path.split("/").filter((part) => part !== "");
    const open = wanted.at(-1) === "*";
    if (open ? parts.length < wanted.length - 1 : parts.length !== wanted.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((part, i) => {
      if (part === "*") return true;
      const found = elementAt(parts, i);
      if (!part.startsWith(":")) return part === found;
      try {
        const text = decodeURIComponent(found);
        params[part.slice(1)] = text;
        // in the path of a request these stand for folders
        return text !== "." && text !== "..";
      } catch {
        return false; // a malformed percent sequence
      }
    });
    if (fits) return { route, params };
  }
  return undefined;
}

/** Follows the browser's address; in `path` mode links to the page's own routes open without a reload. */
export function startRouter(routeMode: RouteMode, routes: readonly Route[]): void {
  mode = routeMode;
  address.value = read();
  addEventListener(mode === "hash" ? "hashchange" : "popstate", update);
  addEventListener("popstate", update);
  if (mode !== "path") return;
  document.addEventListener("click", (event) => {
    const anchor = event.target instanceof Element ? event.target.closest("a") : null;
    if (!anchor || event.defaultPrevented || event.button !== 0 || anchor.target !== "") return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || anchor.hasAttribute("download")) return;
    if (anchor.origin !== location.origin || anchor.hash !== "" || !match(routes, anchor.pathname)) return;
    event.preventDefault();
    go(anchor.pathname + anchor.search);
  });
}

/** `go` of a view, for what takes a while: it does nothing once the reader has left the view. */
export function useGo(): typeof go {
  const shown = useRef(true);
  useLayoutEffect(() => {
    shown.current = true;
    return () => {
      shown.current = false;
    };
  }, []);
  return (path, replace) => {
    if (shown.current) go(path, replace);
  };
}

/** Calls when the reader has left the address at which a dialog was opened that is part of no view. */
export function useElsewhere(call: () => void): void {
  const first = useRef(visits.peek());
  const elsewhere = visits.value !== first.current;
  useLayoutEffect(() => {
    if (elsewhere) call();
  }, [elsewhere]);
}

let steps = 0;

/** While a view is in a step behind its first one, the browser's Back calls `back` and stays at the address. */
export function useBackStep(back: () => void): void {
  const newest = useRef(back);
  newest.current = back;
  useLayoutEffect(() => {
    // an entry from before a reload is another step
    const step = `${performance.timeOrigin} ${++steps}`;
    const isHere = () => (history.state as { readonly step?: string } | null)?.step === step;
    history.pushState({ step }, "");
    const left = () => !isHere() && newest.current();
    addEventListener("popstate", left);
    return () => {
      removeEventListener("popstate", left);
      if (isHere()) history.back();
    };
  }, []);
}

/** Sets the title of the document while the address is shown. */
export const title = signal("");
effect(() => {
  if (title.value !== "") document.title = `${title.value} · Arbor`;
});
