// @ts-check
/// <reference lib="dom" />
/**
 * The overview: actors by state, their rates, workers, backlogs, and each transition as it
 * happens.
 */
import { get } from "./api.js";
import { atMostEvery, every, h, keyed, setText, svg } from "./dom.js";
import { createFeed } from "./feed.js";
import { watch } from "./live.js";
import { alertBox, count, panel, span } from "./parts.js";

/** @typedef {import("./types.ts").Overview} Overview */
/** @typedef {import("./types.ts").KindCounts} KindCounts */

/** Seconds of the drawing of rates. */
const SECONDS = 120;

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function overviewPage({ signal, link }) {
  const alert = alertBox();
  const rate = vital("Transitions per second", "over the last minute");
  const actors = vital("Actors", "");
  const workers = vital("Workers", "alive");
  const letters = vital("Dead letters", "", "/ui/dead-letters");
  const bars = rateBars();
  rate.element.append(bars.element);
  const kinds = h("div", { class: "kinds" });
  const lags = h("ul", { class: "lags" });
  const feed = createFeed();
  /** @type {Map<string, string[]>} */
  const places = new Map();
  /**
   * The states of a kind in the order in which this page met them, so that none changes its place or colour. @param
   * {KindCounts} kind
   */
  const placesOf = ({ kind, states }) => {
    const known = places.get(kind) ?? [];
    const sorted = [...states].sort((a, b) => b.actors - a.actors).map((one) => one.state);
    places.set(kind, [...known, ...sorted.filter((state) => !known.includes(state))]);
    return places.get(kind) ?? [];
  };

  const load = async () => {
    try {
      const overview = await get("/overview", signal);
      alert.show(undefined);
      show(/** @type {Overview} */ (overview));
    } catch (error) {
      if (!signal.aborted) alert.show(error);
    }
  };
  /** @param {Overview} overview */
  const show = (overview) => {
    const perSecond = overview.rates.transitionsPerSecond;
    rate.set(perSecond >= 100 ? count(Math.round(perSecond)) : perSecond.toFixed(1));
    const paused = overview.kinds.reduce((sum, kind) => sum + kind.paused, 0);
    actors.set(
      count(overview.kinds.reduce((sum, kind) => sum + kind.actors, 0)),
      paused ? `${count(paused)} paused` : "none paused",
    );
    workers.set(
      count(overview.workers),
      overview.workers === 0 ? "no worker" : "alive",
      overview.workers === 0 ? "bad" : "",
    );
    letters.set(
      count(overview.deadLetters),
      overview.deadLetters ? "need attention" : "none",
      overview.deadLetters ? "bad" : "",
    );
    keyed(kinds, overview.kinds, (kind) => kind.kind, (kind) => kindRow(kind, placesOf(kind)));
    keyed(lags, lagsOf(overview.lags), (lag) => lag.name, lagRow);
  };

  const soon = atMostEvery(() => void load(), 1_500, signal);
  const ready = every(load, 5_000, signal);
  const second = setInterval(() => bars.next(), 1_000);
  signal.addEventListener("abort", () => {
    clearInterval(second);
    feed.stop();
  });
  void watch({
    signal,
    onState: link,
    onOpen: soon,
    onEvents: (transitions) => {
      bars.add(transitions.length);
      feed.add(transitions);
      soon();
    },
  });
  const element = h(
    "div",
    { class: "overview" },
    h("h1", {}, "Overview"),
    alert.element,
    h("div", { class: "vitals" }, rate.element, actors.element, workers.element, letters.element),
    h("div", { class: "column" }, panel("Kinds and states", kinds), panel("Lags", lags)),
    feed.element,
  );
  return { title: "Overview", element, ready };
}

/** One large number. @param {string} name @param {string} below @param {string} [href] */
function vital(name, below, href) {
  const number = h("span", { class: "number" }, "–");
  const note = h("span", { class: "note" }, below);
  const element = h(
    "div",
    { class: "vital" },
    h("span", { class: "what" }, href ? h("a", { href }, name) : name),
    number,
    note,
  );
  return {
    element,
    /** @param {string} text @param {string} [under] @param {string} [tone] */
    set: (text, under = below, tone = "") => {
      setText(number, text);
      setText(note, under);
      element.className = `vital ${tone}`;
    },
  };
}

/** @param {KindCounts} kind @param {string[]} places */
function kindRow(kind, places) {
  const counts = new Map(kind.states.map((one) => [one.state, one.actors]));
  const states = places.map((state, i) => ({ state, i, actors: counts.get(state) ?? 0 }));
  const search = new URLSearchParams({ kind: kind.kind });
  const bar = h("div", { class: "share", "aria-hidden": "true" });
  states.forEach((state) => {
    if (state.actors === 0) return;
    const part = h("span", { class: `s${state.i % 6}` });
    part.style.flexGrow = String(state.actors);
    bar.append(part);
  });
  return h(
    "div",
    { class: "kind-row" },
    h(
      "div",
      { class: "head" },
      h("a", { href: `/ui/actors?${search}`, "data-key": kind.kind }, kind.kind),
      h("span", { class: "total" }, count(kind.actors)),
      kind.paused > 0 &&
        h("a", { class: "badge warn", href: `/ui/actors?${search}&paused=true` }, `${count(kind.paused)} paused`),
    ),
    kind.actors > 0 && bar,
    h(
      "ul",
      { class: "states" },
      ...states.map((state) =>
        h(
          "li",
          {},
          h(
            "a",
            {
              href: `/ui/actors?${new URLSearchParams({ kind: kind.kind, state: state.state })}`,
              class: state.actors === 0 ? "none" : undefined,
              "data-key": `${kind.kind} ${state.state}`,
            },
            h("i", { class: `s${state.i % 6}`, "aria-hidden": "true" }),
            state.state,
            h("b", {}, count(state.actors)),
          ),
        )
      ),
      states.length === 0 && h("li", { class: "nothing" }, "None so far."),
    ),
  );
}

/** @typedef {{ name: string, value: string, note: string, tone: "good" | "warn" | "bad" }} Lag */

/** What waits, and whether that is bad. @param {Overview["lags"]} lags @returns {Lag[]} */
function lagsOf({ outbox, inputs, effects, reminders, follower }) {
  /** @param {number | null} ms */
  const oldest = (ms) => ms === null ? "" : `oldest ${span(ms)}`;
  /** @param {number | null} ms */
  const tone = (ms) => ms === null || ms < 2_000 ? "good" : ms < 30_000 ? "warn" : "bad";
  const slots = follower.tipSlot - follower.slot;
  const blocks = follower.tipHeight - follower.height;
  return [
    {
      name: "Events to publish",
      value: count(outbox.unpublished),
      note: oldest(outbox.oldestMs),
      tone: tone(outbox.oldestMs),
    },
    {
      name: "Chain log to read",
      value: count(inputs.unread),
      note: oldest(inputs.oldestMs),
      tone: tone(inputs.oldestMs),
    },
    {
      name: "Open effects",
      value: count(effects.open),
      note: effects.failing ? `${count(effects.failing)} failing` : "",
      tone: effects.failing ? "bad" : "good",
    },
    {
      name: "Reminders",
      value: count(reminders.pending),
      note: reminders.overdue ? `${count(reminders.overdue)} overdue` : "",
      tone: reminders.overdue ? "warn" : "good",
    },
    {
      name: "Follower",
      value: slots <= 0 ? "at the tip" : `${count(slots)} slots behind`,
      note: `block ${count(follower.height)}${blocks > 0 ? ` of ${count(follower.tipHeight)}` : ""}`,
      tone: blocks <= 2 ? "good" : blocks < 20 ? "warn" : "bad",
    },
  ];
}

/** @param {Lag} lag */
const lagRow = (lag) =>
  h(
    "li",
    { class: lag.tone },
    h("span", { class: "what" }, lag.name),
    h(
      "span",
      { class: "note" },
      lag.note,
      lag.tone !== "good" && h("span", { class: "sr" }, lag.tone === "bad" ? " bad" : " watch"),
    ),
    h("span", { class: "number" }, lag.value),
  );

/** Transitions of each second as bars, the newest at the right. */
function rateBars() {
  const counts = new Array(SECONDS).fill(0);
  const path = svg("path", { d: "" });
  const element = svg("svg", {
    class: "bars",
    viewBox: `0 0 ${SECONDS} 30`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  }, path);
  const draw = () => {
    const most = Math.max(5, ...counts);
    path.setAttribute(
      "d",
      counts.map((n, i) => n === 0 ? "" : `M${i + .1} 30V${(30 - 29 * n / most).toFixed(1)}h.8V30Z`).join(""),
    );
  };
  return {
    element,
    /** @param {number} n */
    add: (n) => {
      counts[SECONDS - 1] += n;
    },
    next: () => {
      if (!document.hidden) draw();
      counts.shift();
      counts.push(0);
    },
  };
}
