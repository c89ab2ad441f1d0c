/// <reference lib="dom" />
/** Forms: fields with labels, hints and errors, and a button that is disabled while the form is sent. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Alert } from "./states.tsx";

interface Labelled {
  readonly label: string;
  /** What may be entered; below the field. */
  readonly hint?: ComponentChildren;
  /** What is wrong with the value; replaces the hint. */
  readonly error?: string | undefined;
}

function Field(
  { id, label, hint, error, children }: Labelled & { readonly id: string; readonly children: ComponentChildren },
) {
  return (
    <div class={error === undefined ? "field" : "field invalid"}>
      <label for={id}>{label}</label>
      {children}
      {error !== undefined
        ? <p class="field-error" id={`${id}-note`} role="alert">{error}</p>
        : hint !== undefined && <p class="note" id={`${id}-note`}>{hint}</p>}
    </div>
  );
}

const described = (id: string, { hint, error }: Labelled) => ({
  ...(hint !== undefined || error !== undefined ? { "aria-describedby": `${id}-note` } : {}),
  ...(error !== undefined ? { "aria-invalid": true as const } : {}),
});

export interface TextFieldProps extends Labelled {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** `secret`: not shown, and never offered to the browser's password store. */
  readonly type?: "text" | "secret" | "number" | "search" | "datetime-local";
  /** Lines of a text area. */
  readonly lines?: number;
  readonly required?: boolean;
  readonly mono?: boolean;
  readonly disabled?: boolean;
  readonly placeholder?: string;
  /** Whether it receives the focus when it appears. */
  readonly autofocus?: boolean;
  readonly maxLength?: number;
  readonly inputMode?: "numeric" | "decimal" | "text";
}

/** A field for text. */
export function TextField(props: TextFieldProps) {
  const { label, value, onInput, type = "text", lines, mono = false, required = false, disabled = false } = props;
  const id = useId();
  const field = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // a browser heeds the attribute once in the life of a document
    if (props.autofocus) field.current?.focus();
  }, []);
  const shared = {
    ref: field,
    id,
    value,
    required,
    disabled,
    class: mono ? "mono" : "",
    spellcheck: false,
    autocomplete: type === "secret" ? "new-password" : "off",
    autocapitalize: "off",
    ...(props.placeholder === undefined ? {} : { placeholder: props.placeholder }),
    ...(props.maxLength === undefined ? {} : { maxLength: props.maxLength }),
    ...(props.inputMode === undefined ? {} : { inputMode: props.inputMode }),
    ...(props.autofocus ? { autofocus: true } : {}),
    ...described(id, props),
    onInput: (event: { currentTarget: { value: string } }) => onInput(event.currentTarget.value),
  };
  return (
    <Field {...props} id={id} label={label}>
      {lines === undefined
        ? <input {...{ ...shared, type: type === "secret" ? "password" : type } as object} />
        : <textarea {...shared as object} rows={lines} />}
    </Field>
  );
}

/** A field with a choice. */
export function SelectField<T extends string>(
  props: Labelled & {
    readonly value: T;
    readonly options: readonly (readonly [value: T, name: string])[];
    readonly onChange: (value: T) => void;
    readonly disabled?: boolean;
  },
) {
  const { label, value, options, onChange, disabled = false } = props;
  const id = useId();
  return (
    <Field {...props} id={id} label={label}>
      <select
        id={id}
        disabled={disabled}
        {...described(id, props)}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map(([one, name]) => <option key={one} value={one} selected={one === value}>{name}</option>)}
      </select>
    </Field>
  );
}

/** A box to tick. */
export function CheckField({ label, checked, onChange, disabled = false }: {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

/**
 * A form that sends what was entered: it shows the error of `run`, and is disabled while it runs. After that the focus goes
 * to the first field that is wrong.
 */
export function Form({ verb, run, danger = false, disabled = false, cancel, children, error: outer }: {
  /** Name of the button. */
  readonly verb: string;
  readonly run: () => unknown;
  readonly danger?: boolean;
  /** Whether what was entered cannot be sent yet. */
  readonly disabled?: boolean;
  readonly cancel?: () => void;
  readonly children: ComponentChildren;
  readonly error?: unknown;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [attempts, setAttempts] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (attempts > 0) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [attempts]);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy || disabled) return;
    setBusy(true);
    setError(undefined);
    try {
      await run();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
      setAttempts((all) => all + 1);
    }
  };
  return (
    <form ref={form} class="form" onSubmit={submit} noValidate>
      {children}
      <Alert error={error ?? outer} />
      <div class="buttons">
        <button type="submit" class={danger ? "danger" : "primary"} disabled={disabled} aria-disabled={busy}>
          {busy ? "Please wait" : verb}
        </button>
        {cancel && <button type="button" onClick={cancel}>Cancel</button>}
      </div>
    </form>
  );
}
