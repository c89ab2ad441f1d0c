/** Says for a moment that something was done. */
import { signal } from "@preact/signals";

interface Toast {
  readonly key: number;
  readonly text: string;
  readonly tone: "good" | "bad";
}

const shown = signal<Toast | undefined>(undefined);
const MS = { good: 4_000, bad: 8_000 };
let timer: ReturnType<typeof setTimeout> | undefined;
let keys = 0;

/** Shows a sentence for some seconds, which screen readers read out. */
export function toast(text: string, tone: Toast["tone"] = "good"): void {
  clearTimeout(timer);
  shown.value = { key: keys++, text, tone };
  timer = setTimeout(() => shown.value = undefined, MS[tone]);
}

export function Toasts() {
  const one = shown.value;
  return (
    <div class="toasts" role="status" aria-live="polite">
      {one !== undefined && <p key={one.key} class={`toast ${one.tone}`}>{one.text}</p>}
    </div>
  );
}
