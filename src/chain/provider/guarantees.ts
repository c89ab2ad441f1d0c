/** What a provider's answers are worth: said by each, for those who operate it. */

/**
 * "at a point": the answer is read from the ledger at one block, and the block told with it is that one. "at the tip": it is put together from
 * questions to whatever is newest, between which the newest block stayed the same. "not at all": the provider has no such answer.
 */
export type Holds = "at a point" | "at the tip" | "not at all";

/** One of a port's questions, by its name there. */
export type Question =
  | "tip"
  | "inMempool"
  | "utxosByAddress"
  | "utxosByRef"
  | "parameters"
  | "accounts"
  | "pools"
  | "poolRanking"
  | "dreps"
  | "epoch"
  | "eras"
  | "genesis";

/** How a provider answers one question. */
export interface Answering {
  readonly question: Question;
  readonly holds: Holds;
  /** What an operator should know besides. */
  readonly note?: string;
}

const ORDER: readonly Holds[] = ["at a point", "at the tip", "not at all"];
const WORDS: Readonly<Record<Holds, string>> = {
  "at a point": "exact at a point",
  "at the tip": "at the tip",
  "not at all": "not answered",
};

/** All that a provider says, in one line. */
export function answersLine(provider: string, answers: readonly Answering[]): string {
  const parts = ORDER.flatMap((holds) => {
    const some = answers.filter((answer) => answer.holds === holds);
    const names = some.map(({ question, note }) => note === undefined ? question : `${question} (${note})`);
    return names.length === 0 ? [] : [`${WORDS[holds]}: ${names.join(", ")}`];
  });
  return `${provider} answers ${parts.join("; ")}.`;
}
