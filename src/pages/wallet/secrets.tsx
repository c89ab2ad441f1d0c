/// <reference lib="dom" />
/**
 * Fields for secrets. What is typed lives in the memory of the form that has the field, and nowhere else: it is in no
 * URL, no storage, and no message.
 */
import { useState } from "preact/hooks";
import { Form, TextField } from "../kit/forms.tsx";

/** Characters of a new passphrase at least. */
const SHORTEST = 10;

/** A field for a passphrase. */
export function SecretField({ label, value, onInput, hint, error, autofocus = false }: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  readonly error?: string | undefined;
  readonly autofocus?: boolean;
}) {
  return (
    <TextField
      label={label}
      type="secret"
      value={value}
      onInput={onInput}
      maxLength={255}
      error={error}
      autofocus={autofocus}
      {...(hint === undefined ? {} : { hint })}
    />
  );
}

/** A form whose action needs the wallet's passphrase, which is forgotten after each attempt. */
export function PassphraseForm({ verb, run, label = "Passphrase of this wallet", optional = false, danger, cancel }: {
  readonly verb: string;
  readonly run: (passphrase: string) => Promise<unknown>;
  readonly label?: string;
  /** Whether it may be empty, as that of an old random wallet. */
  readonly optional?: boolean;
  readonly danger?: boolean;
  readonly cancel?: () => void;
}) {
  const [passphrase, setPassphrase] = useState("");
  return (
    <Form
      verb={verb}
      danger={danger ?? false}
      disabled={passphrase === "" && !optional}
      {...(cancel && { cancel })}
      run={async () => {
        try {
          await run(passphrase);
        } finally {
          setPassphrase("");
        }
      }}
    >
      <SecretField label={label} value={passphrase} onInput={setPassphrase} />
    </Form>
  );
}

/** A new passphrase, typed twice; `value` is undefined until both are good. */
export interface NewPassphrase {
  readonly value: string | undefined;
  readonly fields: preact.JSX.Element;
  readonly clear: () => void;
}

/** Two fields for a new passphrase. */
export function useNewPassphrase(label = "Passphrase"): NewPassphrase {
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const missing = SHORTEST - [...first].length;
  const short = missing > 0;
  const differs = second !== first;
  return {
    value: short || differs ? undefined : first,
    clear: () => {
      setFirst("");
      setSecond("");
    },
    fields: (
      <>
        <SecretField
          label={label}
          value={first}
          onInput={setFirst}
          hint={`At least ${SHORTEST} characters. It encrypts the keys, and every signature needs it.`}
          error={first !== "" && short
            ? `${missing} more ${missing === 1 ? "character" : "characters"}, please.`
            : undefined}
        />
        <SecretField
          label={`${label}, again`}
          value={second}
          onInput={setSecond}
          error={second !== "" && differs && !first.startsWith(second) ? "This differs from the first one." : undefined}
        />
      </>
    ),
  };
}
