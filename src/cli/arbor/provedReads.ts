/** `--against` of the commands that read tokens: complete answers, verified against the root of other instances. */
import type { Command } from "commander";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import {
  type LedgerQuestion,
  verifyRequestSet,
  verifyTokenFacts,
  verifyTokenList,
  verifyTokenState,
} from "#src/client/ledgerAnswers.ts";
import { fetchTrustedRoot } from "#src/client/ledgerRoot.ts";
import { type Context, type GlobalOptions, wholeNumber } from "#src/cli/arbor/command.ts";
import { CliError } from "#src/cli/error.ts";
import { type Output, short } from "#src/cli/output.ts";
import { bytesText } from "#src/contract/text.ts";
import { initHash } from "#src/forestry/hash.ts";

/** Which instances are trusted for the root. */
export interface AgainstOptions {
  readonly against?: readonly string[];
  readonly quorum?: number;
}

type Reading = Pick<
  Context<AgainstOptions & GlobalOptions & { readonly hex?: boolean }>,
  "tokens" | "output" | "options"
>;

/** Most instances of a quorum. */
const MOST_INSTANCES = 100;

/** Adds `--against` and `--quorum` to a command. */
export const withAgainst = (command: Command) =>
  command.option(
    "--against <url>",
    "verify the response, and that it is complete, against the root of unspent outputs of this other instance; repeatable",
    (url: string, urls: readonly string[] = []) => [...urls, url],
  ).option(
    "--quorum <n>",
    "with --against: how many of the instances must know the root (default: all)",
    wholeNumber(1, MOST_INSTANCES),
  );

/**
 * Whether a response is to be verified.
 *
 * @throws {CliError} `bad_options` with one of some other options.
 */
export function isAgainst(
  { against, quorum }: AgainstOptions,
  excluded: Readonly<Record<string, unknown>> = {},
): boolean {
  if (against === undefined) {
    if (quorum !== undefined) throw new CliError("--quorum needs --against.", "bad_options");
    return false;
  }
  const given = Object.entries(excluded).find(([, value]) => value !== undefined);
  if (given) throw new CliError(`--against excludes --${given[0]}.`, "bad_options");
  return true;
}

/** All tokens. */
export async function provedList(reading: Reading): Promise<void> {
  const answer = await reading.tokens.provedTokens();
  const verified = proven(reading, verifyTokenList(answer, await questionOf(reading, answer)));
  reading.output.list(
    verified,
    ["token", "owner", "root"],
    verified.tokens.map(({ tokenId, owner, root }) => [tokenId, short(owner), short(root)]),
  );
}

/** The state of a token. */
export async function provedState(reading: Reading, tokenId: string): Promise<void> {
  const answer = await reading.tokens.provedToken(tokenId);
  const verified = proven(reading, verifyTokenState(answer, { ...await questionOf(reading, answer), tokenId }));
  const { token } = verified;
  reading.output.record(verified, [
    ["token", token.tokenId],
    ["owner", token.owner],
    ["root", token.root],
    ["output", token.outputRefId],
  ]);
}

/** The open requests of a token. */
export async function provedRequests(reading: Reading, tokenId: string): Promise<void> {
  const answer = await reading.tokens.provedRequests(tokenId);
  const verified = proven(reading, verifyRequestSet(answer, { ...await questionOf(reading, answer), tokenId }));
  const write = reading.options.hex ? toHex : bytesText;
  const requests = verified.requests.map(({ key, operation, ...request }) => ({
    ...request,
    change: {
      type: operation.type,
      key: write(key),
      value: write(operation.value),
      ...(operation.type === "update" ? { oldValue: write(operation.old) } : {}),
    },
  }));
  reading.output.list(
    { ...verified, requests },
    ["request", "change", "key", "value", "refund to"],
    requests.map(({ outputRefId, change: { type, key, value }, refundAddress }) => [
      outputRefId,
      type,
      key,
      value,
      refundAddress,
    ]),
  );
}

/** All facts of a token. */
export async function provedFacts(reading: Reading, tokenId: string): Promise<void> {
  const answer = await reading.tokens.provedFacts(tokenId);
  const question = { ...await questionOf(reading, answer), tokenId };
  await initHash();
  const verified = proven(reading, verifyTokenFacts(answer, question));
  const write = (hex: string) => reading.options.hex ? hex : bytesText(fromHex(hex));
  const facts = [...verified.facts].map(([key, value]) => [write(key), write(value)] as const);
  reading.output.list({ ...verified, facts: Object.fromEntries(facts) }, ["key", "value"], facts);
}

/** The root after the block of an answer, from the instances of the options. */
async function questionOf({ options }: Reading, answer: unknown): Promise<LedgerQuestion> {
  const { against = [], quorum, mainnet } = options;
  const trusted = await fetchTrustedRoot(answer, {
    instances: against,
    ...(quorum === undefined ? {} : { quorum }),
  });
  if (!trusted.ok) throw new CliError(trusted.error.message, trusted.error.code);
  return { trusted: trusted.value, network: mainnet ? 1 : 0 };
}

/** What was verified, with notes that say what. */
function proven<T extends { readonly checked: readonly string[]; readonly notChecked: readonly string[] }>(
  { output }: { readonly output: Pick<Output, "note"> },
  result: Result<T, Failure>,
): T {
  if (!result.ok) throw new CliError(result.error.message, result.error.code);
  for (const sentence of result.value.checked) output.note(`checked: ${sentence}`);
  for (const sentence of result.value.notChecked) output.note(`not checked: ${sentence}`);
  return result.value;
}
