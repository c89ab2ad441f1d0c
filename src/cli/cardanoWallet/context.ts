/** What every command of `cardano-wallet` works with, and how it is declared. */
import { Command } from "commander";
import type { Prompts } from "#src/cli/prompts.ts";
import type { Streams } from "#src/cli/streams.ts";

export interface Context {
  readonly streams: Streams;
  readonly prompts: Prompts;
}

/**
 * Writes a result. What commands hand to each other (keys, addresses) has no line end, except in a terminal, as in
 * cardano-wallet.
 */
export function put({ streams: { output } }: Context, text: string): void {
  output.write(output.isTTY ? `${text}\n` : text);
}

/** Writes a line. */
export function putLine({ streams: { output } }: Context, text: string): void {
  output.write(`${text}\n`);
}

/** Adds a command with an example to its help. */
export function addCommand(parent: Command, usage: string, summary: string, ...example: readonly string[]): Command {
  const command = parent.command(usage).description(summary);
  return example.length === 0
    ? command
    : command.addHelpText("after", () => `\nExample:\n${example.map((line) => `  $ ${line}`).join("\n")}`);
}

/** Adds a group of commands, which shows its help where none is named. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary);
}
