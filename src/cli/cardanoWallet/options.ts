/** Options and arguments that several commands of `cardano-wallet` have. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { HARD, parsePath } from "#src/cardano/keys/derivation.ts";
import { CliError } from "#src/cli/error.ts";
import type { Encoding } from "#src/cli/cardanoWallet/keyInput.ts";

/** Options for the encoding of a result, of which one may be given. */
export function encodings(command: Command): Command {
  for (const encoding of ["base16", "base58", "bech32"] as const) {
    const others = ["base16", "base58", "bech32"].filter((other) => other !== encoding);
    const text = encoding === "bech32" ? "print bech32 (default)" : `print ${encoding}`;
    command.addOption(new Option(`--${encoding}`, text).conflicts(others));
  }
  return command;
}

export interface EncodingOptions {
  readonly base16?: true;
  readonly base58?: true;
}

export function encodingOf({ base16, base58 }: EncodingOptions): Encoding {
  return base16 ? "base16" : base58 ? "base58" : "bech32";
}

/** The argument of an option or command through a function that throws `CliError` or `TypeError` for a wrong one. */
export function checked<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof InvalidArgumentError || !(error instanceof Error)) throw error;
      throw new InvalidArgumentError(error.message);
    }
  };
}

/** Indices of a path, such as `1852H/1815H/0H`. @throws {CliError} where it is malformed */
export function readPath(text: string): readonly number[] {
  const path = parsePath(text);
  if (path !== undefined && path.length > 0) return path;
  throw new CliError(
    `Unable to parse the derivation path. Indices are integers between 0 and ${HARD - 1}; hardened ones end with ` +
      `a capital 'H'. For example: "1852H/1815H/0H/0/14".`,
  );
}
