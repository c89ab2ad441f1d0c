/// <reference lib="dom" />
/** Values of unknown content: text, JSON and bytes, each in the form that can be read. They only ever become text. */
import { elementAt } from "#src/base/present.ts";
import { useState } from "preact/hooks";
import { copyText } from "./Id.tsx";
import { Choice } from "./parts.tsx";

/** Characters of a long text that are shown before the reader asks for the rest. */
const LONG = 600;
/** Entries of a list that are shown before the reader asks for more. */
const ENTRIES = 200;
/** Depth to which a tree is open at first. */
const DEEP = 3;

/** The JSON object or list that a text is; undefined for any other text. */
export function jsonOf(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A value as JSON, as text or as bytes: the form that fits it first, the others by a button. */
export function ValueView({ text, hex }: {
  /** The value as text; undefined where it is no UTF-8. */
  readonly text: string | undefined;
  readonly hex: string;
}) {
  const json = text === undefined ? undefined : jsonOf(text);
  const forms: (readonly ["json" | "text" | "hex", string])[] = [
    ...(json === undefined ? [] : [["json", "JSON"] as const]),
    ...(text === undefined ? [] : [["text", "Text"] as const]),
    ["hex", "Bytes"],
  ];
  const [chosen, setChosen] = useState<"json" | "text" | "hex">();
  const form = chosen !== undefined && forms.some(([one]) => one === chosen) ? chosen : elementAt(forms, 0)[0];
  const copied = form === "hex" || text === undefined ? hex : text;
  return (
    <div class="value-view">
      <div class="value-bar">
        <Choice label="Show the value as" options={forms} value={form} onChange={setChosen} />
        <span class="note">{`${hex.length / 2} bytes`}</span>
        <button
          type="button"
          class="small"
          onClick={() => void copyText(copied, "Copied the value")}
        >
          Copy
        </button>
      </div>
      {form === "json"
        ? <JsonTree value={json} />
        : <LongText text={form === "hex" ? hex.replace(/(..)(?=.)/g, "$1 ") : copied} mono={form === "hex"} />}
    </div>
  );
}

/** A text; of a long one the beginning, with a button for the rest. */
export function LongText({ text, mono = false, limit = LONG }: {
  readonly text: string;
  readonly mono?: boolean;
  readonly limit?: number;
}) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > limit;
  return (
    <div class="long-text">
      <pre class={mono ? "mono" : "wrap"} dir="auto">{cut ? text.slice(0, limit) + "…" : text}</pre>
      {text.length > limit && (
        <button
          type="button"
          class="small"
          aria-expanded={whole}
          onClick={() => setWhole(!whole)}
        >
          {whole ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </div>
  );
}

/** A JSON value as a tree that can be folded. */
export function JsonTree({ value, open = DEEP }: {
  readonly value: unknown;
  /** Depth to which it is open at first. */
  readonly open?: number;
}) {
  return (
    <div class="tree">
      <Node value={value} depth={0} open={open} />
    </div>
  );
}

function Node({ value, depth, open }: { readonly value: unknown; readonly depth: number; readonly open: number }) {
  const [shown, setShown] = useState<boolean>();
  const [limit, setLimit] = useState(ENTRIES);
  if (typeof value !== "object" || value === null) {
    const text = typeof value === "string" ? JSON.stringify(value) : String(value);
    return <span class={`value ${value === null ? "null" : typeof value}`}>{text}</span>;
  }
  const entries = Object.entries(value);
  const list = Array.isArray(value);
  if (entries.length === 0) return <span class="value null">{list ? "[ ]" : "{ }"}</span>;
  const unfolded = shown ?? (depth < open && entries.length <= ENTRIES);
  const children = () => (
    <ul>
      {entries.slice(0, limit).map(([name, one]) => (
        <li key={name}>
          <span class="name">{`${name}:`}</span>
          <Node value={one} depth={depth + 1} open={open} />
        </li>
      ))}
      {entries.length > limit && (
        <li>
          <button type="button" class="small" onClick={() => setLimit(limit + ENTRIES)}>
            {`Show more of ${entries.length.toLocaleString("en")}`}
          </button>
        </li>
      )}
    </ul>
  );
  if (depth === 0 && entries.length <= ENTRIES) return children();
  const size = `${entries.length.toLocaleString("en")} ${list ? "item" : "field"}${entries.length === 1 ? "" : "s"}`;
  return (
    <details open={unfolded} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{size}</summary>
      {unfolded && children()}
    </details>
  );
}
