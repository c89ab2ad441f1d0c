/**
 * A new wallet: its phrase is made in the browser, shown once, and three of its words must then be entered. It lives in the
 * memory of this view alone, and goes to the service once, with the passphrase.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Form, TextField } from "../kit/forms.tsx";
import { Heading, Panel } from "../kit/parts.tsx";
import { useGo } from "../kit/router.ts";
import { toast } from "../kit/toast.tsx";
import { walletPath } from "./paths.ts";
import { newPhrase, threePlaces } from "./phrase.ts";
import { useNewPassphrase } from "./secrets.tsx";
import { send } from "./service.ts";

/** How a new phrase is made, shown and verified; calls `done` with it. */
export function NewPhrase({ done }: { readonly done: (words: readonly string[]) => void }) {
  const [words, setWords] = useState(() => newPhrase());
  const [places, setPlaces] = useState<readonly number[]>();
  const [typed, setTyped] = useState<Readonly<Record<number, string>>>({});
  const [wrong, setWrong] = useState<ReadonlySet<number>>(new Set());
  const top = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (places) top.current?.querySelector("input")?.focus();
  }, [places]);
  if (places === undefined) return <PhraseShown words={words} next={() => setPlaces(threePlaces(words.length))} />;
  const check = () => {
    const differing = places.filter((place) => typed[place]?.trim().toLowerCase() !== words[place]);
    setWrong(new Set(differing));
    if (differing.length === 0) done(words);
  };
  return (
    <Panel title="Three words of your phrase">
      <div ref={top}>
        <p class="note">Read them from your paper.</p>
        <Form
          verb="Continue"
          run={check}
          disabled={places.some((place) => (typed[place] ?? "").trim() === "")}
        >
          {places.map((place) => (
            <TextField
              key={place}
              label={`Word ${place + 1}`}
              value={typed[place] ?? ""}
              onInput={(text) => {
                setTyped((all) => ({ ...all, [place]: text }));
                setWrong((all) => new Set([...all].filter((one) => one !== place)));
              }}
              error={wrong.has(place) ? "This is another word. Look at its number on your paper." : undefined}
            />
          ))}
        </Form>
        <p>
          <button
            type="button"
            class="small"
            onClick={() => {
              setWords(newPhrase());
              setPlaces(undefined);
              setTyped({});
              setWrong(new Set());
            }}
          >
            Start over with new words
          </button>
        </p>
      </div>
    </Panel>
  );
}

/** A phrase to be written down. */
function PhraseShown({ words, next }: { readonly words: readonly string[]; readonly next: () => void }) {
  return (
    <Panel title="Your recovery phrase">
      <div class="prose">
        <p>
          Write these {words.length}{" "}
          words on paper, in this order. They restore the wallet on any device. Without them it cannot be restored: this
          service does not keep them.
        </p>
        <p class="alert warn">They are shown only once. Do not photograph them, and keep them secret.</p>
      </div>
      <ol class="phrase" aria-label="Recovery phrase">
        {words.map((word, i) => (
          <li key={i}>
            <span class="note" aria-hidden="true">{i + 1}</span>
            <b>{word}</b>
          </li>
        ))}
      </ol>
      <div class="buttons">
        <button type="button" class="primary" onClick={next}>
          I have written them down
        </button>
      </div>
    </Panel>
  );
}

export function CreateWallet() {
  const [words, setWords] = useState<readonly string[]>();
  const step = words === undefined ? 1 : 2;
  return (
    <>
      <Heading title="Create a wallet">Create a wallet</Heading>
      <div class="column narrow">
        <p class="note">{step === 1 ? "First the recovery phrase, then a name and a passphrase." : "Almost done."}</p>
        {words === undefined ? <NewPhrase done={setWords} /> : <NameAndPassphrase words={words} />}
      </div>
    </>
  );
}

function NameAndPassphrase({ words }: { readonly words: readonly string[] }) {
  const [name, setName] = useState("");
  const passphrase = useNewPassphrase();
  const go = useGo();
  const create = async () => {
    const { id } = await send<{ id: string }>("POST", "/wallets", {
      name: name.trim(),
      mnemonic_sentence: words,
      passphrase: passphrase.value,
      // no payment can be older than the wallet
      restoration_mode: "from_tip",
    });
    passphrase.clear();
    toast("The wallet is created");
    go(walletPath({ prefix: "wallets", id }), true);
  };
  return (
    <Panel title="Name and passphrase">
      <Form verb="Create the wallet" run={create} disabled={name.trim() === "" || passphrase.value === undefined}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          maxLength={255}
          autofocus
          hint="Only shown here, such as Savings."
        />
        {passphrase.fields}
      </Form>
    </Panel>
  );
}
