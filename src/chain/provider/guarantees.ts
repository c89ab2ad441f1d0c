/** What a provider guarantees about its answers, for operators. */
import type { AnswerPoint, Guarantee } from "#src/chain/provider/port.ts";

const ORDER: readonly AnswerPoint[] = ["at a point", "at the tip", "not at all"];
const PHRASES: Readonly<Record<AnswerPoint, string>> = {
  "at a point": "exact at a point",
  "at the tip": "at the tip",
  "not at all": "not answered",
};

/** All guarantees of a provider in one line. */
export function guaranteesLine(provider: string, answers: readonly Guarantee[]): string {
  const parts = ORDER.flatMap((holds) => {
    const some = answers.filter((answer) => answer.holds === holds);
    const names = some.map(({ query, note }) => note === undefined ? query : `${query} (${note})`);
    return names.length === 0 ? [] : [`${PHRASES[holds]}: ${names.join(", ")}`];
  });
  return `${provider} answers ${parts.join("; ")}.`;
}
