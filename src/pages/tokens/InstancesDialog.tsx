/// <reference lib="dom" />
/** The dialog in which the reader names the instances that this service is verified against. */
import { useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { Dialog } from "../kit/Dialog.tsx";
import { Form, TextField } from "../kit/forms.tsx";
import { instanceProblem, instances, permitted, setInstances } from "./instances.ts";
import { LOCAL } from "./service.ts";

/** A button that opens the dialog. */
export function InstancesButton() {
  const [open, setOpen] = useState(false);
  const { urls } = instances.value;
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {urls.length === 0 ? "Verify against other instances" : "Change the instances"}
      </button>
      {open && <InstancesDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function InstancesDialog({ onClose }: { readonly onClose: () => void }) {
  const { urls, quorum } = instances.peek();
  const named = permitted();
  const [text, setText] = useState((urls.length === 0 ? named : urls).join("\n"));
  const [number, setNumber] = useState(quorum === undefined ? "" : String(quorum));
  const run = () => {
    const chosen = [...new Set(text.split(/[\s,]+/).filter(Boolean).map((url) => url.replace(/\/+$/, "")))];
    const problem = chosen.map(instanceProblem).find((one) => one !== undefined);
    if (problem !== undefined) throw new ApiError(LOCAL, "bad_instance", problem);
    const needed = number.trim() === "" ? undefined : Number(number);
    if (needed !== undefined && (!Number.isInteger(needed) || needed < 1 || needed > chosen.length)) {
      throw new ApiError(LOCAL, "bad_quorum", `A quorum is a whole number from 1 to ${chosen.length}.`);
    }
    setInstances({ urls: chosen, ...(needed === undefined ? {} : { quorum: needed }) });
    onClose();
  };
  return (
    <Dialog title="Verify against other instances" onClose={onClose}>
      <Form verb="Save" run={run} cancel={onClose}>
        <p>
          The page compares this service with the root of all unspent outputs that other instances have. Choose
          instances of other operators, which follow other nodes.
        </p>
        <TextField
          label="URLs of the instances, one in a line"
          value={text}
          onInput={setText}
          lines={3}
          mono
          hint={named.length === 0
            ? "The operator of this service names the instances that this page may read: --page-connect URL,URL (ARBOR_PAGE_CONNECT)."
            : "They stay in this browser. Leave it empty to verify nothing."}
        />
        <TextField
          label="How many must know the root"
          value={number}
          onInput={setNumber}
          inputMode="numeric"
          hint="Empty: all of them."
        />
        <p class="alert warn">
          This page comes from the service that it verifies. A service that lies can send a page that lies: then only
          arbor token list --against URL, or the client from a source of your own, finds out.
        </p>
      </Form>
    </Dialog>
  );
}
