/** What a provider guarantees about its answers, for operators. */
import type { ChainPort } from "#src/chain/provider/port.ts";

/**
 * - "at a point": the answer is read from the ledger at one block, which is its point.
 * - "at the tip": the answer is composed from several requests, during which the newest block stayed the same.
 * - "not at all": the provider does not support the query.
 */
type AnswerPoint = "at a point" | "at the tip" | "not at all";

/** A query of the port, by its name there. */
type PortQuery = Exclude<keyof ChainPort, "guarantees" | "network" | "follow" | "submit">;

/** What a provider guarantees about one query. */
export interface Guarantee {
  readonly query: PortQuery;
  readonly holds: AnswerPoint;
  /** A remark for operators. */
  readonly note?: string;
}

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
