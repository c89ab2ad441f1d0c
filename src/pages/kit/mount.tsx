/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The frame of a page: header with sections, the view of the address, toasts and dialogs. */
import { elementAt } from "#src/base/present.ts";
import "./theme.css";
import { type Signal, signal } from "@preact/signals";
import { Component, type ComponentChildren, type ComponentType, render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Freshness, freshness } from "./connection.ts";
import { Questions } from "./Dialog.tsx";
import { keepFocus } from "./focus.ts";
import { here, hrefOf, match, type Route, type RouteMode, startRouter, title, visits } from "./router.ts";
import { setting } from "./setting.ts";
import { type Site, siteOf, SITES } from "./sites.ts";
import { CommonFailures, sentenceOf } from "./states.tsx";
import { Toasts } from "./toast.tsx";

export interface Section {
  readonly name: string;
  /** An address within the page (`/tokens`), or a path of the service outside of it where `outside` is set. */
  readonly path: string;
  readonly outside?: boolean;
  /** A number at its side, such as of things that need attention; 0 and undefined show none. */
  readonly badge?: Signal<number | undefined>;
}

export interface PageDefinition {
  /** Name of the service, beside the brand. */
  readonly service: string;
  /** The service among those that the header leads to; a page without one is read once, and has no freshness. */
  readonly site?: Site;
  /** Path of the service's API page. */
  readonly api?: string;
  readonly mode: RouteMode;
  readonly sections: readonly Section[];
  readonly routes: readonly Route[];
  /** At the right end of the header. */
  readonly aside?: ComponentType;
  /** In place of the view while it gives something, as a login form does. */
  readonly gate?: () => ComponentChildren;
}

const WORDS: Readonly<Record<Freshness, string>> = {
  connecting: "Connecting",
  live: "Live",
  stale: "Stale, reconnecting",
  paused: "Paused",
  locked: "Locked",
};

export { setting } from "./setting.ts";

type Theme = "system" | "light" | "dark";
const THEMES: readonly Theme[] = ["system", "light", "dark"];
const THEME_NAMES: Readonly<Record<Theme, string>> = { system: "Auto", light: "Light", dark: "Dark" };
const THEME_KEY = "arbor-theme";

function readTheme(): Theme {
  try {
    return THEMES.find((one) => one === localStorage.getItem(THEME_KEY)) ?? "system";
  } catch {
    return "system"; // storage is off
  }
}
const theme = signal<Theme>(readTheme());

function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.value === "system" ? "light dark" : theme.value;
}

function nextTheme(): void {
  theme.value = elementAt(THEMES, (THEMES.indexOf(theme.value) + 1) % THEMES.length);
  try {
    localStorage.setItem(THEME_KEY, theme.value);
  } catch {
    // it holds until the page is closed
  }
  applyTheme();
}

/** Shows a page in the document. */
export function mount(page: PageDefinition): void {
  applyTheme();
  startRouter(page.mode, page.routes);
  // the document has a header for the first paint
  document.body.replaceChildren();
  keepFocus();
  render(<Frame page={page} />, document.body);
}

function Frame({ page }: { readonly page: PageDefinition }) {
  const { path } = here.value;
  const section = match(page.routes, path)?.route.section ?? path;
  const Aside = page.aside;
  // on a narrow screen the sections scroll sideways
  useEffect(() => {
    document.querySelector(".sections [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href={hrefOf("/")}>
          <Mark />
          <span>Arbor</span>
        </a>
        <Sites page={page} />
        <nav class="sections" aria-label="Sections">
          {page.sections.map(({ name, path: to, outside = false, badge }) => {
            const current = !outside && (section === to || (to !== "/" && section.startsWith(`${to}/`)));
            const n = badge?.value ?? 0;
            return (
              <a
                key={to}
                href={outside ? to : hrefOf(to)}
                {...(current ? { "aria-current": path === to ? "page" as const : "true" as const } : {})}
              >
                {name}
                {n > 0 && <span class="nav-badge">{n > 99 ? "99+" : n}</span>}
              </a>
            );
          })}
        </nav>
        <div class="bar-end">
          {Aside && <Aside />}
          {page.site !== undefined && <Fresh />}
          <button type="button" class="quiet theme" title="Light or dark" onClick={nextTheme}>
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
              <circle cx="8" cy="8" r="6.3" fill="none" stroke="currentColor" stroke-width="1.5" />
              <path d="M8 1.7a6.3 6.3 0 0 1 0 12.6z" fill="currentColor" />
            </svg>
            <span class="sr">Theme:</span>
            <span>{THEME_NAMES[theme.value]}</span>
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <CommonFailures />
        <View page={page} />
      </main>
      <Toasts />
      <Questions />
    </>
  );
}

/** How fresh the page is; on a narrow screen the word before the comma. */
function Fresh() {
  const [word, more] = WORDS[freshness.value].split(",");
  return (
    <p class="link" role="status" id="link" data-state={freshness.value}>
      {word}
      {more !== undefined && <span class="more">,{more}</span>}
    </p>
  );
}

/** Links to the pages of the other services, to the API and to the guide; on a narrow screen a button shows them. */
function Sites({ page }: { readonly page: PageDefinition }) {
  const [open, setOpen] = useState(false);
  const links = SITES.flatMap(([site, name]) => {
    const href = site === page.site ? hrefOf("/") : siteOf(site);
    return href === undefined ? [] : [{ name, href, current: site === page.site }];
  });
  if (page.api !== undefined) links.push({ name: "API", href: page.api, current: page.site === undefined });
  const guide = setting("guide");
  if (guide !== undefined) links.push({ name: "Guide", href: guide, current: false });
  useEffect(() => {
    if (!open) return;
    const close = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : true) setOpen(false);
    };
    addEventListener("keydown", close);
    // not the click that opened it, which is over
    addEventListener("click", close);
    return () => {
      removeEventListener("keydown", close);
      removeEventListener("click", close);
    };
  }, [open]);
  return (
    <nav class="sites" aria-label="Pages">
      <button type="button" class="quiet" aria-expanded={open} aria-controls="sites" onClick={() => setOpen(!open)}>
        {page.service} <span aria-hidden="true">▾</span>
      </button>
      <ul id="sites" class={open ? "open" : ""}>
        {links.map(({ name, href, current }) => (
          <li key={name}>
            <a href={href} {...(current ? { "aria-current": "true" as const } : {})}>{name}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function View({ page }: { readonly page: PageDefinition }) {
  const { path, query } = here.value;
  const visited = visits.value;
  const first = useRef(visited);
  const gate = page.gate?.();
  const closed = gate !== undefined && gate !== null && gate !== false;
  const found = match(page.routes, path);
  // before the effects of the view, which may set a title of its own
  useLayoutEffect(() => {
    title.value = found?.route.title ?? "No such page";
  }, [path]);
  // not `useEffect`: a key that is pressed before it runs would have no target
  useLayoutEffect(() => {
    if (visited === first.current) return;
    // a heading that comes later takes the focus from there
    document.querySelector<HTMLElement>("main h1, #main:not(:has(h1))")?.focus({ preventScroll: true });
  }, [visited]);
  if (closed) return <>{gate}</>;
  if (!found) {
    return (
      <>
        <h1 tabIndex={-1}>No such page</h1>
        <p>
          <a href={hrefOf("/")}>To the start of this page</a>
        </p>
      </>
    );
  }
  const Shown = found.route.view;
  return (
    <Boundary key={path}>
      <Shown params={found.params} query={new URLSearchParams(query)} />
    </Boundary>
  );
}

/** Keeps an error in one view from taking the page with it. */
class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <div class="alert" role="alert">
        <p>{sentenceOf(this.state.error)}</p>
        <button type="button" class="small" onClick={() => this.setState({ error: undefined })}>Show it again</button>
      </div>
    );
  }
}

/** The mark of the product: a small tree. */
function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 24 24" aria-hidden="true">
      <path
        d="M12 22v-7M12 15 6.5 9.5M12 15l5.5-5.5M12 15V6"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
      />
      <circle cx="12" cy="4" r="2.5" fill="currentColor" />
      <circle cx="5" cy="8" r="2.5" fill="currentColor" />
      <circle cx="19" cy="8" r="2.5" fill="currentColor" />
    </svg>
  );
}
