// @ts-check
/// <reference lib="dom" />
/** What became of requests, and what a key had, the newest first; also after the token's end. */
import { h, keyed, setText } from "../operator/dom.js";
import { alertBox, badge, count, labelled, panel, short } from "../operator/parts.js";
import { ask, client, readable } from "./ask.js";
import { changeParts } from "./changes.js";
import { plain, visible } from "./visible.js";

/** @typedef {import("../../client/tokenFacts.ts").PastRequest} PastRequest */
/** @typedef {import("../../client/tokenFacts.ts").FactChange} FactChange */

const PAGE = 50;
const MOST = 1_000;
const TONES = /** @type {const} */ ({ open: "warn", applied: "good", refused: "quiet", retracted: "quiet" });

/** @param {{ slot: number, txHash: string | null }} at */
const when = ({ slot, txHash }) => `slot ${count(slot)}${txHash === null ? "" : `, transaction ${short(txHash)}`}`;

/** @param {string} tokenId @param {{ signal: AbortSignal }} place */
export function historyPart(tokenId, { signal }) {
  const alert = alertBox();
  const list = h("ul", { class: "rows" });
  const note = h("p", { class: "note", role: "status" }, "Loading");
  const about = h("p", { hidden: true });
  const status = h(
    "select",
    { id: "status" },
    ...["", "open", "applied", "refused", "retracted"].map((one) => h("option", { value: one }, one || "all")),
  );
  /** @type {string | undefined} */
  let key;
  /** @type {(PastRequest | FactChange)[]} */
  let shown = [];
  /** @type {string | undefined} */
  let next;
  let turn = 0;

  const row = /** @param {PastRequest | FactChange} one */ (one) =>
    "status" in one
      ? h(
        "li",
        {},
        badge(one.status, TONES[one.status]),
        h("span", { class: "grow" }, ...changeParts(one.change)),
        h("span", { class: "note" }, `opened in ${when(one.opened)}`, one.closed && `; closed in ${when(one.closed)}`),
        h("button", {
          type: "button",
          class: "small",
          "data-key": `of ${one.outputRefId}`,
          "aria-label": `History of ${plain(one.change.key)}`,
          click: () => ofKey(one.change.key),
        }, "History"),
      )
      : h(
        "li",
        {},
        h("b", {}, one.type),
        h("span", { class: "grow" }, one.value === null ? "no value from then on" : visible(one.value)),
        h("span", { class: "note" }, when(one)),
      );

  /** Reads a page. @param {string} path @param {typeof shown} before */
  const read = async (path, before) => {
    const mine = ++turn;
    try {
      /** @type {{ answer: { requests?: PastRequest[], history?: FactChange[] }, next: string | undefined }} */
      const page = await ask(path, signal);
      if (mine !== turn) return;
      alert.show(undefined);
      shown = [...before, ...(page.answer.requests ?? page.answer.history ?? [])];
      next = page.next;
      keyed(list, shown, (one) => one.outputRefId, row);
      more.hidden = next === undefined;
      setText(
        note,
        shown.length === 0 ? "None." : `${count(shown.length)} shown${next === undefined ? "" : ", there are more"}.`,
      );
    } catch (error) {
      if (signal.aborted || mine !== turn) return;
      more.hidden = true;
      // the view says itself that there is no such token
      if (/** @type {{ code?: string }} */ (error).code === "token_unknown") setText(note, "None.");
      else alert.show(readable(error));
    }
  };
  const load = async () => {
    const limit = Math.min(MOST, Math.max(PAGE, shown.length));
    if (key === undefined) {
      const wanted = status.value === "" ? "" : `&status=${status.value}`;
      return await read(`/token/${tokenId}/history?limit=${limit}${wanted}`, []);
    }
    const { segment, query } = (await client()).factSegment(key);
    await read(`/token/${tokenId}/facts/${segment}/history${query === "" ? "?" : `${query}&`}limit=${limit}`, []);
  };
  const again = () => {
    shown = [];
    load().catch((error) => alert.show(readable(error)));
  };
  /** Shows the history of one key. @param {string | undefined} wanted all requests where there is none */
  const ofKey = (wanted) => {
    key = wanted;
    about.hidden = wanted === undefined;
    about.replaceChildren(
      ...(wanted === undefined ? [] : ["What the key ", visible(wanted), " had. "]),
      h(
        "button",
        { type: "button", class: "small", "data-key": "all requests", click: () => ofKey(undefined) },
        "All requests",
      ),
    );
    again();
    (wanted === undefined ? status : about.querySelector("button"))?.focus();
  };
  status.addEventListener("change", () => ofKey(undefined));
  const more = h("button", {
    type: "button",
    class: "more",
    hidden: true,
    click: () => void (next === undefined ? undefined : read(next, shown)),
  }, "Show more of the history");
  const element = panel(
    "History",
    h("div", { class: "inline" }, labelled("Requests", status)),
    about,
    note,
    alert.element,
    list,
    more,
  );
  return { element, load, ofKey };
}
