/**
 * Texts from the chain, which anybody can write. Characters that are invisible, that look like a space or that
 * reverse others are shown by their code points, so that two texts that differ look different; a byte that is no UTF-8
 * is a lone surrogate U+DC80 to U+DCFF and is shown as that byte.
 */
import { present } from "#src/base/present.ts";
import { fromHex, fromUtf8, isWellFormed, toHex } from "#src/base/bytes.ts";
import { bytesOf, bytesText } from "#src/contract/text.ts";
import { ValueView } from "../kit/values.tsx";

/** Controls, directions, joiners, fillers, spaces of other kinds, surrogates, and what is not assigned. */
const ODD = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Longest text of a label, in characters. */
const LONGEST = 240;

/** A run of characters as they are, or the number of one that is odd. */
export interface Piece {
  readonly text: string;
  readonly odd: boolean;
}

/** The number of a character as it is shown: `\xNN` for a byte, `\u{…}` for anything else. */
function numberOf(code: number): string {
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code < 0x80 ? code : undefined;
  return byte === undefined ? `\\u{${code.toString(16)}}` : `\\x${byte.toString(16).padStart(2, "0")}`;
}

/** What is shown of a text. A space is shown as itself only between others. */
export function piecesOf(text: string): Piece[] {
  const characters = Array.from(text);
  const pieces: Piece[] = [];
  let run = "";
  characters.forEach((character, i) => {
    const lone = i === 0 || i === characters.length - 1 || characters[i - 1] === " ";
    if (character === " " ? !lone : !ODD.test(character)) {
      run += character;
      return;
    }
    if (run !== "") pieces.push({ text: run, odd: false });
    run = "";
    pieces.push({ text: numberOf(present(character.codePointAt(0), "a character")), odd: true });
  });
  if (run !== "") pieces.push({ text: run, odd: false });
  return pieces;
}

/** The same as one text, for labels. */
export function plain(text: string): string {
  const all = piecesOf(text).map((piece) => piece.text).join("");
  return text === "" ? "(empty)" : all.length > LONGEST ? `${all.slice(0, LONGEST)}…` : all;
}

/** The text of a key or a value that the service wrote in hexadecimal. */
export const textOf = (hex: string): string => bytesText(fromHex(hex));

/** A text as an element: an empty one is named; of a long one the first `limit` characters are shown. */
export function Visible({ text, limit = LONGEST }: { readonly text: string; readonly limit?: number }) {
  if (text === "") return <span class="nothing">(empty)</span>;
  // no text of a megabyte is taken apart for a line
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  const cut = characters.length > limit || text.length > 2 * limit + 2;
  // a space at the cut is between others
  const pieces = piecesOf(cut ? characters.slice(0, limit).join("").replace(/ +$/, "") : text);
  return (
    <span class="text">
      {pieces.map(({ text: part, odd }, i) => odd ? <span key={i} class="odd">{part}</span> : part)}
      {cut && <span class="nothing">…</span>}
    </span>
  );
}

/** A change of a fact. */
export interface Change {
  readonly type: string;
  readonly key: string;
  readonly oldValue?: string | null | undefined;
  readonly newValue?: string | null | undefined;
}

/** A change with its texts decoded from hexadecimal. */
export const changeFromHex = ({ type, key, oldValue, newValue }: Change): Change => ({
  type,
  key: textOf(key),
  ...(oldValue == null ? {} : { oldValue: textOf(oldValue) }),
  ...(newValue == null ? {} : { newValue: textOf(newValue) }),
});

/** Characters of a key or a value in the line of a change. */
const LINE = 120;

/** A change of a fact, as requests, summaries and histories show it. */
export function ChangeText({ change, limit = LINE, onKey }: {
  readonly change: Change;
  readonly limit?: number;
  /** Makes the key a button that shows its history. */
  readonly onKey?: () => void;
}) {
  const { type, key, oldValue, newValue } = change;
  const name = <Visible text={key} limit={limit} />;
  const before = <Visible text={oldValue ?? ""} limit={limit} />;
  const after = <Visible text={newValue ?? ""} limit={limit} />;
  return (
    <span class="change">
      <b>{type}</b> {onKey === undefined ? name : (
        <button
          type="button"
          class="link-button"
          title="History of this key"
          aria-label={`History of this key: ${plain(key)}`}
          onClick={onKey}
        >
          {name}
        </button>
      )}
      {type === "insert" ? <>{" = "}{after}</> : type === "delete" ? <>{", which is "}{before}</> : (
        <>
          {" from "}
          {before}
          {" to "}
          {after}
        </>
      )}
    </span>
  );
}

/** The key and the values of a change as they are, for a reader who is to agree to it; nothing where the line has them. */
export function WholeChange({ change: { type, key, oldValue, newValue } }: { readonly change: Change }) {
  const parts: [name: string, text: string][] = [
    ["Key", key],
    ...(type === "insert" ? [] : [["Current value", oldValue ?? ""] satisfies [string, string]]),
    ...(type === "delete" ? [] : [["New value", newValue ?? ""] satisfies [string, string]]),
  ];
  const isInLine = (text: string) => text.length <= LINE && isWellFormed(text) && !text.includes("\n");
  if (parts.every(([, text]) => isInLine(text))) return null;
  return (
    <details class="whole-change">
      <summary>The whole change</summary>
      {parts.map(([name, text]) => {
        const bytes = bytesOf(text) ?? new Uint8Array();
        return (
          <div key={name}>
            <p class="note">{name}</p>
            <ValueView text={fromUtf8(bytes)} hex={toHex(bytes)} />
          </div>
        );
      })}
    </details>
  );
}
