/// <reference lib="dom" />
/** A transaction that others sign: given out as text or a file, and taken back. */
import type { ComponentChildren } from "preact";
import { copyText } from "../kit/Id.tsx";
import { saveText } from "../kit/save.ts";

/** A transaction as text and as a file. */
export function PassOn({ transaction, hash, text }: {
  readonly transaction: string;
  readonly hash: string;
  readonly text: ComponentChildren;
}) {
  const save = () => saveText(`transaction-${hash.slice(0, 8)}.txt`, transaction, "text/plain");
  return (
    <div class="pass-on">
      <p>{text}</p>
      <textarea class="mono" rows={4} readOnly aria-label="The transaction as text" value={transaction} />
      <div class="buttons">
        <button type="button" onClick={() => void copyText(transaction, "Copied the transaction")}>
          Copy the text
        </button>
        <button type="button" onClick={save}>Save as a file</button>
      </div>
    </div>
  );
}

/** A field for a transaction, as text or from a file. */
export function TransactionField({ label, value, onInput }: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
}) {
  return (
    <div class="field">
      <label>
        <span class="label">{label}</span>
        <textarea
          class="mono"
          rows={5}
          spellcheck={false}
          autocomplete="off"
          placeholder="Base64 or hexadecimal"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      <label>
        <span class="label">or open a file</span>
        <input
          type="file"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            void file?.text().then((text) => onInput(text.trim()));
          }}
        />
      </label>
    </div>
  );
}
