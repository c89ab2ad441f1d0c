// @ts-check
/// <reference lib="dom" />
/**
 * Dead letters: events that failed each time they were applied. They wait here until an operator retries or drops
 * them.
 */
import { change, get, queryOf } from "./api.js";
import { every, h, keyed, setText } from "./dom.js";
import { actorLink, ago, alertBox, badge, nothing, pager, question, said, valueTree } from "./parts.js";

/** @typedef {import("./types.ts").DeadLetter} DeadLetter */
/** @typedef {import("./types.ts").DeadLetters} DeadLetters */

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function lettersPage({ query, signal, link }) {
  const alert = alertBox();
  const list = h("ul", { class: "letters" });
  const empty = nothing("Loading");
  const pages = pager();
  const after = query.get("after") ?? undefined;

  const load = async () => {
    try {
      const { deadLetters, next } =
        /** @type {DeadLetters} */ (await get(`/dead-letters${queryOf({ after })}`, signal));
      alert.show(undefined);
      link("live");
      keyed(list, deadLetters, (letter) => String(letter.n), letterRow);
      empty.hidden = deadLetters.length > 0;
      setText(
        empty,
        "None. Events that cannot be applied to an actor are stored here, and the actor continues without them.",
      );
      pages.show([
        ["Newest", after && "/ui/dead-letters"],
        ["Older", next && `/ui/dead-letters${queryOf({ after: next })}`],
      ]);
    } catch (error) {
      if (signal.aborted) return;
      link("stale");
      alert.show(error);
    }
  };

  /** @param {DeadLetter} letter */
  const letterRow = (letter) =>
    h(
      "li",
      { class: "letter panel" },
      h(
        "h2",
        {},
        h("span", { class: "event" }, letter.event.type),
        actorLink(letter.kind, letter.id),
        badge(letter.source, "quiet"),
      ),
      h("p", { class: "error" }, letter.error),
      h("p", { class: "note" }, ago(letter.at), " · ", h("span", { class: "mono cause" }, letter.cause)),
      h("details", {}, h("summary", {}, "The event"), valueTree(letter.event)),
      h(
        "div",
        { class: "buttons" },
        h("button", {
          type: "button",
          "data-key": `retry ${letter.n}`,
          "aria-label": `Retry ${letter.event.type} of ${letter.kind} ${letter.id}`,
          click: async () => {
            const done = await question({
              title: "Retry this event?",
              text:
                `${letter.event.type} is applied to the ${letter.kind} as it is now. If it fails again, it comes back here.`,
              verb: "Retry",
              run: async () => void (await change("POST", `/dead-letters/${letter.n}/retry`)),
            });
            if (done) said("Applied.");
            await load();
          },
        }, "Retry"),
        h("button", {
          type: "button",
          "data-key": `drop ${letter.n}`,
          "aria-label": `Drop ${letter.event.type} of ${letter.kind} ${letter.id}`,
          click: async () => {
            const done = await question({
              title: "Drop this event?",
              text: "It is deleted and cannot be retried.",
              verb: "Drop",
              danger: true,
              run: async () => void (await change("DELETE", `/dead-letters/${letter.n}`)),
            });
            if (done) said("Dropped.");
            await load();
          },
        }, "Drop"),
      ),
    );

  const ready = every(load, 5_000, signal);
  return {
    title: "Dead letters",
    ready,
    element: h(
      "div",
      { class: "letters-page" },
      h("h1", {}, "Dead letters"),
      alert.element,
      empty,
      list,
      pages.element,
    ),
  };
}
