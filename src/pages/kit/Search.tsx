/// <reference lib="dom" />
/** A field that filters as the reader types. */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A search field; `onSearch` is called some milliseconds after the last key, or at once on Enter. */
export function Search({ label, value, onSearch, placeholder, delayMs = 200, onEnter }: {
  readonly label: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly placeholder?: string;
  readonly delayMs?: number;
  /** Called on Enter in place of `onSearch`. */
  readonly onEnter?: (text: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const sent = useRef(value);
  useLayoutEffect(() => {
    // the address changed, not the reader
    if (value !== sent.current) {
      sent.current = value;
      setText(value);
    }
  }, [value]);
  // not `useEffect`: its cleanup is late, and the search would go to the view that follows
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  const send = (next: string, search: (text: string) => void) => {
    clearTimeout(timer.current);
    sent.current = next;
    search(next);
  };
  return (
    <form
      class="search"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        send(text.trim(), onEnter ?? onSearch);
      }}
    >
      <label class="sr" for={id}>{label}</label>
      <input
        id={id}
        type="search"
        value={text}
        placeholder={placeholder ?? label}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => send(next.trim(), onSearch), delayMs);
        }}
      />
    </form>
  );
}
