/// <reference lib="dom" />
/** Names that the reader gives to what has an id. They stay in this browser. */
import { type Signal, signal } from "@preact/signals";

/** Longest label, in characters. */
export const LONGEST_LABEL = 60;

/** Labels by id. */
export type Labels = Readonly<Record<string, string>>;

/** The labels that are kept under a name, and what gives one a label; an empty one removes it. */
export function keptLabels(key: string): {
  readonly labels: Signal<Labels>;
  readonly setLabel: (id: string, text: string) => void;
} {
  const read = (): Labels => {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
      if (typeof kept !== "object" || kept === null) return {};
      return Object.fromEntries(Object.entries(kept).filter(([, label]) => typeof label === "string"));
    } catch {
      return {}; // storage is off, or holds something else
    }
  };
  const labels = signal(read());
  const setLabel = (id: string, text: string) => {
    const label = text.trim().slice(0, LONGEST_LABEL);
    // another tab may have changed labels
    const { [id]: _, ...others } = read();
    labels.value = label === "" ? others : { ...others, [id]: label };
    try {
      localStorage.setItem(key, JSON.stringify(labels.value));
    } catch {
      // it holds until the page is closed
    }
  };
  return { labels, setLabel };
}
