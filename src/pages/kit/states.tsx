/** What stands in the place of data: it loads, there is none, it cannot be read. */
import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";

/** A placeholder of some lines; it appears after a moment, so that fast answers do not flicker. */
export function Loading({ rows = 3, label = "Loading" }: { readonly rows?: number; readonly label?: string }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={late ? "placeholder late" : "placeholder"} role="status">
      <span class="sr">{label}</span>
      {Array.from({ length: rows }, (_, i) => <span key={i} aria-hidden="true" />)}
    </div>
  );
}

/** Says that there is nothing, and what the reader can do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <div class="note">{children}</div>}
    </div>
  );
}

/** The sentence for an error: the service's own, or that it is away. */
export function sentenceOf(error: unknown): string {
  if (error instanceof ApiError) {
    return error.status === 0 ? "The service cannot be reached. Check that it is running." : error.message;
  }
  console.error(error);
  return "Internal error of this page. Details are in the browser's console.";
}

/** A read that failed, as long as a view says so. */
interface FailedRead {
  readonly sentence: string;
  /** Data from before is still shown. */
  readonly stale: boolean;
  readonly retry: () => unknown;
}

const failedReads = signal<readonly FailedRead[]>([]);

/** Reads that failed for one reason, where there is more than one, by its sentence. */
const failedTogether = computed(() => {
  const bySentence = new Map<string, readonly FailedRead[]>();
  for (const read of failedReads.value) bySentence.set(read.sentence, [...bySentence.get(read.sentence) ?? [], read]);
  return new Map([...bySentence].filter(([, reads]) => reads.length > 1));
});

/**
 * An error in the place of data, with a button that reads again; where other reads failed for the same reason,
 * `CommonFailures` says so once. `stale`: data from before is still shown below.
 */
export function Failure({ error, retry, stale = false }: {
  readonly error: unknown;
  readonly retry: () => unknown;
  readonly stale?: boolean;
}) {
  const sentence = sentenceOf(error);
  const newest = useRef(retry);
  newest.current = retry;
  useLayoutEffect(() => {
    const read: FailedRead = { sentence, stale, retry: () => newest.current() };
    failedReads.value = [...failedReads.peek(), read];
    return () => {
      failedReads.value = failedReads.peek().filter((one) => one !== read);
    };
  }, [sentence, stale]);
  if (!failedTogether.value.has(sentence)) return <FailureAlert sentence={sentence} stale={stale} retry={retry} />;
  return stale ? null : <p class="note">This could not be read.</p>;
}

/** The reasons for which several reads of a view failed, each once; the button reads all of them again. */
export function CommonFailures() {
  return (
    <>
      {[...failedTogether.value].map(([sentence, reads]) => (
        <FailureAlert
          key={sentence}
          sentence={sentence}
          stale={reads.some(({ stale }) => stale)}
          retry={() => Promise.all(reads.map(({ retry }) => retry()))}
        />
      ))}
    </>
  );
}

function FailureAlert({ sentence, stale, retry }: FailedRead) {
  const [busy, setBusy] = useState(false);
  const again = async () => {
    setBusy(true);
    try {
      await retry();
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class={stale ? "alert stale" : "alert"} role="alert">
      <p>
        {sentence}
        {stale && " The data below may be out of date."}
      </p>
      <button type="button" class="small" disabled={busy} onClick={again}>Try again</button>
    </div>
  );
}

/** An error of an action, announced when it appears. */
export function Alert({ error }: { readonly error: unknown }) {
  return error === undefined
    ? null
    : <p class="alert" role="alert">{typeof error === "string" ? error : sentenceOf(error)}</p>;
}
