/// <reference lib="dom" />
/** Names that the reader gives to tokens. They stay in this browser. */
import { signal } from "@preact/signals";

const KEY = "arbor-token-labels";
/** Longest label, in characters. */
export const LONGEST_LABEL = 60;

function read(): Readonly<Record<string, string>> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    return Object.fromEntries(Object.entries(kept).filter(([, label]) => typeof label === "string"));
  } catch {
    return {}; // storage is off, or holds something else
  }
}

/** Labels by token. */
export const labels = signal(read());

/** Gives a token a label; an empty one removes it. */
export function setLabel(tokenId: string, text: string): void {
  const label = text.trim().slice(0, LONGEST_LABEL);
  // another tab may have changed labels
  const { [tokenId]: _, ...others } = read();
  labels.value = label === "" ? others : { ...others, [tokenId]: label };
  try {
    localStorage.setItem(KEY, JSON.stringify(labels.value));
  } catch {
    // it holds until the page is closed
  }
}
