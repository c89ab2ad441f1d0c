/** The commands of `arbor`, as a tree. */
import { Command } from "commander";
import { VERSION } from "#src/base/version.ts";
import { actorCommands } from "#src/cli/arbor/actors.ts";
import { certificatesCommand } from "#src/cli/arbor/certificates.ts";
import { demoCommand } from "#src/cli/arbor/demoCommand.ts";
import { devnetCommands } from "#src/cli/arbor/devnet.ts";
import { eventsCommand } from "#src/cli/arbor/events.ts";
import { govCommands } from "#src/cli/arbor/gov.ts";
import { keyCommands } from "#src/cli/arbor/keys.ts";
import { serverCommands } from "#src/cli/arbor/serverCommands.ts";
import { shortCommands } from "#src/cli/arbor/shortNames.ts";
import { tokenCommands } from "#src/cli/arbor/tokens.ts";
import { verifyCommand } from "#src/cli/arbor/verify.ts";
import { completionCommand } from "#src/cli/completion.ts";

/** The program, without its arguments. */
export function arborProgram(): Command {
  const program = new Command("arbor")
    .description(
      "Tokens with facts, actors and the devnet. Keys are files that stay on this machine; transactions are signed here.",
    )
    .version(VERSION, "-V, --version", "print the version")
    .helpCommand("help [command]", "print the help of a command")
    .helpOption("-h, --help", "print the help of the command")
    .configureHelp({ showGlobalOptions: true })
    .option("--json", "print JSON; without it, lists are tables in a terminal and JSON in a pipe")
    .option("--tokens <url>", "token service (ARBOR_TOKENS_URL, or http://127.0.0.1:3000)")
    .option("--wallets <url>", "wallet service (ARBOR_WALLETS_URL, or http://127.0.0.1:8090/v2)")
    .option("--operator <url>", "operator service (ARBOR_OPERATOR_URL, or http://127.0.0.1:8091)")
    .option(
      "--operator-token-file <file>",
      "file with the operator service's token, - for standard input (or the variable ARBOR_OPERATOR_TOKEN)",
    )
    .option("--mainnet", "addresses of mainnet, not of a test network")
    .option("--devnet <url>", "devnet and faucet (ARBOR_DEVNET_URL, or http://127.0.0.1:10000)");
  tokenCommands(program);
  actorCommands(program);
  devnetCommands(program);
  govCommands(program);
  eventsCommand(program);
  keyCommands(program);
  verifyCommand(program);
  certificatesCommand(program);
  demoCommand(program);
  serverCommands(program);
  completionCommand(program);
  shortCommands(program);
  return program.addHelpText("after", "\nExample:\n  $ arbor token list");
}
