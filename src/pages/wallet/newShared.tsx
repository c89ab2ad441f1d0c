/** A shared wallet: begun by one owner, joined by the others with the text that the first one sends them. */
import { useState } from "preact/hooks";
import { CheckField, Form, SelectField, TextField } from "../kit/forms.tsx";
import { Choice, Heading, Panel } from "../kit/parts.tsx";
import { go } from "../kit/router.ts";
import { toast } from "../kit/toast.tsx";
import { NewPhrase } from "./create.tsx";
import { type Invitation, readInvitation, templateOf } from "./invitation.ts";
import { walletPath } from "./paths.ts";
import { PhraseField, phraseIn } from "./phraseField.tsx";
import { ownerName, ownersIn, ruleOf, scriptWords } from "./scripts.ts";
import { useNewPassphrase } from "./secrets.tsx";
import { send } from "./service.ts";

/** Owners that the form offers at most. */
const MOST_OWNERS = 10;
const COUNTS = [15, 18, 21, 24];

/** What a shared wallet is made of, and which owner this one is. */
interface Plan extends Invitation {
  readonly self: string;
}

export function SharedWalletForm() {
  const [way, setWay] = useState<"begin" | "join">("begin");
  const [plan, setPlan] = useState<Plan>();
  return (
    <>
      <Heading title="Shared wallet">Shared wallet</Heading>
      <div class="column narrow">
        {plan ? <OwnKeysOf plan={plan} back={() => setPlan(undefined)} /> : (
          <>
            <Choice
              label="Begin or join"
              value={way}
              onChange={setWay}
              options={[["begin", "I begin a new one"], ["join", "I was invited"]]}
            />
            {way === "begin" ? <Begin next={setPlan} /> : <Join next={setPlan} />}
          </>
        )}
      </div>
    </>
  );
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => [String(from + i), String(from + i)] as const);

function Begin({ next }: { readonly next: (plan: Plan) => void }) {
  const [name, setName] = useState("");
  const [owners, setOwners] = useState("2");
  const [needed, setNeeded] = useState("2");
  const [delegates, setDelegates] = useState(true);
  const rule = ruleOf(Number(owners), Number(needed));
  return (
    <Panel title="The rule">
      <Form
        verb="Continue"
        disabled={name.trim() === ""}
        run={() => next({ name: name.trim(), rule, delegates, keys: {}, self: "cosigner#0" })}
      >
        <TextField label="Name" value={name} onInput={setName} maxLength={255} autofocus />
        <div class="two">
          <SelectField
            label="Owners"
            value={owners}
            onChange={(value) => {
              setOwners(value);
              if (Number(needed) > Number(value)) setNeeded(value);
            }}
            options={numbers(2, MOST_OWNERS)}
          />
          <SelectField
            label="Signatures that a payment needs"
            value={needed}
            onChange={setNeeded}
            options={numbers(1, Number(owners))}
          />
        </div>
        <p class="note">{`The rule: ${scriptWords(rule)}. You are Owner 1. The rule cannot be changed later.`}</p>
        <CheckField
          label="It can delegate to stake pools, by the same rule"
          checked={delegates}
          onChange={setDelegates}
        />
      </Form>
    </Panel>
  );
}

function Join({ next }: { readonly next: (plan: Plan) => void }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string>();
  const invitation = readInvitation(text);
  const free = invitation ? ownersIn(invitation.rule).filter((owner) => !(owner in invitation.keys)) : [];
  const self = chosen !== undefined && free.includes(chosen) ? chosen : free[0];
  return (
    <Panel title="The invitation">
      <Form
        verb="Continue"
        disabled={invitation === undefined || self === undefined}
        run={() => invitation && self && next({ ...invitation, self })}
      >
        <TextField
          label="Text that another owner sent you"
          mono
          lines={6}
          value={text}
          onInput={setText}
          hint="The other owner finds it under Owners, in the shared wallet."
          error={text.trim() !== "" && !invitation ? "This is no invitation: copy all of it, from { to }." : undefined}
        />
        {invitation && (
          <>
            <p class="alert info">
              <span>
                <b>
                  <bdi>{invitation.name || "Shared wallet"}</bdi>
                </b>
                {`. The rule: ${scriptWords(invitation.rule)}.`}
              </span>
            </p>
            {self === undefined ? <p class="alert">All owners have joined already.</p> : (
              <SelectField
                label="You are"
                value={self}
                onChange={setChosen}
                options={free.map((owner) => [owner, ownerName(owner)] as const)}
                hint="Agree on this with the others: each owner has another number."
              />
            )}
          </>
        )}
      </Form>
    </Panel>
  );
}

/** The keys of this owner: of a new phrase, or of one that there is. */
function OwnKeysOf({ plan, back }: { readonly plan: Plan; readonly back: () => void }) {
  const [from, setFrom] = useState<"new" | "old">("new");
  const [words, setWords] = useState<readonly string[]>();
  const [text, setText] = useState("");
  if (words) return <Finish plan={plan} words={words} />;
  const old = phraseIn(text, COUNTS);
  return (
    <>
      <div class="spread">
        <Choice
          label="Phrase"
          value={from}
          onChange={setFrom}
          options={[["new", "With a new phrase"], ["old", "With a phrase that I have"]]}
        />
        <button type="button" class="small" onClick={back}>Back</button>
      </div>
      {from === "new" ? <NewPhrase done={setWords} /> : (
        <Panel title="Recovery phrase">
          <Form verb="Continue" disabled={old === undefined} run={() => setWords(old)}>
            <PhraseField value={text} onInput={setText} counts={COUNTS} />
          </Form>
        </Panel>
      )}
    </>
  );
}

function Finish({ plan, words }: { readonly plan: Plan; readonly words: readonly string[] }) {
  const [name, setName] = useState(plan.name);
  const passphrase = useNewPassphrase();
  const create = async () => {
    const template = templateOf(plan.rule, { ...plan.keys, [plan.self]: "self" });
    const { id } = await send<{ id: string }>("POST", "/shared-wallets", {
      name: name.trim(),
      mnemonic_sentence: words,
      passphrase: passphrase.value,
      account_index: "0H",
      payment_script_template: template,
      ...(plan.delegates ? { delegation_script_template: template } : {}),
    });
    passphrase.clear();
    toast("The shared wallet is created");
    go(walletPath({ prefix: "shared-wallets", id }, "owners"), true);
  };
  return (
    <Panel title="Name and passphrase">
      <Form
        verb="Create the shared wallet"
        run={create}
        disabled={name.trim() === "" || passphrase.value === undefined}
      >
        <TextField label="Name" value={name} onInput={setName} maxLength={255} />
        {passphrase.fields}
      </Form>
    </Panel>
  );
}
