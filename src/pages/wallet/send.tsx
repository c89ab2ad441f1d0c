/** Payments to one or several recipients, with tokens and a message. */
import { elementAt } from "#src/base/present.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Ada } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { CheckField, Form, SelectField, TextField } from "../kit/forms.tsx";
import { Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Empty, Failure } from "../kit/states.tsx";
import { labelled, labelOf } from "./addressLabels.tsx";
import { adaText, fieldText } from "./amounts.ts";
import { type AssetBook, assetKey, decimalsOf, titleOf, useAssets } from "./assets.tsx";
import { type ByronPlan, ByronSend, planByron } from "./byronSend.tsx";
import { Moving, planMove, type Planned } from "./migrate.tsx";
import { networkId } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { paymentBodies } from "./payments.ts";
import type { RequestedPayment } from "./review.ts";
import { read, type Transaction, type WalletSummary } from "./service.ts";
import {
  constructPayments,
  messageLines,
  messageMetadata,
  readForm,
  type Recipient,
  type TooLittle,
  tooLittle,
  withLeastAda,
} from "./paymentForm.ts";
import { useDraft } from "./signing.tsx";
import { paymentsOf } from "./transactions.ts";
import type { WalletTab } from "./tab.ts";

let keys = 0;
const blank = (asset?: string): Recipient => ({
  key: keys++,
  address: "",
  ada: "",
  assets: asset === undefined ? [] : [{ asset, text: "" }],
});

/** Recipients that fit into a transaction, more or less. */
const MOST = 50;
export function Send({ wallet, query, reload }: WalletTab) {
  const again = query.get("again");
  const earlier = useData(
    async (signal) =>
      again !== null && /^[0-9a-f]{64}$/.test(again)
        ? paymentsOf(await read<Transaction>(`/${wallet.prefix}/${wallet.id}/transactions/${again}`, {}, signal))
        : [],
    [again],
  );
  const book = useAssets(wallet);
  // a form that is open stays so when its own payment has taken the last coin
  const [begun, begin] = useState(false);
  if (!begun && wallet.available === 0n && again === null) {
    return (
      <Panel title="Send">
        <Empty title="There is nothing to send yet">
          <p>
            First <a href={hrefOf(walletPath(wallet, "receive"))}>receive some ada</a>
            {wallet.total > 0n && ", or wait until pending transactions are in the ledger"}.
          </p>
        </Empty>
      </Panel>
    );
  }
  if (earlier.error !== undefined) return <Failure error={earlier.error} retry={earlier.reload} />;
  if (earlier.value === undefined || book.value === undefined) return null;
  if (!begun) begin(true);
  const asset = query.get("asset") ?? undefined;
  const initial = earlier.value.map(({ address, lovelace, assets }) => ({
    key: keys++,
    address,
    ada: fieldText(lovelace, 6),
    assets: assets.map((one) => ({
      asset: one.asset,
      text: fieldText(one.quantity, decimalsOf(book.value, one.asset.slice(0, 56), one.asset.slice(56))),
    })),
  }));
  return (
    <SendForm
      wallet={wallet}
      book={book.value}
      reload={reload}
      initial={initial.length > 0 ? initial : [blank(asset)]}
    />
  );
}

/** The transaction of some payments, with a message where it is not empty. @throws {ApiError} */
const draftOf = (wallet: WalletSummary, payments: readonly RequestedPayment[], message: string) => {
  const lines = message === "" ? undefined : messageLines(message);
  const metadata = lines && { metadata: messageMetadata(lines) };
  return constructPayments(wallet, { payments: paymentBodies(payments), ...metadata }, { payments, message: lines });
};

function SendForm({ wallet, book, initial, reload }: {
  readonly wallet: WalletSummary;
  readonly book: AssetBook;
  readonly initial: readonly Recipient[];
  readonly reload: () => Promise<void>;
}) {
  const [recipients, setRecipients] = useState(initial);
  const [message, setMessage] = useState("");
  const [tried, setTried] = useState(false);
  const [plan, setPlan] = useState<ByronPlan>();
  const [everything, setEverything] = useState(false);
  const [planned, setPlanned] = useState<Planned>();
  const [refused, setRefused] = useState<TooLittle>();
  const fields = useRef<HTMLDivElement>(null);
  // recipients that were added or removed take the button that did it with them, or move it
  useLayoutEffect(() => {
    if (recipients !== initial) fields.current?.querySelector<HTMLElement>("fieldset:last-of-type input")?.focus();
  }, [recipients.length]);
  const decimals = (asset: string) => decimalsOf(book, asset.slice(0, 56), asset.slice(56));
  // as a wallet is moved, which takes a key that the service has
  const canMove = wallet.prefix !== "shared-wallets" && (wallet.signs || wallet.discovery === "random");
  const all = everything && canMove && recipients.length === 1;
  const read = readForm(recipients, wallet, decimals, networkId());
  const { payments } = read;
  const problems = all ? new Map([...read.problems].filter(([field]) => field.endsWith(" address"))) : read.problems;
  const reset = () => {
    setPlan(undefined);
    setRecipients([blank()]);
    setMessage("");
    setTried(false);
    setEverything(false);
    setPlanned(undefined);
  };
  // what was sent is not offered to be sent twice
  const { sign, signing } = useDraft({ wallet, reload }, reset);
  if (signing) return signing;
  if (plan) {
    return <ByronSend wallet={wallet} plan={plan} back={() => setPlan(undefined)} done={reset} reload={reload} />;
  }

  if (planned) {
    const back = () => setPlanned(undefined);
    return <Moving wallet={wallet} planned={planned} back={back} done={reset} reload={reload} />;
  }

  const review = async () => {
    setTried(true);
    if (all) {
      if (problems.size === 0) setPlanned(await planMove(wallet, recipients.map(({ address }) => address.trim())));
      return;
    }
    if (payments === undefined) return;
    try {
      await build(payments);
    } catch (error) {
      const found = tooLittle(error, recipients);
      if (found === undefined) throw error;
      setRefused(found);
    }
  };
  const build = async (payments: readonly RequestedPayment[]) => {
    const enough = await withLeastAda(wallet, payments);
    if (wallet.prefix === "byron-wallets") return setPlan(await planByron(wallet.id, enough));
    sign("Sign and send", await draftOf(wallet, enough, message.trim()));
  };
  const total = payments?.reduce((sum, { lovelace }) => sum + lovelace, 0n);
  return (
    <div class="aside">
      <div ref={fields}>
        <Panel title="Send">
          <Form verb="Review" run={review}>
            <Recipients
              wallet={wallet}
              book={book}
              recipients={recipients}
              set={setRecipients}
              problems={tried ? problems : undefined}
              refused={refused}
              all={all}
            />
            {canMove && recipients.length === 1 && (
              <CheckField
                label="Send all: every ada and token that is available, less the fee"
                checked={everything}
                onChange={setEverything}
              />
            )}
            {wallet.prefix !== "byron-wallets" && !all && <MessageField value={message} onInput={setMessage} />}
            {total !== undefined && recipients.length > 1 && (
              <p class="note">{`Together ${adaText(total)} ada, without the fee.`}</p>
            )}
            {tried && problems.size > 0 && <ProblemCount count={problems.size} />}
          </Form>
        </Panel>
      </div>
      <aside>
        <Available wallet={wallet} />
        <NextSteps wallet={wallet} />
      </aside>
    </div>
  );
}

function MessageField({ value, onInput }: { readonly value: string; readonly onInput: (text: string) => void }) {
  return (
    <TextField
      label="Message (optional)"
      value={value}
      onInput={onInput}
      maxLength={500}
      hint="Everyone can read it in the ledger, for good."
    />
  );
}

function ProblemCount({ count }: { readonly count: number }) {
  return (
    <p class="field-error" role="alert">
      {count === 1 ? "One field needs another look." : `${count} fields need another look.`}
    </p>
  );
}

function Available({ wallet }: { readonly wallet: WalletSummary }) {
  return (
    <Panel title="Available">
      <p class="big">
        <Ada lovelace={wallet.available} />
      </p>
      {wallet.availableAssets.length > 0 && (
        <p class="note">
          {wallet.availableAssets.length === 1
            ? "and one kind of token"
            : `and ${wallet.availableAssets.length} kinds of tokens`}
        </p>
      )}
    </Panel>
  );
}

function NextSteps({ wallet }: { readonly wallet: WalletSummary }) {
  return (
    <Panel title="What happens next">
      <ol class="steps">
        <li>
          You see the fee, the change and the sum
          {wallet.prefix !== "byron-wallets" && ", read from the transaction itself"}.
        </li>
        <li>
          {wallet.signs || wallet.prefix === "byron-wallets"
            ? "You sign with the passphrase. Nothing is sent before that."
            : "You sign it where the keys are, and paste it back. Nothing is sent before that."}
        </li>
        <li>The network takes it into a block, usually within a minute.</li>
      </ol>
    </Panel>
  );
}

function Recipients({ wallet, book, recipients, set, problems, refused, all }: {
  readonly wallet: WalletSummary;
  readonly book: AssetBook;
  readonly recipients: readonly Recipient[];
  readonly set: (change: (all: readonly Recipient[]) => readonly Recipient[]) => void;
  /** Undefined while the form has not been tried. */
  readonly problems: ReadonlyMap<string, string> | undefined;
  /** An amount that was refused when the transaction was built. */
  readonly refused: TooLittle | undefined;
  /** Whether the recipient gets everything. */
  readonly all: boolean;
}) {
  const change = (key: number, changed: Partial<Recipient>) =>
    set((all) => all.map((one) => one.key === key ? { ...one, ...changed } : one));
  const problem = ({ key, ada }: Recipient, field: string) => {
    if (field === "ada" && refused?.key === key && refused.ada === ada) {
      return `At least ${adaText(refused.least)} ada: the ledger takes no smaller payment.`;
    }
    return problems?.get(`${key} ${field}`);
  };
  return (
    <>
      {recipients.map((one, i) => (
        <RecipientFields
          key={one.key}
          recipient={one}
          title={recipients.length > 1 ? `Recipient ${i + 1}` : "Recipient"}
          wallet={wallet}
          book={book}
          all={all}
          problem={(field) => problem(one, field)}
          onChange={(changed) => change(one.key, changed)}
          remove={recipients.length > 1 ? () => set((all) => all.filter(({ key }) => key !== one.key)) : undefined}
        />
      ))}
      {recipients.length < MOST && !all && (
        <button
          type="button"
          class="small"
          onClick={() => set((all) => [...all, blank()])}
        >
          Add a recipient
        </button>
      )}
    </>
  );
}

function RecipientFields({ recipient, title, wallet, book, all, problem, onChange, remove }: {
  readonly recipient: Recipient;
  readonly title: string;
  readonly wallet: WalletSummary;
  readonly book: AssetBook;
  readonly all: boolean;
  readonly problem: (field: string) => string | undefined;
  readonly onChange: (changed: Partial<Recipient>) => void;
  readonly remove: (() => void) | undefined;
}) {
  const { address, ada, assets } = recipient;
  const label = labelOf(address.trim());
  const known = labelled().filter(([one]) => parseAddress(one, networkId()).ok);
  const chosen = new Set(assets.map(({ asset }) => asset));
  const others = wallet.availableAssets.filter((one) => !chosen.has(assetKey(one)));
  const setAsset = (i: number, changed: Partial<Recipient["assets"][number]>) =>
    onChange({ assets: assets.map((one, at) => at === i ? { ...one, ...changed } : one) });
  return (
    <fieldset class="recipient">
      <legend>{title}</legend>
      <TextField
        label="Address"
        mono
        value={address}
        onInput={(text) => onChange({ address: text })}
        placeholder={networkId() === 1 ? "addr1…" : "addr_test1…"}
        error={problem("address")}
        {...(label === undefined ? {} : { hint: <bdi>{label}</bdi> })}
      />
      {known.length > 0 && (
        <SelectField
          label="Address with a label"
          value={label === undefined ? "" : address.trim()}
          onChange={(chosen) => chosen !== "" && onChange({ address: chosen })}
          options={[["", "Choose…"], ...known.map(([one, name]) => [one, `${name} (…${one.slice(-6)})`] as const)]}
        />
      )}
      {!all && (
        <TextField
          label="Ada"
          value={ada}
          onInput={(text) => onChange({ ada: text })}
          inputMode="decimal"
          error={problem("ada")}
          {...(assets.length > 0 ? { hint: "Leave it empty for the least that tokens need." } : {})}
        />
      )}
      {!all && assets.map(({ asset, text }, i) => (
        <div class="token-row" key={asset}>
          <SelectField
            label="Token"
            value={asset}
            onChange={(next) => setAsset(i, { asset: next, text: "" })}
            options={[asset, ...others.map(assetKey)].map((key) => [key, optionText(book, wallet, key)])}
          />
          <TextField
            label="Quantity"
            value={text}
            onInput={(next) => setAsset(i, { text: next })}
            inputMode="decimal"
            error={problem(`asset ${i}`)}
          />
          <button
            type="button"
            class="small"
            onClick={() => onChange({ assets: assets.filter((_, at) => at !== i) })}
          >
            Remove
          </button>
        </div>
      ))}
      <div class="buttons">
        {others.length > 0 && !all && (
          <button
            type="button"
            class="small"
            onClick={() => onChange({ assets: [...assets, { asset: assetKey(elementAt(others, 0)), text: "" }] })}
          >
            Add a token
          </button>
        )}
        {remove && <button type="button" class="small" onClick={remove}>Remove the recipient</button>}
      </div>
    </fieldset>
  );
}

/** An asset in a list: its title, its fingerprint's end, and what is there of it. */
function optionText(book: AssetBook, wallet: WalletSummary, key: string): string {
  const [policy, name] = [key.slice(0, 56), key.slice(56)];
  const held = wallet.availableAssets.find((one) => assetKey(one) === key);
  const quantity = fieldText(BigInt(held?.quantity ?? 0), decimalsOf(book, policy, name));
  const fingerprint = book.get(key)?.fingerprint;
  return `${titleOf(book, policy, name)} (${fingerprint ? `…${fingerprint.slice(-6)}, ` : ""}${quantity} available)`;
}
