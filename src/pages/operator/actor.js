// @ts-check
/// <reference lib="dom" />
/**
 * One actor: its statechart that moves while one watches, what it holds, and its history.
 *
 * The stream is opened first and the state loaded once it is open; a transition that is not newer than the loaded state
 * is dropped. What a transition does not contain (context, reminders, effects) is reloaded soon after it, and from
 * time to time.
 */
import { change, get, pathOf, queryOf } from "./api.js";
import { drawChart, listTransitions } from "./chart.js";
import { atMostEvery, every, h, keyed } from "./dom.js";
import { createHistory } from "./history.js";
import { watch } from "./live.js";
import { ago, alertBox, badge, count, facts, nothing, panel, question, said, valueTree } from "./parts.js";

/** @typedef {import("./types.ts").Actor} Actor */
/** @typedef {import("./types.ts").Machine} Machine */

/** Between two moves of the drawing, in ms; a burst longer than this many moves is not shown step by step. */
const MOVE_MS = 450;
const BURST = 6;

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function actorPage({ params, signal, link }) {
  const [kind, id] = /** @type {[string, string]} */ (params);
  const at = `/actors${pathOf(kind, id)}`;
  const alert = alertBox();
  const badges = h("span", { class: "badges", role: "status" });
  const buttons = h("div", { class: "buttons", role: "group", "aria-label": "Actions" });
  const drawing = h("div", { class: "drawing" }, nothing("Loading"));
  const now = h("div", {}, nothing("Loading"));
  const allowed = h("ul", { class: "chips" });
  const context = h("div", { class: "context" });
  const reminders = h("ul", { class: "rows" });
  const effects = h("ul", { class: "rows" });
  /** @type {Map<string, boolean>} */
  const folds = new Map();
  const none = nothing("None.");
  const history = createHistory(at, signal);

  /** @type {import("./chart.js").Chart | undefined} */
  let chart;
  /** @type {Actor | undefined} */
  let actor;
  /** Version that the drawing shows. */
  let shown = -1;
  const moves = createMoves(() => chart, signal);

  const drawn = get(`/kinds${pathOf(kind)}/machine`, signal).then((answer) => {
    const machine = /** @type {Machine} */ (answer);
    history.know(machine);
    chart = drawChart(machine);
    drawing.replaceChildren(chart.element, legend(machine), listTransitions(machine));
    if (actor) chart.light(actor.state);
  }).catch((error) => {
    if (!signal.aborted) drawing.replaceChildren(nothing(error.message));
  });

  const load = async () => {
    try {
      const loaded = /** @type {Actor} */ (await get(at, signal));
      await drawn;
      alert.show(undefined);
      // An answer that was on its way while a newer transition came.
      if (loaded.version >= shown) show(loaded);
    } catch (error) {
      if (signal.aborted) return;
      alert.show(error);
      if (actor === undefined) {
        now.replaceChildren(nothing("The actor is shown after its first transition."));
        buttons.replaceChildren();
      }
    }
  };
  /** @param {Actor} loaded */
  const show = (loaded) => {
    const newer = loaded.version > shown;
    actor = loaded;
    shown = loaded.version;
    if (newer) moves.set(loaded.state);
    keyed(
      badges,
      [{ state: loaded.state, paused: loaded.paused }],
      () => "",
      ({ state, paused }) => h("span", {}, h("span", { class: "chip lit" }, state), paused && badge("paused", "warn")),
    );
    keyed(buttons, [{ paused: loaded.paused }], () => "", () => actions(loaded.paused));
    now.replaceChildren(factsOf(loaded));
    keyed(allowed, loaded.allowed, (event) => event, (event) => h("li", { class: "chip" }, event));
    if (loaded.allowed.length === 0) {
      allowed.replaceChildren(h("li", { class: "nothing" }, "None: the actor is in a final state."));
    }
    keyed(context, [loaded.context], () => "", (value) => valueTree(value, folds));
    keyed(reminders, loaded.reminders, (one) => one.name, reminderRow);
    keyed(effects, loaded.effects, (one) => String(one.n), effectRow);
    none.hidden = loaded.reminders.length + loaded.effects.length > 0;
  };

  /** @param {boolean} paused */
  const actions = (paused) =>
    h(
      "div",
      { class: "buttons" },
      paused
        ? button("Resume", "resume", {
          title: `Resume this ${kind}?`,
          text: "It accepts commands again and continues with the chain log where it stopped.",
        })
        : button("Pause", "pause", {
          title: `Pause this ${kind}?`,
          text: "Commands are rejected and chain events wait until the actor is resumed. Reads continue.",
        }),
      button("Passivate", "passivate", {
        title: `Remove this ${kind} from memory?`,
        text: "Its worker loads it from the database again for the next event.",
      }),
    );
  /**
   * @param {string} name @param {"pause" | "resume" | "passivate"} action @param {{ title: string, text: string }}
   * words
   */
  const button = (name, action, words) =>
    h("button", {
      type: "button",
      "data-key": action === "passivate" ? action : "pause",
      click: async () => {
        const done = await question({
          ...words,
          verb: name,
          run: async () => {
            const answer = /** @type {{ passivated?: boolean }} */ (await change("POST", `${at}/${action}`));
            if (answer.passivated === false) return "It was not in memory, or is executing a turn.";
          },
        });
        if (done) said(`${name}d.`);
        await load();
      },
    }, name);

  /** @param {Actor["reminders"][number]} reminder */
  const reminderRow = (reminder) =>
    h(
      "li",
      {},
      h("span", { class: "mono" }, reminder.name),
      h("span", { class: "note" }, reminder.event, " ", ago(reminder.at)),
      h("button", {
        type: "button",
        class: "small",
        "data-key": `fire ${reminder.name}`,
        "aria-label": `Fire the reminder ${reminder.name}`,
        click: async () => {
          const done = await question({
            title: "Fire this reminder now?",
            text: `${kind} gets ${reminder.event} at once instead of at its time.`,
            verb: "Fire",
            run: async () => {
              const answer = await change("POST", `${at}/reminders${pathOf(reminder.name)}/fire`);
              if (!(/** @type {{ fired: boolean }} */ (answer).fired)) return "The reminder no longer exists.";
            },
          });
          if (done) said("Fired.");
          await load();
        },
      }, "Fire"),
    );

  const soon = atMostEvery(() => void load(), 400, signal);
  const ready = Promise.all([every(load, 5_000, signal), history.start()]);
  void watch({
    filter: { kind, id },
    signal,
    onState: link,
    onOpen: () => {
      soon();
      void history.start();
    },
    onEvents: (transitions) => {
      for (const one of transitions) {
        const { version, from, to } = one.data;
        if (version <= shown) continue;
        shown = version;
        moves.add(from, to, one.type.slice(one.type.lastIndexOf(".") + 1));
      }
      history.add(transitions);
      soon();
    },
  });

  const element = h(
    "div",
    { class: "actor" },
    h(
      "header",
      { class: "actor-head" },
      h("p", { class: "above" }, h("a", { href: `/ui/actors${queryOf({ kind })}` }, kind)),
      h("h1", { class: "mono" }, id),
      badges,
      buttons,
    ),
    alert.element,
    h(
      "div",
      { class: "column" },
      panel("Statechart", drawing),
      panel("Accepted events", allowed),
      panel("Reminders and open effects", none, reminders, effects),
      panel("Context", context),
    ),
    h("div", { class: "column" }, panel("Now", now), history.element),
  );
  return { title: `${kind} ${id}`, element, ready };
}

/** @param {Machine} machine */
function legend(machine) {
  const any = machine.edges.some((edge) => edge.from === "*");
  const stays = machine.edges.some((edge) => edge.from === edge.to);
  return h(
    "p",
    { class: "legend" },
    stays && h("span", {}, "↻ stays here"),
    any && h("span", {}, "⇥ comes here from any state"),
  );
}

/** @param {Actor} actor */
function factsOf(actor) {
  const { mailbox } = actor;
  return facts([
    ["Version", count(actor.version)],
    ["Changed", ago(actor.changed)],
    ["Owner", actor.owner ?? badge("none", "warn")],
    ["Partition", `${actor.partition}, epoch ${actor.epoch}`],
    [
      "Mailbox",
      mailbox === null
        ? badge("its worker does not respond", "warn")
        : `${count(mailbox.depth)} waiting, ${
          mailbox.inTurn ? "in a turn" : mailbox.resident ? "in memory" : "not in memory"
        }`,
    ],
    [
      "Chain log",
      actor.unreadInputs > 0
        ? badge(`${count(actor.unreadInputs)} unread`, "warn")
        : `read to ${count(actor.inputSeq)}`,
    ],
    ["Machine", `version ${actor.machineVersion}`],
  ]);
}

/** @param {Actor["effects"][number]} effect */
const effectRow = (effect) =>
  h(
    "li",
    {},
    h("span", { class: "mono" }, `${effect.name} #${effect.n}`),
    h(
      "span",
      { class: "note" },
      effect.attempts > 0 ? `failed ${count(effect.attempts)}×, next ` : "next ",
      ago(effect.nextAttempt),
    ),
    effect.error !== null && h("p", { class: "error" }, effect.error),
  );

/**
 * Shows transitions one after the other, at a pace that an eye can follow. @param {() => import("./chart.js").Chart |
 * undefined} chart @param {AbortSignal} signal
 */
function createMoves(chart, signal) {
  /** @type {[from: string, to: string, transition: string][]} */
  let queue = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  signal.addEventListener("abort", () => clearTimeout(waiting));
  const move = () => {
    waiting = undefined;
    if (queue.length > BURST) queue = queue.slice(-1);
    const next = queue.shift();
    if (!next) return;
    chart()?.take(...next);
    waiting = setTimeout(move, MOVE_MS);
  };
  return {
    /** @param {string} from @param {string} to @param {string} transition */
    add: (from, to, transition) => {
      queue.push([from, to, transition]);
      if (waiting === undefined) move();
    },
    /** The state as loaded, where the way there was not seen. @param {string} state */
    set: (state) => {
      queue = [];
      chart()?.light(state);
    },
  };
}
