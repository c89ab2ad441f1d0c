/** A field for a recovery phrase, checked word by word while it is typed or pasted. */
import { useId } from "preact/hooks";
import { checkPhrase, type PhraseCheck, wordsIn } from "./phrase.ts";

export function PhraseField({ value, onInput, counts, label = "Recovery phrase" }: {
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly counts: readonly number[];
  readonly label?: string;
}) {
  const id = useId();
  const check = checkPhrase(wordsIn(value), counts);
  const finished = check.problem === undefined;
  const begun = value.trim() !== "";
  const replace = (place: number, word: string) =>
    onInput(check.words.map((one, i) => i === place ? word : one.word).join(" "));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={3}
        value={value}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        data-1p-ignore
        placeholder="Type or paste the words, separated by spaces"
        aria-describedby={`${id}-note`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {begun && (
        <ol class="phrase checked" aria-label="The words, one by one">
          {check.words.map(({ word, known, meant }, i) => (
            <li key={i} class={known ? "good" : "bad"}>
              <span class="note">{i + 1}</span>
              <b>{word}</b>
              {known ? <span class="sr">is in the list of words</span> : (
                <span class="meant">
                  <span class="sr">is not in the list of words</span>
                  {meant.map((one) => (
                    <button key={one} type="button" class="small" onClick={() => replace(i, one)}>{one}?</button>
                  ))}
                </span>
              )}
            </li>
          ))}
        </ol>
      )}
      <p id={`${id}-note`} class={begun && !finished ? "field-error" : "note"} role="status">
        {finished ? `All ${check.words.length} words are right, and so is their checksum.` : check.problem}
      </p>
    </div>
  );
}

/** The words of a field's text where they are a phrase with one of these numbers of words. */
export function phraseIn(text: string, counts: readonly number[]): readonly string[] | undefined {
  const check: PhraseCheck = checkPhrase(wordsIn(text), counts);
  return check.problem === undefined ? check.words.map(({ word }) => word) : undefined;
}
