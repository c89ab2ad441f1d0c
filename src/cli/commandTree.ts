/** The commands of a program as a tree. */
import type { Command } from "commander";

/** Every command of a program, the program first. */
export function commandsOf(program: Command): Command[] {
  return [program, ...program.commands.flatMap(commandsOf)];
}

/** The path of a command: `arbor token show`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
