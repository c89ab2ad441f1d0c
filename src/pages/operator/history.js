// @ts-check
/// <reference lib="dom" />
/** An actor's transitions, the newest first: read in pages from the rows, and added to as they come. */
import { get, queryOf } from "./api.js";
import { kebab } from "./chart.js";
import { h, keyed, setText } from "./dom.js";
import { alertBox, clock, panel, sentenceOf, step, valueTree } from "./parts.js";

/** @typedef {import("./types.ts").History} History */
/** @typedef {import("./types.ts").Machine} Machine */
/** @typedef {import("./types.ts").Transition} Transition */
/** @typedef {import("./types.ts").TransitionEvent} TransitionEvent */

const PAGE = 50;
/** Rows that a page left open keeps. */
const ROWS = 1_000;

/** @typedef {Pick<Transition, "version" | "from" | "to" | "event" | "cause" | "at">} Entry */

/**
 * The history as a timeline, newest first; grows at its top as transitions come. @param {string} at @param
 * {AbortSignal} signal
 */
export function createHistory(at, signal) {
  const list = h("ol", { class: "timeline" });
  const note = h("p", { class: "nothing" }, "Loading");
  const alert = alertBox();
  /** @type {Entry[]} */
  let entries = [];
  /** Whether the oldest were let go, so that there is no reading on behind them. */
  let cut = false;
  /** @type {string | null} */
  let next = null;
  /** @type {Map<string, string>} */
  let names = new Map();
  const more = h("button", {
    type: "button",
    class: "more",
    hidden: true,
    click: () => {
      if (!cut) return void older();
      entries = [];
      void start();
    },
  });

  const draw = () => {
    note.hidden = entries.length > 0;
    setText(note, "No transitions yet.");
    keyed(list, entries, (entry) => String(entry.version), (entry) => entryRow(entry, at));
    more.hidden = next === null;
    setText(more, cut ? "Show the newest again" : "Load more");
  };
  /** @param {Entry[]} some */
  const merge = (some) => {
    const by = new Map([...entries, ...some].map((entry) => [entry.version, entry]));
    entries = [...by.values()].sort((a, b) => b.version - a.version);
  };
  const trim = () => {
    if (entries.length <= ROWS) return;
    entries = entries.slice(0, ROWS);
    cut = true;
  };
  /** @param {string | null} before */
  const read = async (before) => {
    const answer = await get(`${at}/history${queryOf({ limit: String(PAGE), before: before ?? undefined })}`, signal);
    return /** @type {History} */ (answer);
  };
  const older = async () => {
    try {
      const page = await read(next);
      alert.show(undefined);
      merge(page.transitions);
      next = page.next;
      trim();
      draw();
    } catch (error) {
      if (!signal.aborted) alert.show(error);
    }
  };
  const start = async () => {
    try {
      const page = await read(null);
      alert.show(undefined);
      const newest = page.transitions[0]?.version ?? 0;
      const oldest = page.transitions.at(-1)?.version ?? 0;
      // What was loaded before is kept where the new page reaches it; else there would be a gap.
      if (!entries.some((entry) => entry.version <= newest && entry.version >= oldest - 1)) {
        entries = entries.filter((entry) => entry.version > newest);
        next = page.next;
        cut = false;
      }
      merge(page.transitions);
      trim();
      draw();
    } catch {
      if (signal.aborted) return;
      note.hidden = entries.length > 0;
      setText(note, "No transitions yet.");
    }
  };
  return {
    element: panel("History", alert.element, note, list, more),
    /** @param {Machine} machine */
    know: (machine) => {
      names = new Map(machine.edges.map(({ event }) => [kebab(event), event]));
    },
    start,
    /** @param {TransitionEvent[]} events */
    add: (events) => {
      merge(events.map(({ type, time, data }) => {
        const event = type.slice(type.lastIndexOf(".") + 1);
        return { ...data, event: names.get(event) ?? event, at: time };
      }));
      trim();
      draw();
    },
  };
}

/** What an event said, what it concerns, and the state after it. @param {number} version @param {string} actor */
function detailsOf(version, actor) {
  const list = h("p", { class: "note" }, "Loading");
  const element = h("details", {}, h("summary", { "data-key": `v${version}` }, "Details"), list);
  element.addEventListener("toggle", async () => {
    try {
      const [{ transitions: [one] }, past] = await Promise.all([
        get(`${actor}/history?limit=1&before=${version + 1}`),
        get(`${actor}/at?version=${version}`).catch((error) => sentenceOf(error)),
      ]);
      const links = one.links.map((/** @type {Transition["links"][number]} */ { rel, id, href }) =>
        h("li", {}, `${rel} `, h(href ? "a" : "span", { class: "mono", href: href && `/ui${href}` }, id))
      );
      list.replaceWith(
        h("ul", { class: "rows" }, ...links),
        valueTree({ payload: one.payload, causes: one.causes, "state after it": past }),
      );
    } catch (error) {
      setText(list, sentenceOf(error));
    }
  }, { once: true });
  return element;
}

/** @param {Entry} entry @param {string} actor path of the actor */
function entryRow({ version, from, to, event, cause, at }, actor) {
  const caused = /^effect:([a-z0-9-]+)\/(.+):(\d+)$/.exec(cause);
  return h(
    "li",
    { class: from === to ? "stays" : "" },
    h(
      "div",
      { class: "line" },
      h("span", { class: "event" }, event),
      step(from, to),
      h("span", { class: "version" }, `v${version}`),
    ),
    h(
      "div",
      { class: "note" },
      h(
        "span",
        { class: "when" },
        dayOf(at),
        clock(at),
      ),
      h("span", { class: "cause mono", title: cause }, caused ? `effect #${caused[3]}` : cause),
    ),
    detailsOf(version, actor),
  );
}

/** The day, where it is not today. @param {string} iso */
function dayOf(iso) {
  const at = new Date(iso);
  if (at.toDateString() === new Date().toDateString()) return "";
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" })} `;
}
