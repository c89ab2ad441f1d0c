/** `arbor gov propose`: governance actions of each kind; the devnet's faucet pays the deposit. */
import type { Command } from "commander";
import { isObject, parseJson } from "#src/base/json.ts";
import type { ProposedAction } from "#src/client/devnet.ts";
import { type Context, define } from "#src/cli/arbor/command.ts";
import { lovelaceOf } from "#src/cli/arbor/devnet.ts";
import { CliError } from "#src/cli/error.ts";
import { readText } from "#src/cli/input.ts";

interface ProposeOptions {
  readonly documentUrl?: string;
  readonly documentHash?: string;
  readonly account?: string;
  readonly previous?: string;
}

/** Adds what every kind of action has. */
function withProposal(command: Command): Command {
  return command
    .option("--document-url <url>", "the document about the action")
    .option("--document-hash <hash>", "its hash, 32 bytes in hexadecimal")
    .option("--account <stake>", "stake address that the deposit returns to; one of the genesis by default")
    .option(
      "--previous <action>",
      "the action that it follows, or none; the last enacted one of its purpose by default",
    );
}

async function propose({ devnet, output, options }: Context<ProposeOptions>, action: ProposedAction): Promise<void> {
  const { documentUrl: url, documentHash: hash, account, previous } = options;
  if ((url === undefined) !== (hash === undefined)) {
    throw new CliError("A document has a URL and a hash: --document-url and --document-hash.", "bad_options");
  }
  const proposed = await devnet.propose(action, {
    ...(url !== undefined && hash !== undefined ? { anchor: { url, hash } } : {}),
    ...(account === undefined ? {} : { account }),
    ...(previous === undefined ? {} : { previous: previous === "none" ? null : previous }),
  });
  output.value(proposed.id, proposed);
}

/** A fraction such as `2/3`. @throws {CliError} `bad_share`. */
function shareOf(text: string): { numerator: number; denominator: number } {
  const [, numerator, denominator] = /^(\d{1,9})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (numerator === undefined) throw new CliError(`${text} is no fraction such as 2/3.`, "bad_share");
  return { numerator: Number(numerator), denominator: Number(denominator) };
}

/** A member and the last epoch of its term, such as `cc_cold1…:50`. @throws {CliError} `bad_member`. */
function seatOf(text: string): { member: string; until: number } {
  const [, member, until] = /^(cc_cold1[a-z0-9]+):(\d{1,9})$/.exec(text) ?? [];
  if (member === undefined) {
    throw new CliError(`${text} is no member with the last epoch of its term, such as cc_cold1…:50.`, "bad_member");
  }
  return { member, until: Number(until) };
}

/** Adds `arbor gov propose` with a command for each kind of action. */
export function proposeCommands(gov: Command): void {
  const parent = gov.command("propose").description("propose a governance action, print its id")
    .addHelpText("after", "\nExample:\n  $ arbor gov propose info");
  simpleActions(parent);
  lastingActions(parent);
}

function simpleActions(parent: Command): void {
  withProposal(define(parent, {
    usage: "info",
    description: "information, which changes nothing",
    example: "gov propose info",
  }, async (context: Context<ProposeOptions>) => await propose(context, { kind: "info" })));

  withProposal(define(parent, {
    usage: "no-confidence",
    description: "a motion of no confidence, which dismisses the committee",
    example: "gov propose no-confidence",
  }, async (context: Context<ProposeOptions>) => await propose(context, { kind: "no confidence" })));

  withProposal(define(parent, {
    usage: "hard-fork <version>",
    description: "the next protocol version, such as 11 or 11.1",
    example: "gov propose hard-fork 11",
  }, async (context: Context<ProposeOptions>, version) => {
    const [, major, minor = "0"] = /^(\d{1,4})(?:\.(\d{1,4}))?$/.exec(version) ?? [];
    if (major === undefined) throw new CliError(`${version} is no protocol version.`, "bad_version");
    await propose(context, { kind: "hard fork", version: { major: Number(major), minor: Number(minor) } });
  }));

  withProposal(define(parent, {
    usage: "treasury <stake> <ada>",
    description: "a payment from the treasury to a registered stake address",
    example: "gov propose treasury stake_test1… 5000",
  }, async (context: Context<ProposeOptions>, account, ada) => {
    await propose(context, { kind: "treasury", payments: [{ account, lovelace: lovelaceOf(ada) }] });
  }));
}

function lastingActions(parent: Command): void {
  withProposal(define(parent, {
    usage: "parameters <json>",
    description: "new values of protocol parameters, named as in GET /parameters (- for standard input)",
    example: `gov propose parameters '{"desiredPools":77}'`,
  }, async (context: Context<ProposeOptions>, text) => {
    const changes = jsonIn(await readText(text));
    await propose(context, { kind: "parameters", changes });
  }));

  withProposal(define(parent, {
    usage: "constitution <url> <hash>",
    description: "a new constitution: a document and its hash",
    example: "gov propose constitution https://example.com/constitution.txt 3f0a… --script 51c2…",
  }, async (context: Context<ProposeOptions & { script?: string }>, url, hash) => {
    const { script } = context.options;
    await propose(context, {
      kind: "constitution",
      anchor: { url, hash },
      ...(script === undefined ? {} : { script }),
    });
  })).option("--script <hash>", "hash of its guardrails script, 28 bytes in hexadecimal");

  withProposal(define(parent, {
    usage: "committee",
    description: "members who come and go, and the share of them that has to agree",
    example: "gov propose committee --add cc_cold1…:50 --remove cc_cold1… --quorum 2/3",
  }, async (context: Context<ProposeOptions & { add?: string[]; remove?: string[]; quorum: string }>) => {
    const { add = [], remove = [], quorum } = context.options;
    await propose(context, {
      kind: "committee",
      added: add.map(seatOf),
      removed: remove,
      quorum: shareOf(quorum),
    });
  })).option("--add <members...>", "new members with the last epochs of their terms: cc_cold1…:50")
    .option("--remove <members...>", "members who go: cc_cold1…")
    .option("--quorum <share>", "the share that has to agree", "2/3");
}

function jsonIn(text: string): Record<string, unknown> {
  try {
    const json = parseJson(text);
    if (isObject(json)) return json;
  } catch {
    // the sentence below says what is expected
  }
  throw new CliError('Parameters are a JSON object such as {"desiredPools":77}.', "bad_parameters");
}
