// @ts-check
/// <reference lib="dom" />
/** Every transition as it happens, as a list that can be held. */
import { h, setText } from "./dom.js";
import { actorLink, clock, count, panel, step } from "./parts.js";

/** @typedef {import("./types.ts").TransitionEvent} TransitionEvent */

/** Rows that are kept. */
const ROWS = 80;
/** Above this many transitions in a second they are no longer read out one by one. */
const SPOKEN = 3;

/** Transitions as they arrive, with at most four redraws a second. */
export function createFeed() {
  const list = h("ol", { class: "feed" });
  const log = h("div", { role: "log", "aria-live": "polite", "aria-label": "Transitions as they happen" }, list);
  const note = h("p", { class: "note" }, "Waiting for the first transition.");
  const hold = h("button", { type: "button", "aria-pressed": "false" }, "Hold");
  /** @type {TransitionEvent[]} */
  let waiting = [];
  let skipped = 0;
  /** Held by the button, by a pointer that is about to press something, by the focus in a row. */
  const held = { button: false, pointer: false, focus: false };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let drawing;
  let last = 0;
  const draw = () => {
    drawing = undefined;
    const now = Date.now();
    const each = waiting.length / Math.max(0.25, (now - last) / 1000);
    last = now;
    // A flood is not for reading out.
    log.setAttribute("aria-live", each > SPOKEN ? "off" : "polite");
    list.prepend(...waiting.map(feedRow).reverse());
    waiting = [];
    while (list.childElementCount > ROWS) list.lastElementChild?.remove();
    setText(note, skipped > 0 ? `${count(skipped)} more not shown.` : "");
    skipped = 0;
  };
  const isHeld = () => held.button || held.pointer || held.focus;
  /** @param {"button" | "pointer" | "focus"} by @param {boolean} on */
  const grip = (by, on) => {
    held[by] = on;
    if (isHeld()) {
      clearTimeout(drawing);
      drawing = undefined;
      tell();
    } else if (drawing === undefined) draw();
  };
  const tell = () => setText(note, waiting.length > 0 ? `Held: ${count(waiting.length + skipped)} new.` : "Held.");
  hold.addEventListener("click", () => {
    grip("button", !held.button);
    hold.setAttribute("aria-pressed", String(held.button));
    setText(hold, held.button ? "Continue" : "Hold");
  });
  list.addEventListener("pointerenter", (event) => grip("pointer", event.pointerType === "mouse"));
  list.addEventListener("pointerleave", () => grip("pointer", false));
  list.addEventListener("focusin", () => grip("focus", true));
  list.addEventListener("focusout", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !list.contains(relatedTarget)) grip("focus", false);
  });
  const section = panel("Transitions", h("div", { class: "feed-head" }, note, hold), log);
  section.classList.add("feed-panel");
  return {
    element: section,
    /** @param {TransitionEvent[]} events */
    add: (events) => {
      waiting.push(...events);
      if (waiting.length > ROWS) {
        skipped += waiting.length - ROWS;
        waiting = waiting.slice(-ROWS);
      }
      if (isHeld()) tell();
      else drawing ??= setTimeout(draw, Math.max(0, last + 250 - Date.now()));
    },
    stop: () => clearTimeout(drawing),
  };
}

/** @param {TransitionEvent} event */
function feedRow(event) {
  const { entity, from, to, version } = event.data;
  return h(
    "li",
    {},
    clock(event.time),
    h("span", { class: "event" }, event.type.slice(event.type.lastIndexOf(".") + 1)),
    actorLink(entity.kind, entity.id),
    step(from, to),
    h("span", { class: "version", title: "version" }, `v${version}`),
  );
}
