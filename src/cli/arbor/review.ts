/** What a transaction does, shown before it is signed, and the question whether to sign it. */
import process, { stdin } from "node:process";
import { createInterface } from "node:readline/promises";
import type { Summary, SummaryAmount } from "#src/contract/summary/schema.ts";
import { adaText } from "#src/cardano/ada.ts";
import { CliError } from "#src/cli/error.ts";
import { Output } from "#src/cli/output.ts";

export interface ReviewOptions {
  /** Sign without a question. */
  readonly yes?: boolean;
}

function amount({ lovelace, assets }: SummaryAmount): string {
  const others = Object.keys(assets).length;
  return others === 0
    ? adaText(lovelace)
    : `${adaText(lovelace)} and ${others} other ${others === 1 ? "asset" : "assets"}`;
}

const change = ({ type, key, oldValue, newValue }: Summary["requests"][number]["change"]) =>
  `${type} ${[key, oldValue, newValue].filter((text) => text !== null).map((text) => JSON.stringify(text)).join(" ")}`;

/** The parts of a summary that a signer decides by, as rows. */
function rowsOf(summary: Summary): [name: string, value: string][] {
  const { tokens, requests, retracts, spends, pays, fee, collateral, validity, net, unknown } = summary;
  const { until } = validity;
  return [
    ["transaction", summary.hash],
    ...tokens.flatMap(({ tokenId, booted, ended, owner, applies, refuses = [] }): [string, string][] => [
      [booted ? "creates token" : ended ? "ends token" : "token", tokenId],
      ...(!booted && !ended && owner.before !== owner.after
        ? [["gives it to key", String(owner.after)] satisfies [string, string]]
        : []),
      ...applies.map((one): [string, string] => ["applies", change(one.change)]),
      ...refuses.map((one): [string, string] => ["refuses", change(one.change)]),
    ]),
    ...requests.flatMap((one): [string, string][] => [
      ["requests", `${change(one.change)} of token ${one.tokenId}`],
      ["offers the owner", adaText(one.offered)],
    ]),
    ...retracts.map((one): [string, string] => ["takes back", `${change(one.change)} of token ${one.tokenId}`]),
    ...spends.map(({ outputRef, output }): [string, string] => [
      "spends",
      output === null ? `${outputRef}, contents unknown` : `${amount(output.amount)} of ${output.address}`,
    ]),
    ...pays.map(({ address, amount: paid, purpose }): [string, string] => [
      "pays",
      `${amount(paid)} to ${address} (${purpose})`,
    ]),
    ["fee", adaText(fee)],
    ...(net === null ? [] : [["your balance", amount(net)] satisfies [string, string]]),
    ...(collateral?.atRisk
      ? [["at risk if a script fails", adaText(collateral.atRisk)] satisfies [string, string]]
      : []),
    ["valid until", until === null ? "for ever" : `slot ${until.slot}${until.time === null ? "" : `, ${until.time}`}`],
    ...unknown.map(({ message }): [string, string] => ["not understood", message]),
  ];
}

/** Whether a person can be asked. */
export const isTerminal = (): boolean => stdin.isTTY === true && process.stderr.isTTY === true;

/**
 * In a terminal shows what a transaction does, on the standard error, and asks whether to sign it, unless `--yes` is given.
 *
 * @throws {CliError} `not_confirmed`
 */
export async function confirmSigning(summary: Summary, { yes = false }: ReviewOptions): Promise<void> {
  if (!isTerminal()) return;
  new Output({ stdout: process.stderr }).record(undefined, rowsOf(summary));
  if (!yes) await confirm("Sign it? [y/N] ");
}

/** Asks; anything but yes refuses. @throws {CliError} `not_confirmed` */
export async function confirm(question: string): Promise<void> {
  const prompt = createInterface({ input: stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => prompt.once("close", () => resolve("")));
  const answer = await Promise.race([prompt.question(question), closed]);
  prompt.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError("Not signed.", "not_confirmed");
}
