/** Runs a command line program: its errors are a message with a stable code on the standard error, and an exit status. */
import process from "node:process";
import { type Command, CommanderError } from "commander";
import { toJson } from "#src/base/json.ts";
import { ApiError } from "#src/client/http.ts";
import { messageWithReasons } from "#src/client/requestReasons.ts";
import { commandsOf } from "#src/cli/commandTree.ts";
import { CliError } from "#src/cli/error.ts";
import { printable } from "#src/cli/output.ts";
import { endWithOutput, outputFailure } from "#src/cli/streams.ts";

export interface RunOptions {
  /** Exit status where the arguments are wrong; 2 by default. */
  readonly usageStatus?: number;
  /** What to do about an answer of a service, by its code; an error that the program finds says so itself. */
  readonly hints?: Readonly<Record<string, string>>;
}

/**
 * Parses the arguments (`process.argv`) and carries the command out. The exit status is 0; 1 where the command fails;
 * `usageStatus` where the arguments are wrong. Errors that are none of the user's keep their stack.
 */
export async function run(program: Command, argv: readonly string[], options: RunOptions = {}): Promise<void> {
  const { usageStatus = 2 } = options;
  for (const command of commandsOf(program)) {
    command.exitOverride().configureOutput({ outputError: () => {} });
  }
  endWithOutput();
  try {
    await program.parseAsync(argv);
  } catch (thrown) {
    const error = outputFailure(thrown) ?? thrown;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return;
      process.exitCode = usageStatus;
      // the help that a group without a command prints is its message
      if (error.code !== "commander.help") write(usageText(error));
      return;
    }
    process.exitCode = 1;
    // Ctrl+C at a prompt
    if (error instanceof Error && error.name === "ExitPromptError") return;
    if (!(error instanceof CliError || error instanceof ApiError)) throw error;
    const { code } = error;
    const message = error instanceof ApiError
      ? `${messageWithReasons(error)} ${options.hints?.[code] ?? ""}`.trimEnd()
      : error.message;
    write(program.opts().json === true ? toJson({ code, error: message }) : `${printable(message)} (${code})`);
  }
}

/** The message of wrong arguments, with the code of commander in snake case. */
function usageText({ message, code }: CommanderError): string {
  const [first = "", ...rest] = message.replace(/^error: /, "").split("\n");
  const name = code.replace(/^commander\./, "").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const hint = name === "unknown_option" && rest.length === 0
    ? ["(-- before an argument that begins with a dash)"]
    : [];
  return [`${first} (${name})`, ...rest, ...hint].join("\n");
}

const write = (text: string) => process.stderr.write(`${text}\n`);
