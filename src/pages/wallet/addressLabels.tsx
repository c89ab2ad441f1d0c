/** Names that the reader gives to addresses, own ones and others'. They stay in this browser. */
import { useState } from "preact/hooks";
import { shortId } from "../kit/Id.tsx";
import { keptLabels } from "../kit/labels.ts";
import { LabelDialog } from "../kit/LabelDialog.tsx";

const { labels, setLabel } = keptLabels("arbor-address-labels");

/** The label of an address; undefined where it has none. */
export const labelOf = (address: string): string | undefined =>
  Object.hasOwn(labels.value, address) ? labels.value[address] : undefined;

/** Whether a label has a text. */
export const labelHas = (address: string | undefined, text: string): boolean =>
  address !== undefined && (labelOf(address)?.toLowerCase().includes(text.toLowerCase()) ?? false);

/** Addresses with labels, by label. */
export const labelled = (): readonly (readonly [address: string, label: string])[] =>
  Object.entries(labels.value).sort(([, a], [, b]) => a.localeCompare(b));

/** The label of an address, with a button that changes it. */
export function AddressLabel({ address }: { readonly address: string }) {
  const [open, setOpen] = useState(false);
  const label = labelOf(address);
  return (
    <span class="address-label">
      {label !== undefined && <bdi>{label}</bdi>}
      <button
        type="button"
        class="quiet small"
        aria-label={`${label === undefined ? "Add a label to" : "Change the label of"} ${shortId(address, 4)}`}
        onClick={() => setOpen(true)}
      >
        {label === undefined ? "Add a label" : "Change"}
      </button>
      {open && (
        <LabelDialog
          of="the address"
          label={label ?? ""}
          save={(text) => setLabel(address, text)}
          onClose={() => setOpen(false)}
        />
      )}
    </span>
  );
}
