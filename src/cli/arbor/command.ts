/** What every command of `arbor` has: the services, the output, and a help with an example. */
import process from "node:process";
import { type Argument, type Command, InvalidArgumentError, Option } from "commander";
import { isHex } from "#src/base/bytes.ts";
import { addressText } from "#src/cardano/address.ts";
import type { SigningKey } from "#src/cardano/keys/signingKey.ts";
import { DevnetClient } from "#src/client/devnet.ts";
import { OperatorClient } from "#src/client/operators.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { CliError } from "#src/cli/error.ts";
import { readSecret } from "#src/cli/input.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { Output } from "#src/cli/output.ts";

/** Options of every command. */
export interface GlobalOptions {
  readonly tokens?: string;
  readonly wallets?: string;
  readonly operator?: string;
  readonly operatorTokenFile?: string;
  readonly devnet?: string;
  readonly mainnet?: boolean;
  readonly json?: boolean;
}

export interface Context<O> {
  readonly output: Output;
  readonly tokens: TokenClient;
  readonly wallets: WalletClient;
  readonly devnet: DevnetClient;
  readonly options: O;
  /** The address of a key, on the network of the options. */
  readonly addressOf: (key: SigningKey) => string;
  /** The operator service, with its token where one is given. */
  operator(): Promise<OperatorClient>;
}

export interface CommandDefinition<U extends string = string> {
  /** Name and arguments, as commander has them: `show <token>`. */
  readonly usage: U;
  readonly description: string;
  /** A command line for the help, without the name of the program. */
  readonly example: string;
}

type ArgumentOf<Word extends string> = Word extends `${string}...${">" | "]"}` ? [string[]]
  : Word extends `<${string}>` ? [string]
  : Word extends `[${string}]` ? [string?]
  : [];

/** The arguments that a usage names. */
type ArgumentsOf<U extends string> = U extends `${infer Word} ${infer Rest}`
  ? [...ArgumentOf<Word>, ...ArgumentsOf<Rest>]
  : ArgumentOf<U>;

/** Declares a command. Its function gets the context, then an argument for each in `usage`. */
export function define<const U extends string, O extends object>(
  parent: Command,
  definition: CommandDefinition<U>,
  run: (context: Context<O>, ...args: ArgumentsOf<U>) => Promise<void>,
): Command {
  // commander gives an argument for each that `usage` names
  return declare<O>(parent, definition, (context, args) => run(context, ...args as ArgumentsOf<U>));
}

/** Declares a command whose only argument has a description or a parser, which gives a `T`. */
export function defineArgument<O extends object, T>(
  parent: Command,
  definition: CommandDefinition & { readonly argument: Argument },
  run: (context: Context<O>, value: T | undefined) => Promise<void>,
): Command {
  return declare<O>(parent, definition, (context, [value]) => run(context, value as T | undefined))
    .addArgument(definition.argument);
}

function declare<O extends object>(
  parent: Command,
  { usage, description, example }: CommandDefinition,
  run: (context: Context<O>, args: unknown[]) => Promise<void>,
): Command {
  const command = parent.command(usage).description(description);
  return command.addHelpText("after", `\nExample:\n  $ arbor ${example}`).action((...given: unknown[]) => {
    for (const [i, one] of command.registeredArguments.entries()) if (one.name() === "token") checkTokenId(given[i]);
    return run(contextOf<O>(command), given.slice(0, command.registeredArguments.length));
  });
}

/** Checks an argument that is a token's id; one that may be left out is undefined then. @throws {CliError} `bad_token` */
function checkTokenId(given: unknown): void {
  if (given === undefined || isHex(String(given), 32)) return;
  throw new CliError(`${given} is not a token id; a token id has 64 hexadecimal digits.`, "bad_token");
}

function contextOf<O extends object>(command: Command): Context<O> {
  const options = command.optsWithGlobals<O & GlobalOptions>();
  const url = (given: string | undefined, variable: string, place: number | string) =>
    given ?? process.env[variable] ?? `http://127.0.0.1:${place}`;
  return {
    output: new Output({ json: options.json }),
    tokens: new TokenClient(url(options.tokens, "ARBOR_TOKENS_URL", 3000)),
    wallets: new WalletClient(url(options.wallets, "ARBOR_WALLETS_URL", "8090/v2")),
    devnet: new DevnetClient(url(options.devnet, "ARBOR_DEVNET_URL", 10000)),
    options,
    addressOf: (key) => addressText(addressOf(key, options.mainnet ? 1 : 0)),
    operator: async () => {
      const { operatorTokenFile: file } = options;
      const token = file === undefined
        ? process.env.ARBOR_OPERATOR_TOKEN || undefined
        : await readSecret(file, "Operator token:");
      return new OperatorClient(url(options.operator, "ARBOR_OPERATOR_URL", 8091), token);
    },
  };
}

/** A parser of whole numbers for commander. */
export const wholeNumber = (least: number, most: number) => (text: string): number => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
};

/** Most entries of a list without `--limit`. */
const LISTED = 100;

/** `--limit` of a command that lists. */
export const limitOption = (most: number): Option =>
  new Option("--limit <n>", `most entries (default: ${LISTED})`).argParser(wholeNumber(1, most));

/** Entries to ask a service for at once, so that one more than are shown is known. */
export const pageSize = (limit: number | undefined, most: number): number => Math.min(limit ?? LISTED + 1, most);

/** The first items of a list that is read page by page. Where no limit was given, a note says that there are more. */
export async function first<T>(
  items: AsyncIterable<T>,
  limit: number | undefined,
  output: Pick<Output, "note">,
): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    if (taken.length === LISTED && limit === undefined) {
      output.note(`These are the first ${LISTED}: there are more, see --limit.`);
      break;
    }
    taken.push(item);
    if (taken.length === limit) break;
  }
  return taken;
}
