/** Keys and values of facts in arguments, and the options for them. */
import type { Command } from "commander";
import { fromHex, isHex } from "#src/base/bytes.ts";
import type { FactEncoding } from "#src/client/tokenFacts.ts";
import { CliError } from "#src/cli/error.ts";

type FactText = string | Uint8Array;

/** How keys and values are written. */
export interface TextOptions {
  /** Keys and values are hexadecimal. */
  readonly hex?: boolean;
}

/** Adds `--hex` to a command. */
export const withHex = (command: Command) => command.option("--hex", "keys and values are bytes in hexadecimal");
/** Adds the options of what is trusted to a command. */
export const withTrust = (command: Command) =>
  command.option("--root <root>", "root of the facts, if known")
    .option("--policy <id>", "policy id of the token, which is the contract's hash")
    .option("--datum <cbor>", "with --policy: inline datum of the token's state output")
    .option("--output <cbor>", "with --policy: the token's state output");

/** A key or a value from an argument: a text, or the bytes of `--hex`. */
export function factText(argument: string, { hex }: TextOptions): FactText {
  if (!hex) return argument;
  if (!isHex(argument)) throw new CliError(`${argument} is not hexadecimal.`, "bad_hex");
  return fromHex(argument);
}

/** The encoding in which a service is to write keys and values. */
export const encodingOf = ({ hex }: TextOptions): FactEncoding => hex ? { encoding: "hex" } : {};
