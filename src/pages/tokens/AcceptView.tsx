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
import type { Wallet } from "./cip30.ts";
import { client, config, LOCAL } from "./service.ts";

/** Checks that a transaction does nothing but to give a token to this wallet. */
async function taking(transaction: string, { address, key }: Wallet): Promise<Checked> {
  const { TokenClient, exactSummary, fromSummary, requireIntent, summarize } = await client();
  const summary = exactSummary(await new TokenClient(location.origin).explain(transaction));
  const resolve = fromSummary(summary);
  const seen = await summarize(transaction, { resolve });
  if (!seen.ok) throw refusal(seen.error);
  const [token] = seen.value.tokens;
  // whose money it is: everything else that is spent belongs to the contract
  const payer = seen.value.spends.find(({ output }) => output !== null && output.holds === null)?.output?.address;
  if (token === undefined || payer === undefined || payer === address) {
    throw refusal({ message: "It does not transfer another owner's token to you." });
  }
  const intent = { type: "transfer", token: token.tokenId, to: key, address: payer } as const;
  const checked = await requireIntent(transaction, intent, { resolve, slots: config.peek()?.slots });
  if (!checked.ok) throw refusal(checked.error);
  return { transaction, summary: checked.value, resolve };
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
