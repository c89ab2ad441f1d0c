/** Requests to a wallet server, and what is printed of their answers. */
import { type Command, Option } from "commander";
import type { Json } from "#src/base/json.ts";
import { call, type Query, queryText } from "#src/client/http.ts";
import { addCommand, type Context, putLine } from "#src/cli/cardanoWallet/context.ts";
import { prettyJson } from "#src/cli/cardanoWallet/prettyJson.ts";
import { readPort } from "#src/cli/cardanoWallet/readers.ts";

export interface PortOption {
  readonly port: number;
}

interface Request {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
}

/** Adds a command that sends requests: it has the option `--port`. */
export function addRequest(parent: Command, usage: string, summary: string, ...example: readonly string[]): Command {
  return addCommand(parent, usage, summary, ...example)
    .addOption(new Option("--port <INT>", "port used for serving the wallet API").argParser(readPort).default(8_090));
}

/**
 * Sends a request to the server on this machine and gives its answer.
 *
 * @throws {ApiError} with the server's message where it refuses, or where there is no server
 */
export function send({ port }: PortOption, { method = "GET", path, query = {}, body }: Request): Promise<Json> {
  return call(`http://localhost:${port}/v2`, method, path + queryText(query), body);
}

/** Sends a request and prints its answer: "Ok." on standard error, the JSON (an empty line for none) on standard output. */
export async function sendAndPrint(context: Context, options: PortOption, request: Request): Promise<void> {
  const answer = await send(options, request);
  context.streams.errors.write("Ok.\n");
  putLine(context, answer === null ? "" : prettyJson(answer));
}
