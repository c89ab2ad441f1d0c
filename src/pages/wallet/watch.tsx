/** A wallet from an account's public key: it shows and builds, and cannot sign. */
import { useState } from "preact/hooks";
import { toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { Form, TextField } from "../kit/forms.tsx";
import { Heading, Panel } from "../kit/parts.tsx";
import { useGo } from "../kit/router.ts";
import { walletPath } from "./paths.ts";
import { send } from "./service.ts";

/** An account's public key and chain code in hexadecimal, from that form or `acct_xvk1…`; undefined for other text. */
export function accountKeyIn(text: string): string | undefined {
  // a message may have wrapped it
  const given = text.replace(/\s+/g, "");
  if (/^[0-9a-fA-F]{128}$/.test(given)) return given.toLowerCase();
  const read = fromBech32(given);
  return read && ["acct_xvk", "xpub"].includes(read.prefix) && read.bytes.length === 64 ? toHex(read.bytes) : undefined;
}

export function WatchWallet() {
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const key = accountKeyIn(text);
  const go = useGo();
  const watch = async () => {
    const { id } = await send<{ id: string }>("POST", "/wallets", { name: name.trim(), account_public_key: key });
    go(walletPath({ prefix: "wallets", id }), true);
  };
  return (
    <>
      <Heading title="Watch a wallet">Watch a wallet</Heading>
      <div class="column narrow">
        <Panel title="Account public key">
          <div class="prose">
            <p>
              The page shows balances and history of the account, and builds transactions to be signed where the keys
              are. A wallet's own page has the key under Settings.
            </p>
          </div>
          <Form verb="Watch it" run={watch} disabled={name.trim() === "" || key === undefined}>
            <TextField label="Name" value={name} onInput={setName} maxLength={255} autofocus />
            <TextField
              label="Account public key"
              mono
              lines={3}
              value={text}
              onInput={setText}
              placeholder="acct_xvk1… or 128 hexadecimal digits"
              error={text.trim() !== "" && key === undefined
                ? "This is no account public key with its chain code."
                : undefined}
            />
          </Form>
        </Panel>
      </div>
    </>
  );
}
