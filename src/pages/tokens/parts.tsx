/// <reference lib="dom" />
/** Small parts of the views of tokens. */
import { useState } from "preact/hooks";
import { Id } from "../kit/Id.tsx";
import { LabelDialog } from "../kit/LabelDialog.tsx";
import { Ago } from "../kit/time.tsx";
import { count } from "../kit/amounts.tsx";
import { labels, setLabel } from "./labels.ts";
import { explorerTx, slotTime } from "./service.ts";

/** How long ago a slot was. */
export function SlotAgo({ slot }: { readonly slot: number }) {
  const at = slotTime(slot);
  return at === undefined
    ? <span class="note">slot {count(slot)}</span>
    // a devnet may run ahead of the clock
    : (
      <span title={`slot ${count(slot)}`}>
        <Ago at={Math.min(at, Date.now())} />
      </span>
    );
}

/** A transaction, with a link to the explorer where there is one. */
export const Tx = ({ hash }: { readonly hash: string }) => (
  <Id value={hash} name="transaction hash" href={explorerTx(hash)} external />
);

/** A button that gives a token a label. */
export function LabelButton({ tokenId }: { readonly tokenId: string }) {
  const [open, setOpen] = useState(false);
  const label = labels.value[tokenId];
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {label === undefined ? "Add a label" : "Change the label"}
      </button>
      {open && (
        <LabelDialog
          of="the token"
          label={label ?? ""}
          save={(text) => setLabel(tokenId, text)}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
