// @ts-check
/// <reference lib="dom" />
/**
 * Texts from the chain, which anybody can write. Characters that are invisible, that look like a space or that
 * reverse others are shown by their code points, so that two texts that differ look different; a byte that is no UTF-8
 * comes from the service as a lone surrogate U+DC80 to U+DCFF and is shown as that byte.
 */
import { h } from "../operator/dom.js";

/**
 * Not seen, or not as what it is: controls, directions, joiners, fillers, spaces of other kinds, surrogates, what is
 * not assigned.
 */
const ODD = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Longest text that is shown at once, in characters. */
const LONGEST = 240;

/**
 * @typedef {{ readonly text: string, readonly odd: boolean }} Piece a run of characters as they are, or the number of
 * one that is odd
 */

/** The number of a character as it is shown: `\xNN` for a byte, `\u{…}` for anything else. @param {number} code */
function numberOf(code) {
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code < 0x80 ? code : undefined;
  return byte === undefined ? `\\u{${code.toString(16)}}` : `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** What is shown of a text. A space is shown as itself only between others. @param {string} text @returns {Piece[]} */
export function piecesOf(text) {
  const characters = Array.from(text);
  /** @type {Piece[]} */
  const pieces = [];
  let run = "";
  characters.forEach((character, i) => {
    const lone = i === 0 || i === characters.length - 1 || characters[i - 1] === " ";
    if (character === " " ? !lone : !ODD.test(character)) {
      run += character;
      return;
    }
    if (run !== "") pieces.push({ text: run, odd: false });
    run = "";
    pieces.push({ text: numberOf(/** @type {number} */ (character.codePointAt(0))), odd: true });
  });
  if (run !== "") pieces.push({ text: run, odd: false });
  return pieces;
}

/** The same as one text, for labels. @param {string} text */
export function plain(text) {
  const all = piecesOf(text).map((piece) => piece.text).join("");
  return text === "" ? "(empty)" : all.length > LONGEST ? `${all.slice(0, LONGEST)}…` : all;
}

/** @param {string} text */
const inPieces = (text) =>
  h(
    "span",
    { class: "text" },
    ...piecesOf(text).map((piece) => piece.odd ? h("span", { class: "odd" }, piece.text) : piece.text),
  );

/** A text as an element: empty ones are named, long ones folded. @param {string} text */
export function visible(text) {
  if (text === "") return h("span", { class: "nothing" }, "(empty)");
  const characters = Array.from(text);
  if (characters.length <= LONGEST) return inPieces(text);
  return h(
    "details",
    {},
    h("summary", {}, inPieces(characters.slice(0, 80).join("")), `… ${characters.length} characters`),
    inPieces(text),
  );
}

/** Lovelace as ada, all digits. @param {bigint | number} lovelace */
export function ada(lovelace) {
  const amount = BigInt(lovelace);
  const digits = String(amount < 0n ? -amount : amount).padStart(7, "0");
  const [whole, part] = [digits.slice(0, -6).replace(/\B(?=(\d{3})+$)/g, ","), digits.slice(-6).replace(/0+$/, "")];
  return `${amount < 0n ? "−" : ""}${whole}${part && `.${part}`} ada`;
}
