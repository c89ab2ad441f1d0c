// @ts-check
/// <reference lib="dom" />
/** Webhooks: their transitions, their delivery state, their last messages, and adding one. */
import { change, get, pathOf } from "./api.js";
import { kebab } from "./chart.js";
import { every, h, keyed, setText } from "./dom.js";
import { ago, alertBox, badge, count, labelled, nothing, question, said, sentenceOf } from "./parts.js";

/** @typedef {import("./types.ts").Webhook} Webhook */
/** @typedef {import("./types.ts").WebhookMade} WebhookMade */
/** @typedef {import("./types.ts").Webhooks} Webhooks */
/** @typedef {import("./types.ts").Deliveries} Deliveries */
/** @typedef {{ element: HTMLElement, show: (hook: Webhook) => void }} HookRow */

const TONES = /** @type {const} */ ({ active: "good", failing: "warn", disabled: "bad" });
/** Deliveries that are shown. */
const LIMIT = 20;

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function webhooksPage({ signal, link }) {
  const alert = alertBox();
  const fresh = h("div", {});
  const list = h("ul", { class: "hooks" });
  const empty = nothing("Loading");
  /** @type {Map<string, HookRow>} */
  const rows = new Map();

  const load = async () => {
    try {
      const { webhooks } = /** @type {Webhooks} */ (await get("/webhooks", signal));
      alert.show(undefined);
      link("live");
      for (const id of rows.keys()) if (!webhooks.some((hook) => hook.id === id)) rows.delete(id);
      for (const hook of webhooks) {
        const row = rows.get(hook.id) ?? hookRow(hook, { signal, load });
        rows.set(hook.id, row);
        row.show(hook);
      }
      keyed(
        list,
        webhooks.map(({ id }) => id),
        (id) => id,
        (id) => /** @type {HookRow} */ (rows.get(id)).element,
      );
      empty.hidden = webhooks.length > 0;
      setText(empty, "None. A webhook sends signed transitions to your URL.");
    } catch (error) {
      if (signal.aborted) return;
      link("stale");
      alert.show(error);
    }
  };
  const add = h("button", {
    type: "button",
    class: "primary",
    "data-key": "add",
    click: async () => {
      const made = await addWebhook(signal);
      if (made) showSecret(fresh, made);
      await load();
    },
  }, "Add a webhook");

  const ready = every(load, 5_000, signal);
  return {
    title: "Webhooks",
    ready,
    element: h(
      "div",
      { class: "hooks-page" },
      h("div", { class: "top" }, h("h1", {}, "Webhooks"), add),
      alert.element,
      fresh,
      empty,
      list,
    ),
  };
}

/**
 * Opens the form for a webhook and creates it; undefined where the form was closed. @param {AbortSignal} signal
 */
async function addWebhook(signal) {
  const url = h("input", {
    id: "url",
    type: "url",
    required: true,
    maxlength: 2_000,
    placeholder: "https://",
    spellcheck: "false",
    autocomplete: "off",
  });
  const kind = h("select", { id: "of-kind" }, h("option", { value: "" }, "every kind"));
  const id = h("input", { id: "of-id", maxlength: 200, spellcheck: "false", autocomplete: "off" });
  const transition = h("input", { id: "of-transition", maxlength: 200, spellcheck: "false", autocomplete: "off" });
  const from = h(
    "select",
    { id: "from" },
    h("option", { value: "now" }, "now on"),
    h("option", { value: "start" }, "the oldest retained transition"),
  );
  void get("/kinds", signal).then((answer) => {
    const { kinds } = /** @type {{ kinds: import("./types.ts").KindCounts[] }} */ (answer);
    kind.append(...kinds.map((one) => h("option", { value: one.kind }, one.kind)));
  }).catch(() => {});
  /** @type {WebhookMade | undefined} */
  let made;
  await question({
    title: "Add a webhook",
    text: "Each transition is sent by POST as a signed CloudEvent, in order, and retried until it is acknowledged.",
    verb: "Add",
    field: h(
      "div",
      { class: "fields" },
      labelled("URL", url),
      labelled("Actor kind", kind),
      labelled("Only the actor with this id (optional)", id),
      labelled("Only this transition (optional)", transition),
      labelled("From", from),
    ),
    run: async () => {
      const answer = await change("POST", "/webhooks", {
        url: url.value.trim(),
        from: from.value,
        ...(kind.value ? { kind: kind.value } : {}),
        ...(id.value.trim() ? { id: id.value.trim() } : {}),
        // In the form of an actor's history, or in that of subscribers.
        ...(transition.value.trim() ? { transition: kebab(transition.value.trim()) } : {}),
      });
      made = /** @type {WebhookMade} */ (answer);
    },
  });
  return made;
}

/** Shows a new webhook's secret until it is confirmed. @param {HTMLElement} place @param {WebhookMade} made */
function showSecret(place, { url, secret }) {
  const field = h("input", {
    id: "secret",
    class: "mono",
    readonly: true,
    value: secret,
    spellcheck: "false",
    focus: () => field.select(),
  });
  const done = h("button", { type: "button", click: () => place.replaceChildren() }, "I have stored it");
  place.replaceChildren(
    h(
      "section",
      { class: "panel fresh", "aria-labelledby": "fresh" },
      h("h2", { id: "fresh" }, "Store this secret: it is not shown again"),
      h("p", { class: "note" }, "The messages to ", h("span", { class: "mono" }, url), " are signed with it."),
      labelled("Secret", field),
      h("div", { class: "buttons" }, done),
    ),
  );
  field.focus();
}

/**
 * A webhook; made once and changed from then on, so that what a reader has opened stays open.
 * @param {Webhook} hook @param {{ signal: AbortSignal, load: () => Promise<void> }} page
 * @returns {HookRow}
 */
function hookRow({ id, url, filter, created }, { signal, load }) {
  const at = `/webhooks${pathOf(id)}`;
  const wanted = Object.values(filter).filter((one) => one !== null);
  const status = h("span", {});
  const pending = h("span", {});
  const reason = h("p", { class: "error" });
  const deliveries = h("ul", { class: "rows" });
  const look = async () => {
    if (!details.open) return;
    try {
      const answer = /** @type {Deliveries} */ (await get(`${at}/deliveries?limit=${LIMIT}`, signal));
      if (answer.deliveries.length === 0) deliveries.replaceChildren(h("li", { class: "nothing" }, "None."));
      else keyed(deliveries, answer.deliveries, (one) => String(one.n), deliveryRow);
    } catch (error) {
      if (!signal.aborted) deliveries.replaceChildren(h("li", { class: "error" }, sentenceOf(error)));
    }
  };
  const details = h("details", { toggle: look }, h("summary", {}, "Last deliveries"), deliveries);
  /**
   * @param {string} name @param {{ title: string, text: string, danger?: boolean, run: () => Promise<string | void> }}
   * rest @param {string} done
   */
  const button = (name, rest, done) =>
    h("button", {
      type: "button",
      "data-key": `${name} ${id}`,
      "aria-label": `${name} the webhook ${url}`,
      click: async () => {
        if (await question({ ...rest, verb: name })) said(done);
        await load();
      },
    }, name);
  const resume = button("Resume", {
    title: "Attempt pending deliveries now?",
    text: "Deliveries continue where they stopped.",
    run: async () => void (await change("POST", `${at}/resume`)),
  }, "Resumed.");
  const element = h(
    "li",
    { class: "panel" },
    h("h2", {}, h("span", { class: "mono" }, url), status),
    h(
      "p",
      { class: "note" },
      wanted.length > 0 ? `Receives ${wanted.join(", ")}` : "Receives all transitions",
      " · ",
      pending,
      " · since ",
      ago(created),
    ),
    reason,
    details,
    h(
      "div",
      { class: "buttons" },
      button("Test", {
        title: "Send a test event now?",
        text: `It is sent to ${url} once.`,
        run: async () => {
          const answer = await change("POST", `${at}/test`);
          const { delivered, error, code } =
            /** @type {{ delivered: boolean, error: string | null, code: number | null }} */ (answer);
          if (!delivered) return error ?? `The response was ${code}.`;
        },
      }, "The test was delivered."),
      resume,
      button("Remove", {
        title: "Remove this webhook?",
        text: "Its pending deliveries are deleted too.",
        danger: true,
        run: async () => void (await change("DELETE", at)),
      }, "Removed."),
    ),
  );
  return {
    element,
    show: (hook) => {
      keyed(status, [hook.status], (one) => one, (one) => badge(one, TONES[one]));
      setText(pending, `${count(hook.pending)} waiting`);
      setText(reason, hook.reason ?? "");
      reason.hidden = hook.reason === null;
      // What has the focus and goes hands it on.
      if (hook.status === "active" && document.activeElement === resume) details.querySelector("summary")?.focus();
      resume.hidden = hook.status === "active";
      void look();
    },
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
      delivery.attempts === 0
        ? "not attempted yet"
        : `${count(delivery.attempts)} attempt${delivery.attempts === 1 ? "" : "s"}`,
      delivery.code !== null && ` · answered ${delivery.code}`,
      delivery.attempts > 0 && delivery.nextAttempt !== null && " · next ",
      delivery.attempts > 0 && delivery.nextAttempt !== null && ago(delivery.nextAttempt),
    ),
    delivery.error !== null && h("p", { class: "error" }, delivery.error),
  );
