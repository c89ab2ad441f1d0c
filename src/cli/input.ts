/** What commands read: a file, or the standard input for `-`. */
import { readFile } from "node:fs/promises";
import process, { stdin } from "node:process";
import { buffer } from "node:stream/consumers";
import { fileFault } from "#src/base/fileFault.ts";
import { fromUtf8 } from "#src/base/bytes.ts";
import { CliError } from "#src/cli/error.ts";

/** Bytes of a file; `-` is the standard input. @throws {CliError} `file_not_read`. */
export async function readInput(file: string): Promise<Uint8Array> {
  if (file === "-") return await buffer(stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${fileFault(error)}`, "file_not_read");
  }
}

/** A file argument as messages name it. */
export const inputName = (file: string): string => file === "-" ? "The standard input" : file;

/** A text argument without the white space around it; `-` is the standard input. */
export async function readText(argument: string): Promise<string> {
  return argument === "-" ? (fromUtf8(await readInput("-")) ?? "").trim() : argument;
}

/**
 * A secret from a file. `-` is the standard input; a terminal does not show what is typed there. Secrets are never
 * arguments, which other users of the machine can read.
 */
export async function readSecret(file: string, question: string): Promise<string> {
  if (file === "-" && stdin.isTTY) {
    const { default: password } = await import("@inquirer/password");
    // the answer of a command in a pipe stays on its standard output
    return await password({ message: question }, { output: process.stderr });
  }
  return (fromUtf8(await readInput(file)) ?? "").trim();
}
