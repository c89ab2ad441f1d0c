/** A transaction that someone else has built or signed: read here, signed, passed on or sent. */
import { useState } from "preact/hooks";
import { Form } from "../kit/forms.tsx";
import { Panel } from "../kit/parts.tsx";
import { TransactionField } from "./passOn.tsx";
import { useDraft } from "./signing.tsx";
import type { WalletTab } from "./tab.ts";

export function Cosign({ wallet, reload }: WalletTab) {
  const [text, setText] = useState("");
  const { sign, signing } = useDraft({ wallet, reload });
  if (signing) return signing;
  const shared = wallet.prefix === "shared-wallets";
  return (
    <Panel title="Sign a transaction">
      <p class="note">
        {shared
          ? "Paste the transaction that another owner sent you. You see what it does before you sign."
          : "For a transaction that another program built. You see what it does before you sign."}
      </p>
      <Form
        verb="Read it"
        disabled={text.trim() === ""}
        run={() => sign("Sign and send", { transaction: text.replaceAll(/\s/g, "") })}
      >
        <TransactionField label="Transaction" value={text} onInput={setText} />
      </Form>
    </Panel>
  );
}
