// @ts-check
/// <reference lib="dom" />
/** Actors by kind, state and id, page by page; the filter is the address, so that it can be kept and sent. */
import { get, queryOf } from "./api.js";
import { every, h, keyed, setText } from "./dom.js";
import { actorLink, ago, alertBox, badge, count, pager, stateChip } from "./parts.js";

/** @typedef {import("./types.ts").ActorLine} ActorLine */
/** @typedef {import("./types.ts").Actors} Actors */
/** @typedef {import("./types.ts").KindCounts} KindCounts */

const LIMIT = "50";

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function actorsPage({ query, signal, link, go }) {
  const chosen = {
    kind: query.get("kind") ?? "",
    state: query.get("state") ?? "",
    paused: query.get("paused") ?? "",
    q: query.get("q") ?? "",
  };
  const after = query.get("after") ?? undefined;
  const alert = alertBox();
  const body = h("tbody");
  const note = h("p", { class: "note", role: "status" }, "Loading");
  const pages = pager();

  const kind = select("kind", "Kind", [["", "all"], ...chosen.kind ? [[chosen.kind, chosen.kind]] : []], chosen.kind);
  const state = select(
    "state",
    "State",
    [["", "all"], ...chosen.state ? [[chosen.state, chosen.state]] : []],
    chosen.state,
  );
  const paused = select(
    "paused",
    "Paused",
    [["", "either"], ["true", "paused"], ["false", "not paused"]],
    chosen.paused,
  );
  const q = h("input", {
    id: "q",
    name: "q",
    type: "search",
    value: chosen.q,
    spellcheck: "false",
    autocapitalize: "off",
  });
  const apply = () => {
    const filter = { kind: kind.field.value, state: state.field.value, paused: paused.field.value, q: q.value.trim() };
    const address = `/ui/actors${queryOf(filter)}`;
    if (address !== location.pathname + location.search) go(address);
  };
  kind.field.addEventListener("change", () => {
    state.field.value = "";
    apply();
  });
  state.field.addEventListener("change", apply);
  paused.field.addEventListener("change", apply);
  const form = h(
    "form",
    {
      class: "filter",
      role: "search",
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        apply();
      },
    },
    kind.element,
    state.element,
    paused.element,
    h("div", { class: "field grow" }, h("label", { for: "q" }, "Beginning of the id, address, hash or wallet name"), q),
    h("button", { type: "submit" }, "Filter"),
  );

  void get("/kinds", signal).then((answer) => {
    const { kinds } = /** @type {{ kinds: KindCounts[] }} */ (answer);
    kind.set([["", "all"], ...kinds.map((one) => [one.kind, one.kind])]);
    const states = new Set(
      kinds.filter((one) => !chosen.kind || one.kind === chosen.kind).flatMap((one) => one.states.map((s) => s.state)),
    );
    state.set([["", "all"], ...[...states].sort().map((one) => [one, one])]);
  }).catch(() => {});

  const ready = every(
    async () => {
      try {
        const answer = await get(`/actors${queryOf({ ...chosen, limit: LIMIT, after })}`, signal);
        const { actors, next } = /** @type {Actors} */ (answer);
        alert.show(undefined);
        link("live");
        keyed(body, actors, (actor) => JSON.stringify([actor.kind, actor.id]), row);
        setText(
          note,
          actors.length === 0
            ? chosen.q ? "No actor's id begins with this." : "No actor matches."
            : `${count(actors.length)} ${after ? "more" : "shown"}`,
        );
        pages.show([
          ["First page", after && `/ui/actors${queryOf(chosen)}`],
          ["Next page", next && `/ui/actors${queryOf({ ...chosen, after: next })}`],
        ]);
      } catch (error) {
        if (signal.aborted) return;
        link("stale");
        alert.show(error);
      }
    },
    3_000,
    signal,
  );

  const hits = h("ul", { class: "rows", "aria-label": "Found otherwise" });
  if ([...chosen.q].length > 1) {
    void get(`/search${queryOf({ q: chosen.q })}`, signal).then((answer) => {
      const { results } = /** @type {import("./types.ts").Search} */ (answer);
      for (const { kind, id, label, why, href } of results) {
        if (why === "id") continue;
        hits.append(
          h(
            "li",
            {},
            href ? actorLink(kind, id) : h("span", { class: "mono" }, `${kind} ${id}`),
            label === id ? "" : ` ${label}`,
            ` (by ${why})`,
          ),
        );
      }
    }).catch(() => {});
  }

  const head = ["Actor", "State", "Version", "Changed", "Owner", "Partition"];
  const element = h(
    "div",
    { class: "actors" },
    h("h1", {}, "Actors"),
    form,
    alert.element,
    hits,
    note,
    h(
      "table",
      { class: "cards" },
      h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))),
      body,
    ),
    pages.element,
  );
  return { title: "Actors", element, ready };
}

/** @param {ActorLine} actor */
function row(actor) {
  return h(
    "tr",
    {},
    h("td", { class: "wide" }, actorLink(actor.kind, actor.id)),
    h("td", {}, stateChip(actor.state), actor.paused && badge("paused", "warn")),
    h("td", { class: "n", "data-label": "version" }, count(actor.version)),
    h("td", {}, ago(actor.changed)),
    h("td", { "data-label": "owner" }, actor.owner ?? badge("none", "quiet")),
    h("td", { class: "n", "data-label": "partition" }, actor.partition),
  );
}

/** @param {string} name @param {string} label @param {string[][]} options @param {string} value */
function select(name, label, options, value) {
  const field = h("select", { id: name, name });
  /** @param {string[][]} list */
  const set = (list) => {
    const all = list.some(([one]) => one === value) ? list : [...list, [value, value]];
    field.replaceChildren(...all.map(([one, text]) => h("option", { value: one, selected: one === value }, text)));
  };
  set(options);
  return { element: h("div", { class: "field" }, h("label", { for: name }, label), field), field, set };
}
