/// <reference lib="dom" />
/** The operator pages: what every actor does, what needs attention, and what an operator can do about it. */
import "./operator.css";
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { mount } from "../kit/mount.tsx";
import { go, visits } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { TokenForm } from "../kit/TokenForm.tsx";
import { lazy } from "../kit/parts.tsx";
import { ActorsView } from "./actors.tsx";
import { AttentionView } from "./attention.tsx";
import { OverviewView } from "./overview.tsx";
import { SearchView } from "./search.tsx";
import { get, keepToken, locked } from "./service.ts";
import type { Attention } from "./types.ts";

/** Number of things that need attention, and how often it is read, in milliseconds. */
const attention = signal<number | undefined>(undefined);
const EVERY_MS = 5_000;

async function countAttention(): Promise<void> {
  if (document.hidden || locked.peek() !== "no") return;
  // The view itself shows why it cannot be read.
  attention.value = await get<Attention>("/attention").then(({ count }) => count, () => attention.peek());
}

function SearchField() {
  useEffect(() => {
    void countAttention();
    const timer = setInterval(() => void countAttention(), EVERY_MS);
    return () => clearInterval(timer);
  }, [locked.value]);
  return (
    <Search
      // what was searched for is not left beside another view
      key={visits.value}
      label="Find an actor"
      placeholder="Id, hash, address or name"
      value=""
      onSearch={() => {}}
      onEnter={(text) => text !== "" && go(`/ui/search?q=${encodeURIComponent(text)}`)}
    />
  );
}

function Login() {
  return (
    <TokenForm heading="Operator token" rejected={locked.value === "rejected"} onToken={keepToken}>
      This service requires its operator token (ARBOR_OPERATOR_TOKEN). The token is stored only in this tab.
    </TokenForm>
  );
}

const ActorView = lazy(() => import("./actor.tsx").then((module) => module.ActorView), { soon: true });
const WorkersView = lazy(() => import("./workers.tsx").then((module) => module.WorkersView), { soon: true });
const LettersView = lazy(() => import("./deadLetters.tsx").then((module) => module.LettersView), { soon: true });
const WebhooksView = lazy(() => import("./webhooks.tsx").then((module) => module.WebhooksView), { soon: true });

mount({
  service: "Operator",
  site: "operator",
  api: "/docs",
  mode: "path",
  sections: [
    { name: "Overview", path: "/" },
    { name: "Attention", path: "/ui/attention", badge: attention },
    { name: "Actors", path: "/ui/actors" },
    { name: "Workers", path: "/ui/workers" },
    { name: "Dead letters", path: "/ui/dead-letters" },
    { name: "Webhooks", path: "/ui/webhooks" },
  ],
  routes: [
    { path: "/", title: "Overview", view: OverviewView },
    { path: "/ui", title: "Overview", section: "/", view: OverviewView },
    { path: "/ui/attention", title: "Attention", view: AttentionView },
    { path: "/ui/search", title: "Search", view: SearchView },
    { path: "/ui/actors", title: "Actors", view: ActorsView },
    { path: "/ui/actors/:kind/:id", title: "Actor", view: ActorView },
    { path: "/ui/workers", title: "Workers", view: WorkersView },
    { path: "/ui/dead-letters", title: "Dead letters", view: LettersView },
    { path: "/ui/webhooks", title: "Webhooks", view: WebhooksView },
  ],
  aside: SearchField,
  gate: () => locked.value === "no" ? null : <Login />,
});
