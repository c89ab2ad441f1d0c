/** A new passphrase with the recovery phrase, for a wallet whose old passphrase is lost. */
import { useState } from "preact/hooks";
import { Form } from "../kit/forms.tsx";
import { toast } from "../kit/toast.tsx";
import { PhraseField, phraseIn } from "./phraseField.tsx";
import { useNewPassphrase } from "./secrets.tsx";
import { send } from "./service.ts";
import type { WalletTab } from "./tab.ts";

const COUNTS = [15, 18, 21, 24];

export function ByPhrase({ wallet, reload }: Pick<WalletTab, "wallet" | "reload">) {
  const [text, setText] = useState("");
  const next = useNewPassphrase("New passphrase");
  const words = phraseIn(text, COUNTS);
  return (
    <Form
      verb="Set a new passphrase"
      disabled={words === undefined || next.value === undefined}
      run={async () => {
        await send("PUT", `/${wallet.prefix}/${wallet.id}/passphrase`, {
          mnemonic_sentence: words,
          new_passphrase: next.value,
        });
        setText("");
        next.clear();
        await reload();
        toast("The passphrase is set");
      }}
    >
      <PhraseField value={text} onInput={setText} counts={COUNTS} />
      {next.fields}
    </Form>
  );
}
