// @ts-check
/// <reference lib="dom" />
/** Webhooks: who is told of which transitions, how that goes, and what was sent last. */
import { change, get, pathOf } from "./api.js";
import { every, h, keyed, setText } from "./dom.js";
import { ago, alertBox, badge, count, nothing, question, said } from "./parts.js";

/** @typedef {import("./types.ts").Webhook} Webhook */
/** @typedef {import("./types.ts").Webhooks} Webhooks */
/** @typedef {import("./types.ts").Deliveries} Deliveries */

const TONES = /** @type {const} */ ({ active: "good", failing: "warn", disabled: "bad" });
/** Deliveries that are shown. */
const LIMIT = 20;

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function webhooksPage({ signal, link }) {
  const alert = alertBox();
  const list = h("ul", { class: "hooks" });
  const empty = nothing("Loading");

  const load = async () => {
    try {
      const { webhooks } = /** @type {Webhooks} */ (await get("/webhooks", signal));
      alert.show(undefined);
      link("live");
      keyed(list, webhooks, (hook) => hook.id, hookRow);
      empty.hidden = webhooks.length > 0;
      setText(empty, "None. POST /webhooks has transitions sent to a URL.");
    } catch (error) {
      if (signal.aborted) return;
      link("stale");
      alert.show(error);
    }
  };

  /** @param {Webhook} hook */
  const hookRow = (hook) => {
    const at = `/webhooks${pathOf(hook.id)}`;
    const { kind, id, transition } = hook.filter;
    const wanted = [kind, id, transition].filter((one) => one !== null);
    const deliveries = h("ul", { class: "rows" });
    const open = async () => {
      if (!details.open) return;
      try {
        const answer = /** @type {Deliveries} */ (await get(`${at}/deliveries?limit=${LIMIT}`, signal));
        keyed(deliveries, answer.deliveries, (one) => String(one.n), deliveryRow);
        if (answer.deliveries.length === 0) deliveries.replaceChildren(h("li", { class: "nothing" }, "None."));
      } catch (error) {
        if (!signal.aborted) alert.show(error);
      }
    };
    const details = h("details", { toggle: open }, h("summary", {}, "Last deliveries"), deliveries);
    /** @param {string} name @param {{ title: string, text: string, danger?: boolean, run: () => Promise<string | void> }} rest @param {string} done */
    const button = (name, rest, done) =>
      h("button", {
        type: "button",
        "data-key": `${name} ${hook.id}`,
        "aria-label": `${name} the webhook ${hook.url}`,
        click: async () => {
          if (await question({ ...rest, verb: name })) said(done);
          await load();
        },
      }, name);
    return h(
      "li",
      { class: "panel" },
      h("h2", {}, h("span", { class: "mono" }, hook.url), badge(hook.status, TONES[hook.status])),
      h(
        "p",
        { class: "note" },
        wanted.length > 0 ? `Told of ${wanted.join(", ")}` : "Told of everything",
        ` · ${count(hook.pending)} waiting · since `,
        ago(hook.created),
      ),
      hook.reason !== null && h("p", { class: "error" }, hook.reason),
      details,
      h(
        "div",
        { class: "buttons" },
        button("Test", {
          title: "Send a test event now?",
          text: `It goes to ${hook.url}, once.`,
          run: async () => {
            const answer = await change("POST", `${at}/test`);
            const { delivered, error, code } =
              /** @type {{ delivered: boolean, error: string | null, code: number | null }} */ (answer);
            if (!delivered) return error ?? `It was answered with ${code}.`;
          },
        }, "The test arrived."),
        hook.status !== "active" && button("Resume", {
          title: "Try what waits at once?",
          text: "Deliveries go on from where they stopped.",
          run: async () => void (await change("POST", `${at}/resume`)),
        }, "Resumed."),
        button("Remove", {
          title: "Remove this webhook?",
          text: "What waits for it is deleted too.",
          danger: true,
          run: async () => void (await change("DELETE", at)),
        }, "Removed."),
      ),
    );
  };

  every(load, 5_000, signal);
  return {
    title: "Webhooks",
    element: h("div", { class: "hooks-page" }, h("h1", {}, "Webhooks"), alert.element, empty, list),
  };
}

/** @param {Deliveries["deliveries"][number]} delivery */
const deliveryRow = (delivery) =>
  h(
    "li",
    {},
    h("span", { class: "mono" }, delivery.event),
    badge(delivery.status, delivery.status === "delivered" ? "good" : "warn"),
    h(
      "span",
      { class: "note" },
      delivery.code !== null && `${delivery.code} · `,
      `${count(delivery.attempts)} attempt${delivery.attempts === 1 ? "" : "s"}`,
      delivery.nextAttempt !== null && " · next ",
      delivery.nextAttempt !== null && ago(delivery.nextAttempt),
    ),
    delivery.error !== null && h("p", { class: "error" }, delivery.error),
  );
