/// <reference lib="dom" />
/** What several views show: actors, steps between states, and a view that appears when its first answers are there. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Data } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { pathOf, visits } from "../kit/router.ts";
import { toast } from "../kit/toast.tsx";
import { confirm, type Question } from "../kit/Dialog.tsx";

/** The page of an actor. */
export const actorPage = (kind: string, id: string) => `/ui/actors${pathOf(kind, id)}`;

/** An actor: its kind, and its id as a link. */
export function ActorLink({ kind, id, href = actorPage(kind, id), ends = 6 }: {
  readonly kind: string;
  readonly id: string;
  /** Characters of each end of the id that are shown. */
  readonly ends?: number;
  /** Null where there is no such actor. */
  readonly href?: string | null;
}) {
  return (
    <span class="actor-link">
      <span class="kind">{kind}</span>
      <Id value={id} ends={ends} name={`id of the ${kind}`} href={href ?? undefined} />
    </span>
  );
}

/** `from → to`, or the state alone where it stays. */
export function Step({ from, to }: { readonly from: string; readonly to: string }) {
  if (from === to) return <span class="step stays">{to}</span>;
  return (
    <span class="step">
      <bdi>{from}</bdi> <span class="to" role="img" aria-label="to">→</span> <b>{to}</b>
    </span>
  );
}

/** How long a view waits for its first answers before it shows placeholders, in milliseconds. */
const PATIENCE_MS = 2_000;

/** Appears when the first answers are there, so that nothing moves as they arrive; after two seconds in any case. */
export function Settled({ data, children }: {
  readonly data: readonly Pick<Data<unknown>, "value" | "error">[];
  readonly children: ComponentChildren;
}) {
  const ready = data.every(({ value, error }) => value !== undefined || error !== undefined);
  const [late, setLate] = useState(false);
  // once shown it stays
  const was = useRef(false);
  const shown = was.current ||= ready || late;
  useEffect(() => {
    if (shown) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  useLayoutEffect(() => {
    // What is hidden cannot have the focus, which the heading of a view gets that the reader has opened.
    if (!shown || visits.peek() === 0 || document.activeElement?.matches("body, #main") === false) return;
    document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
  }, [shown]);
  return <div class={shown ? "settled" : "settled waiting"}>{children}</div>;
}

/** A button that asks before it does something. It stays enabled, so that the focus returns to it. */
export function Asking({ name, label, small = false, done, after, question }: {
  readonly name: string;
  /** Name for screen readers where `name` alone is not enough. */
  readonly label?: string;
  readonly small?: boolean;
  /** Said when it was done. */
  readonly done: string;
  readonly after: () => unknown;
  readonly question: Omit<Question, "verb">;
}) {
  const ask = async () => {
    if (await confirm({ ...question, verb: name })) toast(done);
    await after();
  };
  return (
    <button
      type="button"
      class={small ? "small" : ""}
      onClick={() => void ask()}
      {...(label === undefined ? {} : { "aria-label": label })}
    >
      {name}
    </button>
  );
}

/** What an operator may decide about an entry of a list. */
export interface Decision extends Omit<Question, "verb"> {
  readonly name: string;
  /** Said when it was done. */
  readonly done: string;
}

/** A button for each decision about an entry; `about` says which entry, for screen readers. */
export function Decisions({ about, after, decisions }: {
  readonly about: string;
  readonly after: () => unknown;
  readonly decisions: readonly Decision[];
}) {
  return (
    <div class="buttons">
      {decisions.map(({ name, done, ...question }) => (
        <Asking key={name} name={name} label={`${name} ${about}`} done={done} after={after} question={question} />
      ))}
    </div>
  );
}
