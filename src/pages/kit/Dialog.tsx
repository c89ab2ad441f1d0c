/// <reference lib="dom" />
/** Dialogs. The focus returns to where it was when one closes, or near it. */
import { present } from "#src/base/present.ts";
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusNear, withParents } from "./focus.ts";
import { useElsewhere } from "./router.ts";
import { Alert } from "./states.tsx";

/** A dialog that is open as long as it is rendered; Escape and the close button call `onClose`. */
export function Dialog({ title, onClose, wide = false, children }: {
  readonly title: string;
  readonly onClose: () => void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  // not `useEffect`: its cleanup is late, and a key that is pressed meanwhile would have no target
  useLayoutEffect(() => {
    const dialog = present(element.current, "the dialog");
    const before = withParents(document.activeElement);
    dialog.showModal();
    const field = dialog.querySelector<HTMLElement>("[autofocus], input:not([type=hidden]), select, textarea");
    const agree = dialog.querySelector<HTMLElement>(".dialog-body button.primary");
    // what cannot be undone is not under the Enter key
    (field ?? agree ?? dialog.querySelector<HTMLElement>(".dialog-body button"))?.focus();
    return () => {
      dialog.close();
      focusNear(before);
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "wide" : ""}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close.current();
      }}
      // a browser closes a dialog on a second Escape whatever `cancel` says
      onClose={() => close.current()}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={onClose}>✕</button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

export interface Question {
  readonly title: string;
  /** What happens when the reader agrees. */
  readonly text: ComponentChildren;
  /** Name of the button that agrees. */
  readonly verb: string;
  readonly danger?: boolean;
  /** Text that must be typed before the button can be pressed, for what cannot be undone. */
  readonly typed?: string;
  /** Carried out when the reader agrees; an error is shown and the dialog stays open. */
  readonly run?: () => unknown;
}

interface OpenQuestion extends Question {
  readonly resolve: (agreed: boolean) => void;
}

const open = signal<OpenQuestion | undefined>(undefined);

/** Asks before something is done, and does it; resolves true when it was done. */
export function confirm(question: Question): Promise<boolean> {
  open.peek()?.resolve(false);
  return new Promise((resolve) => {
    open.value = { ...question, resolve };
  });
}

/** Where `confirm` shows its question; the layout has one. The browser's Back takes the question away with its view. */
export function Questions() {
  const question = open.value;
  return question === undefined ? null : <QuestionDialog key={question.title} question={question} />;
}

/** A text as it is seen: a field has one line, and a page shows several spaces as one. */
const seen = (text: string) => text.replace(/\p{Cf}/gu, "").replace(/\s+/g, " ").trim();

function QuestionDialog({ question }: { readonly question: OpenQuestion }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [typed, setTyped] = useState("");
  const field = useId();
  const finish = (agreed: boolean) => {
    if (open.peek() === question) open.value = undefined;
    question.resolve(agreed);
  };
  // what is done already has a result to show
  useElsewhere(() => !busy && finish(false));
  const agree = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await question.run?.();
      finish(true);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={question.title} onClose={() => finish(false)}>
      <form onSubmit={agree}>
        <div class="prose">{question.text}</div>
        {question.typed !== undefined && (
          <div class="field">
            <label for={field}>
              Type <b class="mono">{question.typed}</b> to confirm
            </label>
            <input
              id={field}
              value={typed}
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        <Alert error={error} />
        <div class="buttons end">
          <button type="button" onClick={() => finish(false)}>Cancel</button>
          <button
            type="submit"
            class={question.danger ? "danger" : "primary"}
            disabled={busy || (question.typed !== undefined && seen(typed) !== seen(question.typed))}
          >
            {question.verb}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
