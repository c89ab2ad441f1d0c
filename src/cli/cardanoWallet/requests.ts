/** Requests to a wallet server, and what is printed of their answers. */
import { type Command, Option } from "commander";
import type { Json } from "#src/base/json.ts";
import { ApiError, call, type Query, queryText } from "#src/client/http.ts";
import { addCommand, type Context, putLine } from "#src/cli/cardanoWallet/context.ts";
import { prettyJson } from "#src/cli/cardanoWallet/prettyJson.ts";
import { readPort } from "#src/cli/cardanoWallet/readers.ts";

export interface PortOption {
  readonly port: number;
}

export interface Request {
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

/** Where wallets are: those of today, those of the Byron era. */
const KINDS = ["/wallets", "/byron-wallets"] as const;

/**
 * Does something with the path of a wallet, which may be one of the Byron era.
 *
 * @throws {ApiError} as `work`; 404 `no_such_wallet` where there is no wallet of either kind
 */
async function onWallet<T>(id: string, work: (wallet: string) => Promise<T>): Promise<T> {
  const [today, byron] = KINDS;
  try {
    return await work(`${today}/${id}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "no_such_wallet") throw error;
    return await work(`${byron}/${id}`);
  }
}

/** The path of a wallet of either kind. @throws {ApiError} as `send`; 404 `no_such_wallet` where there is none */
export function findWallet(options: PortOption, id: string): Promise<string> {
  return onWallet(id, async (path) => {
    await send(options, { path });
    return path;
  });
}

/** Sends a request on a wallet of either kind and prints its answer, as `sendAndPrint`. */
export async function sendOnAndPrint(
  context: Context,
  options: PortOption,
  id: string,
  request: (wallet: string) => Request,
): Promise<void> {
  print(context, await onWallet(id, (wallet) => send(options, request(wallet))));
}

/** Prints all wallets, those of the Byron era last. */
export async function printWallets(context: Context, options: PortOption): Promise<void> {
  const lists: Json[] = [];
  for (const path of KINDS) lists.push(await send(options, { path }));
  print(context, lists.flat());
}

/** Sends a request and prints its answer: "Ok." on standard error, the JSON (an empty line for none) on standard output. */
export async function sendAndPrint(context: Context, options: PortOption, request: Request): Promise<void> {
  print(context, await send(options, request));
}

function print(context: Context, answer: Json): void {
  context.streams.errors.write("Ok.\n");
  putLine(context, answer === null ? "" : prettyJson(answer));
}
