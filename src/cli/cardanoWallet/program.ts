/**
 * The program `cardano-wallet`: its commands, arguments, prompts and output are those of the program of that name, so that
 * scripts written for it work. Commands on keys, addresses and scripts need no server and load nothing of one.
 */
import { Argument, Command, CommanderError } from "commander";
import { reason } from "#src/base/log.ts";
import { ApiError } from "#src/client/http.ts";
import { CliError } from "#src/cli/error.ts";
import { addressCommands } from "#src/cli/cardanoWallet/addressCommands.ts";
import { addCommand, addGroup, type Context, putLine } from "#src/cli/cardanoWallet/context.ts";
import { keyCommands } from "#src/cli/cardanoWallet/keyCommands.ts";
import { phraseCommands } from "#src/cli/cardanoWallet/phraseCommands.ts";
import { scriptCommands } from "#src/cli/cardanoWallet/scriptCommands.ts";
import {
  networkCommands,
  poolCommands,
  versionCommand,
  walletAddressCommands,
} from "#src/cli/cardanoWallet/serverCommands.ts";
import { serveCommand } from "#src/cli/cardanoWallet/serveCommand.ts";
import { transactionCommands } from "#src/cli/cardanoWallet/transactionCommands.ts";
import { walletCommands } from "#src/cli/cardanoWallet/walletCommands.ts";
import { completion, type Shell, SHELLS } from "#src/cli/completion.ts";
import { keyExport } from "#src/cli/keyExport/command.ts";
import { Prompts } from "#src/cli/prompts.ts";
import { outputFailure, type Streams } from "#src/cli/streams.ts";

/** A program without commands yet, whose messages go to the streams of a context. */
function programOf(name: string, { streams, prompts }: Context): Command {
  return new Command(name)
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => streams.output.write(text),
      writeErr: (text) => streams.errors.write(text),
      outputError: (text) => prompts.say(withoutValue(text).trimEnd()),
      getOutHasColors: () => false,
      getErrHasColors: () => streams.colours,
    });
}

/** All commands, bound to the streams of a context. */
export function cardanoWallet(context: Context): Command {
  const program = programOf("cardano-wallet", context)
    .description(
      "Cardano Wallet Command-Line Interface (CLI). Most commands are requests to a wallet server, which must run.",
    );
  phraseCommands(program, context);
  walletCommands(program, context);
  transactionCommands(program, context);
  const address = addGroup(program, "address", "About addresses");
  walletAddressCommands(address, context);
  addressCommands(address, context);
  poolCommands(program, context);
  networkCommands(program, context);
  keyCommands(program, context);
  scriptCommands(program, context);
  keyExport(program.command("wallet-key-export"), context);
  serveCommand(program, context);
  versionCommand(program, context);
  addCommand(
    program,
    "completion",
    "Print the completion script of a shell",
    "source <(cardano-wallet completion bash)",
  )
    .addArgument(new Argument("<SHELL>", "shell to complete in").choices(SHELLS))
    .action((shell: Shell) => putLine(context, completion(program, shell).trimEnd()));
  addUsage(program, program.name());
  return program;
}

/** A message about a wrong argument without its value, which may be a secret in the wrong place. */
function withoutValue(text: string): string {
  return text
    .replace(/^error: command-argument value '[^]*' is invalid for argument '([^']*)'\./, "error: invalid value of $1.")
    .replace(/^error: option '([^']*)' argument '[^]*' is invalid\./, "error: invalid value of $1.");
}

/** Has every usage error end with the usage of its command. */
function addUsage(command: Command, path: string): void {
  command.showHelpAfterError(`\nUsage: ${path} ${command.usage()}`);
  for (const one of command.commands) addUsage(one, `${path} ${one.name()}`);
}

/** The program `wallet-key-export`, which is a command of `cardano-wallet` too. */
function walletKeyExport(context: Context): Command {
  const program = keyExport(programOf("wallet-key-export", context), context);
  addUsage(program, program.name());
  return program;
}

/** Runs `cardano-wallet`; gives its exit code: 0, or 1 for every failure. */
export function run(args: readonly string[], streams: Streams): Promise<0 | 1> {
  return runProgram(cardanoWallet, args[0] === "--version" ? ["version", ...args.slice(1)] : args, streams);
}

/** Runs `wallet-key-export`, as `run`. */
export function runKeyExport(args: readonly string[], streams: Streams): Promise<0 | 1> {
  return runProgram(walletKeyExport, args, streams);
}

async function runProgram(
  program: (context: Context) => Command,
  args: readonly string[],
  streams: Streams,
): Promise<0 | 1> {
  const prompts = new Prompts(streams);
  try {
    await program({ streams, prompts }).parseAsync(args, { from: "user" });
    return 0;
  } catch (thrown) {
    const error = outputFailure(thrown) ?? thrown;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
    if (error instanceof CliError || error instanceof ApiError) prompts.say(error.message);
    // a message of another kind of error may repeat what was read
    else prompts.say(error instanceof Error ? `Unexpected error: ${error.name}` : reason(error));
    return 1;
  } finally {
    prompts.close();
  }
}
