/** A wallet from its recovery phrase. The phrase lives in the memory of this view alone. */
import { useState } from "preact/hooks";
import { Form, SelectField, TextField } from "../kit/forms.tsx";
import { Heading, Panel } from "../kit/parts.tsx";
import { useGo } from "../kit/router.ts";
import { toast } from "../kit/toast.tsx";
import { walletPath } from "./paths.ts";
import { wordsIn } from "./phrase.ts";
import { PhraseField, phraseIn } from "./phraseField.tsx";
import { useNewPassphrase } from "./secrets.tsx";
import { send } from "./service.ts";

const STYLES = {
  shelley: "Shelley: Daedalus, Lace, Eternl, Yoroi and others since 2020",
  random: "Byron, Daedalus before 2020",
  icarus: "Byron, Yoroi before 2020",
  trezor: "Byron, Trezor",
  ledger: "Byron, Ledger",
} as const;
type Style = keyof typeof STYLES;

const COUNTS = { shelley: [15, 18, 21, 24], byron: [12, 15, 18, 21, 24] } as const;

export function RestoreWallet() {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<Style>();
  const [account, setAccount] = useState("0");
  const passphrase = useNewPassphrase("New passphrase");
  const go = useGo();
  // twelve words are of the first era in the service's API
  const twelve = wordsIn(text).length === 12;
  const style = chosen ?? (twelve ? "random" : "shelley");
  const counts = style === "shelley" ? COUNTS.shelley : COUNTS.byron;
  const words = phraseIn(text, counts);
  const accountIndex = /^\d{1,9}$/.test(account.trim()) ? Number(account) : undefined;
  const restore = async () => {
    const body = { name: name.trim(), mnemonic_sentence: words, passphrase: passphrase.value };
    const { id } = style === "shelley"
      ? await send<{ id: string }>("POST", "/wallets", {
        ...body,
        ...(accountIndex ? { account_index: `${accountIndex}H` } : {}),
      })
      : await send<{ id: string }>("POST", "/byron-wallets", { ...body, style });
    setText("");
    passphrase.clear();
    toast("The wallet is being read from the chain");
    go(walletPath({ prefix: style === "shelley" ? "wallets" : "byron-wallets", id }), true);
  };
  return (
    <>
      <Heading title="Restore a wallet">Restore a wallet</Heading>
      <div class="column narrow">
        <Panel title="Phrase, name and passphrase">
          <Form
            verb="Restore the wallet"
            run={restore}
            disabled={words === undefined || name.trim() === "" || passphrase.value === undefined ||
              accountIndex === undefined}
          >
            <PhraseField
              value={text}
              onInput={setText}
              counts={twelve && chosen === undefined ? COUNTS.byron : counts}
            />
            <SelectField
              label="Kind of wallet"
              value={style}
              onChange={setChosen}
              options={Object.entries(STYLES) as [Style, string][]}
              {...(twelve && style === "random"
                ? { hint: "A phrase of 12 words belongs to a wallet of the Byron era." }
                : {})}
            />
            <TextField
              label="Name"
              value={name}
              onInput={setName}
              maxLength={255}
              hint="Only shown here, such as Savings."
            />
            {passphrase.fields}
            {style === "shelley" && (
              <details>
                <summary>More options</summary>
                <TextField
                  label="Account"
                  value={account}
                  onInput={setAccount}
                  inputMode="numeric"
                  hint="0 is the first one. Only wallets with several accounts need another number."
                  error={accountIndex === undefined ? "Enter a whole number." : undefined}
                />
              </details>
            )}
          </Form>
        </Panel>
      </div>
    </>
  );
}
