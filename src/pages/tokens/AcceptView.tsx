/// <reference lib="dom" />
/**
 * Taking a token over: its owner has prepared and signed the transaction, and the next owner, whose agreement the
 * contract wants, signs here.
 */
import { useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { Form, TextField } from "../kit/forms.tsx";
import { Heading, Panel } from "../kit/parts.tsx";
import { carryOn, type Checked, refusal } from "./carry.tsx";
import { outputsOf, type Wallet } from "./cip30.ts";
import { client, config, LOCAL } from "./service.ts";

/** Checks that a transaction does nothing but to give a token to this wallet. */
async function taking(transaction: string, wallet: Wallet): Promise<Checked> {
  const { TokenClient, checkAcceptance, firstOf, fromSummary, fromUtxos } = await client();
  const service = new TokenClient(location.origin);
  const outputs = await outputsOf(wallet);
  // a wallet that names none may not say what it has
  const utxos = outputs.length > 0 ? outputs : undefined;
  const slots = config.peek()?.slots;
  const checked = await checkAcceptance(service, transaction, { key: wallet.key, utxos, slots });
  if (!checked.ok) throw refusal(checked.error);
  const resolve = firstOf(fromUtxos(outputs), fromSummary(checked.value.summary));
  return { transaction: checked.value, resolve };
}

export function AcceptView() {
  const [theirs, setTheirs] = useState("");
  const transaction = theirs.replace(/\s+/g, "");
  const run = async () => {
    if (!/^([0-9a-f]{2})+$/i.test(transaction)) {
      throw new ApiError(LOCAL, "bad_transaction", "This is not a transaction in hexadecimal.");
    }
    const said = "Verified in this browser: the transaction transfers the token to you and takes nothing from you.";
    if (await carryOn("Accept a token", said, (wallet) => taking(transaction, wallet))) setTheirs("");
  };
  return (
    <>
      <Heading title="Accept a token">Accept a token</Heading>
      <Panel title="A token that is transferred to you">
        <p class="note intro">
          A transfer needs the signatures of both owners. The present owner presses “Transfer” on the token's page,
          signs, and sends you the text that appears. Paste it here: this page checks that it does nothing else, and
          your wallet signs it.
        </p>
        <Form verb="Review and sign" run={run} disabled={transaction === ""}>
          <TextField
            label="Transaction signed by the current token owner, in hexadecimal"
            value={theirs}
            onInput={setTheirs}
            lines={6}
            mono
          />
        </Form>
      </Panel>
    </>
  );
}
