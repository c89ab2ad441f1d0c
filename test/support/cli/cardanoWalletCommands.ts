/** The commands of `cardano-wallet` as data, for tests of its documentation. */
import type { Command } from "commander";
import { PassThrough } from "node:stream";
import { cardanoWallet } from "#src/cli/cardanoWallet/program.ts";
import { Prompts } from "#src/cli/prompts.ts";

export interface DocumentedCommand {
  /** Such as `wallet update name`. */
  readonly name: string;
  readonly help: string;
  /** Names of its options, without dashes. */
  readonly options: readonly string[];
}

/** The program, with its output into a stream. */
export function cardanoWalletProgram(output = new PassThrough()): Command {
  const streams = { input: () => new PassThrough(), output, errors: output, colours: false };
  return cardanoWallet({ streams, prompts: new Prompts(streams) });
}

/** Every command that is not a group. */
export function cardanoWalletCommands(): DocumentedCommand[] {
  let help = "";
  const output = new PassThrough();
  output.on("data", (chunk) => help += String(chunk));
  const visit = (command: Command, name: string): DocumentedCommand[] => {
    if (command.commands.length > 0) {
      return command.commands.flatMap((one) => visit(one, `${name} ${one.name()}`.trim()));
    }
    help = "";
    command.outputHelp();
    return [{ name, help, options: command.options.map(({ long }) => (long ?? "").slice(2)) }];
  };
  return visit(cardanoWalletProgram(output), "");
}
