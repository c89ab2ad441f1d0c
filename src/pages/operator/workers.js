// @ts-check
/// <reference lib="dom" />
/** Workers, and a map of the partitions: the owner of each, the rest of its lease, and moving it to another worker. */
import { change, get } from "./api.js";
import { every, h, keyed, setText } from "./dom.js";
import { ago, alertBox, badge, count, nothing, panel, question, said, span } from "./parts.js";

/** @typedef {import("./types.ts").Worker} Worker */
/** @typedef {import("./types.ts").Workers} Workers */
/** @typedef {import("./types.ts").PartitionLine} PartitionLine */
/** @typedef {import("./types.ts").Partitions} Partitions */
/** @typedef {import("./types.ts").Leases} Leases */

/** Colours of owners; there are letters too, so that nothing hangs on colours alone. */
const COLOURS = 8;

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function workersPage({ signal, link }) {
  const alert = alertBox();
  const list = h("div", { class: "workers" });
  const map = h("div", { class: "map", role: "group", "aria-label": "Partitions by owner" });
  const about = h(
    "p",
    { class: "note about" },
    "Select a partition to move it to another worker. Use the arrow keys to navigate.",
  );
  const leases = h("ul", { class: "rows" });
  /** @type {Worker[]} */
  let workers = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** Number of an owner on this page, the same as long as it is open. @param {string} owner */
  const numberOf = (owner) => {
    const number = numbers.get(owner) ?? numbers.size;
    numbers.set(owner, number);
    return number;
  };
  let current = 0;

  const load = async () => {
    try {
      const answers = await Promise.all([get("/workers", signal), get("/partitions", signal), get("/leases", signal)]);
      const [who, what, held] = /** @type {[Workers, Partitions, Leases]} */ (answers);
      alert.show(undefined);
      link("live");
      workers = who.workers;
      for (const { id } of [...workers].sort((a, b) => a.id < b.id ? -1 : 1)) numberOf(id);
      keyed(list, workers, (worker) => worker.id, (worker) => workerCard(worker, numberOf(worker.id)));
      if (workers.length === 0) list.replaceChildren(nothing("No workers."));
      const longest = Math.max(1, ...what.partitions.map((one) => one.expiresInMs));
      keyed(
        map,
        what.partitions.map((one) => ({ id: one.id, owner: one.owner, epoch: one.epoch })),
        (one) => String(one.id),
        cell,
      );
      for (const one of what.partitions) age(one, longest);
      keyed(leases, held.leases, (lease) => lease.name, (lease) =>
        h(
          "li",
          {},
          h("span", { class: "mono" }, lease.name),
          lease.owner === null || lease.expiresInMs <= 0 ? badge("none", "bad") : h("span", {}, lease.owner),
          h(
            "span",
            { class: "note" },
            `epoch ${count(lease.epoch)}, ${lease.expiresInMs > 0 ? `${span(lease.expiresInMs)} left` : "lapsed"}`,
          ),
        ));
      if (held.leases.length === 0) leases.replaceChildren(h("li", { class: "nothing" }, "None."));
    } catch (error) {
      if (signal.aborted) return;
      link("stale");
      alert.show(error);
    }
  };

  /** @param {{ id: number, owner: string | null, epoch: number }} one */
  const cell = ({ id, owner }) => {
    const number = owner === null ? undefined : numberOf(owner);
    const button = h(
      "button",
      {
        type: "button",
        class: `cell ${number === undefined ? "free" : `w${number % COLOURS}`}`,
        tabindex: id === current ? 0 : -1,
        "data-key": `partition ${id}`,
        "data-id": id,
        click: () => void moveOne(id, owner),
        focus: () => {
          for (const other of map.querySelectorAll(".cell")) {
            other.setAttribute("tabindex", other === button ? "0" : "-1");
          }
          current = id;
          setText(about, button.getAttribute("title") ?? "");
        },
      },
      h("span", { class: "sr" }, "Partition "),
      h("b", {}, id),
      h("span", { class: "owner" }, number === undefined ? "–" : letter(number)),
      h("span", { class: "sr more-of-it" }),
      h("i", { "aria-hidden": "true" }),
    );
    return button;
  };
  /** What changes all the time is set in the cell, which stays. @param {PartitionLine} one @param {number} longest */
  const age = (one, longest) => {
    const button = map.querySelector(`[data-id="${one.id}"]`);
    const bar = button?.querySelector("i");
    if (!button || !bar) return;
    const held = one.owner !== null && one.expiresInMs > 0;
    bar.style.width = `${held ? Math.max(4, Math.round(100 * one.expiresInMs / longest)) : 0}%`;
    button.classList.toggle("lapsed", one.owner !== null && !held);
    const who = one.owner === null ? "without owner" : `of ${one.owner}`;
    const rest = `, ${who}, ${count(one.actors)} actors, epoch ${one.epoch}`;
    const more = button.querySelector(".more-of-it");
    if (more) setText(more, rest);
    button.setAttribute("title", `Partition ${one.id}${rest}, ${held ? `${span(one.expiresInMs)} left` : "no lease"}`);
  };

  map.addEventListener("keydown", (event) => {
    const cells = [.../** @type {NodeListOf<HTMLElement>} */ (map.querySelectorAll(".cell"))];
    const here = cells.findIndex((one) => one === document.activeElement);
    if (here < 0) return;
    const top = cells[0]?.offsetTop ?? 0;
    const columns = Math.max(1, cells.filter((one) => one.offsetTop === top).length);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowRight: here + 1,
      ArrowLeft: here - 1,
      ArrowDown: here + columns,
      ArrowUp: here - columns,
      Home: 0,
      End: cells.length - 1,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    cells[target]?.focus();
  });

  /** @param {number} id @param {string | null} owner */
  const moveOne = async (id, owner) => {
    const to = h(
      "select",
      { id: "to" },
      h("option", { value: "" }, "Worker with the fewest partitions"),
      ...workers.filter((worker) => worker.alive && worker.id !== owner).map((worker) =>
        h("option", { value: worker.id }, worker.id)
      ),
    );
    const done = await question({
      title: `Move partition ${id}?`,
      text: owner === null
        ? "It has no owner."
        : `${owner} completes the current work of its actors and hands it over.`,
      verb: "Move",
      field: h("div", { class: "field" }, h("label", { for: "to" }, "To"), to),
      run: async () => {
        const answer = await change("POST", `/partitions/${id}/move`, to.value ? { to: to.value } : {});
        const moved = /** @type {{ owner: string | null }} */ (answer);
        if (moved.owner === owner) return "The partition was not moved.";
        said(`Partition ${id} is now owned by ${moved.owner ?? "no worker"}.`);
      },
    });
    if (done) await load();
  };

  const ready = every(load, 2_000, signal);
  const element = h(
    "div",
    { class: "workers-page" },
    h("h1", {}, "Workers"),
    alert.element,
    list,
    panel("Partitions", about, map),
    panel("Other leases", leases),
  );
  return { title: "Workers", element, ready };
}

/** A, B, … Z, A1, B1 … @param {number} number */
const letter = (number) => String.fromCharCode(65 + number % 26) + (number < 26 ? "" : Math.floor(number / 26));

/** @param {Worker} worker @param {number} number */
function workerCard(worker, number) {
  /** @type {[string, number][]} */
  const counts = [
    ["partitions", worker.partitions.length],
    ["in memory", worker.resident],
    ["waiting", worker.waiting],
    ["turns", worker.turns],
    ["events", worker.events],
    ["effects", worker.effects],
    ["fenced", worker.fenced],
  ];
  return h(
    "article",
    { class: "worker panel" },
    h(
      "h2",
      {},
      h("span", { class: `letter w${number % COLOURS}` }, letter(number)),
      h("span", { class: "mono" }, worker.id),
      !worker.alive
        ? badge("gone", "bad")
        : worker.suspect
        ? badge("suspect", "warn")
        : worker.draining
        ? badge("draining", "warn")
        : badge("alive", "good"),
    ),
    h("p", { class: "note" }, "seen ", ago(worker.seen)),
    h("dl", { class: "counts" }, ...counts.map(([name, n]) => h("div", {}, h("dt", {}, name), h("dd", {}, count(n))))),
  );
}
