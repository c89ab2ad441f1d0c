/** A shared wallet: begun by one owner, joined by the others with the text that the first one sends them. */
import { useState } from "preact/hooks";
import { CheckField, Form, SelectField, TextField } from "../kit/forms.tsx";
import { Choice, Heading, Panel } from "../kit/parts.tsx";
import { useGo } from "../kit/router.ts";
import { toast } from "../kit/toast.tsx";
import { NewPhrase } from "./create.tsx";
import { type Invitation, readInvitation, templateOf } from "./invitation.ts";
import { slotAt, slotTimeText } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { PhraseField, phraseIn } from "./phraseField.tsx";
import { ownerName, ownersIn, type RuleTime, scriptWords, timedRule } from "./scripts.ts";
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

/** What a rule may say of times. */
const TIMES = {
  none: "At any time",
  fewer: "Fewer signatures are enough from a date on",
  from: "Payments only from a date on",
  until: "Payments only until a date",
} as const;

/** The time of a rule; undefined for none, or while it is not complete. */
function ruleTime(kind: keyof typeof TIMES, slot: number | undefined, needed: number): RuleTime | undefined {
  if (slot === undefined || kind === "none") return undefined;
  if (kind !== "fewer") return { kind, slot };
  return needed > 0 ? { kind, slot, needed } : undefined;
}

function Begin({ next }: { readonly next: (plan: Plan) => void }) {
  const [name, setName] = useState("");
  const [owners, setOwners] = useState("2");
  const [needed, setNeeded] = useState("2");
  const [delegates, setDelegates] = useState(true);
  const [time, setTime] = useState<keyof typeof TIMES>("none");
  const [date, setDate] = useState("");
  const [fewer, setFewer] = useState("1");
  const at = Date.parse(date);
  const slot = Number.isNaN(at) ? undefined : slotAt(at);
  const isPast = slot !== undefined && at <= Date.now();
  const reached = ruleTime(time, slot, Math.min(Number(fewer), Number(needed) - 1));
  const rule = timedRule(Number(owners), Number(needed), reached);
  return (
    <Panel title="The rule">
      <Form
        verb="Continue"
        disabled={name.trim() === "" || (time !== "none" && (reached === undefined || isPast))}
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
            onChange={(value) => {
              setNeeded(value);
              if (value === "1" && time === "fewer") setTime("none");
            }}
            options={numbers(1, Number(owners))}
          />
        </div>
        <SelectField
          label="Time"
          value={time}
          onChange={setTime}
          options={(Object.entries(TIMES) as [keyof typeof TIMES, string][]).filter(([one]) =>
            one !== "fewer" || Number(needed) > 1
          )}
        />
        {time !== "none" && (
          <div class="two">
            <TextField
              label="Date and time"
              type="datetime-local"
              value={date}
              onInput={setDate}
              error={isPast ? "This is in the past." : undefined}
            />
            {time === "fewer" && <FewerField fewer={fewer} set={setFewer} needed={Number(needed)} />}
          </div>
        )}
        {time === "until" && (
          <p class="alert warn">
            After this moment nothing can ever be paid from the wallet: what is left in it is lost.
          </p>
        )}
        <p class="note">
          {`The rule: ${scriptWords(rule, slotTimeText)}. You are Owner 1. The rule cannot be changed later.`}
        </p>
        <CheckField
          label="It can delegate to stake pools, by the same rule"
          checked={delegates}
          onChange={setDelegates}
        />
      </Form>
    </Panel>
  );
}

/** How many signatures are enough from a date on, of those that are needed before. */
function FewerField({ fewer, set, needed }: {
  readonly fewer: string;
  readonly set: (fewer: string) => void;
  readonly needed: number;
}) {
  return (
    <SelectField
      label="Signatures that are enough then"
      value={String(Math.min(Number(fewer), needed - 1))}
      onChange={set}
      options={numbers(1, needed - 1)}
    />
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
                {`. The rule: ${scriptWords(invitation.rule, slotTimeText)}.`}
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
  const go = useGo();
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
        <TextField label="Name" value={name} onInput={setName} maxLength={255} autofocus />
        {passphrase.fields}
      </Form>
    </Panel>
  );
}
