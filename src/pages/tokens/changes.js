// @ts-check
/// <reference lib="dom" />
/** A change of a fact, as requests, summaries and histories show it. */
import { h } from "../operator/dom.js";
import { visible } from "./visible.js";

/**
 * @typedef {{ type: string, key: string, oldValue?: string | null | undefined, newValue?: string | null | undefined }}
 * Change
 */

/** @param {Change} change @returns {import("../operator/dom.js").Child[]} */
export function changeParts({ type, key, oldValue, newValue }) {
  const [before, after] = [visible(oldValue ?? ""), visible(newValue ?? "")];
  const what = [h("b", {}, type), " ", visible(key)];
  if (type === "insert") return [...what, " = ", after];
  return type === "delete" ? [...what, ", which is ", before] : [...what, " from ", before, " to ", after];
}
