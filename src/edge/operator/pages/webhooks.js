// @ts-check
/// <reference lib="dom" />
/** Webhooks: who is told of transitions, and how that goes. */
import { h } from "./dom.js";
import { nothing } from "./parts.js";

/** @param {import("./parts.js").Place} place @returns {import("./parts.js").View} */
export function webhooksPage(place) {
  place.link("live");
  return { title: "Webhooks", element: h("div", {}, h("h1", {}, "Webhooks"), nothing("None.")) };
}
