/** Asks for a label. */
import { useState } from "preact/hooks";
import { Dialog } from "./Dialog.tsx";
import { Form, TextField } from "./forms.tsx";
import { LONGEST_LABEL } from "./labels.ts";

export function LabelDialog({ of, label, save, onClose }: {
  /** What it is of: `the token`. */
  readonly of: string;
  readonly label: string;
  readonly save: (label: string) => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState(label);
  const run = () => {
    save(text);
    onClose();
  };
  return (
    <Dialog title={`Label of ${of}`} onClose={onClose}>
      <Form verb="Save" run={run} cancel={onClose}>
        <TextField
          label="Label"
          value={text}
          onInput={setText}
          maxLength={LONGEST_LABEL}
          hint="Only you see it: it stays in this browser. Leave it empty to remove it."
          autofocus
        />
      </Form>
    </Dialog>
  );
}
