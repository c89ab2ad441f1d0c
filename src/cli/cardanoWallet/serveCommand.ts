/** `serve`: starts the server of a checkout in a process of its own, which loads what no other command needs. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Command, CommanderError } from "commander";
import { DENO } from "#src/base/deno.ts";
import { CliError } from "#src/cli/error.ts";
import { CARDANO_WALLET_SERVE_HELP } from "#src/app/serveHelp.ts";
import { addCommand, type Context } from "#src/cli/cardanoWallet/context.ts";

const SERVER = new URL("../../app/serve.ts", import.meta.url);
/** Where the package has no server. */
const NO_SERVER = "The server is not part of this package: start it in a checkout of Arbor.";

/** Adds `serve`. The server reads its own options, and prints what is wrong with them. */
export function serveCommand(program: Command, context: Context): void {
  addCommand(
    program,
    "serve [options...]",
    "Serve an HTTP API that listens for commands",
    "cardano-wallet serve --node-socket /run/node.socket --mainnet --database /srv/wallets",
  )
    .addHelpText("before", () => `${existsSync(SERVER) ? "" : `${NO_SERVER}\n\n`}${CARDANO_WALLET_SERVE_HELP}\n`)
    .allowUnknownOption()
    .action((options: readonly string[]) => serve(options, context));
}

/** Runs the server until it ends. */
async function serve(options: readonly string[], { prompts }: Context): Promise<void> {
  if (!existsSync(SERVER)) {
    throw new CliError(NO_SERVER);
  }
  prompts.close(); // the server has the standard input to itself
  const args = ["run", "-A", "--quiet", fileURLToPath(SERVER), "--cardano-wallet", ...options];
  const server = "Deno" in globalThis
    ? spawn(process.execPath, args, { stdio: "inherit" })
    : spawn("npx", ["-y", DENO, ...args], { stdio: "inherit" });
  const code = await exitOf(server);
  // it has said why
  if (code !== 0) throw new CommanderError(1, "server", `The server ended with ${code}.`);
}

/** Waits for the end of a process, to which this process's signals go meanwhile. */
async function exitOf(child: ChildProcess): Promise<number | string> {
  // each of them: on Deno the kill of a child sends only the first
  const forward = (name: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(child.pid, name);
    } catch {
      // it has ended
    }
  };
  // a terminal sends an interrupt to both processes: this one only has to stay until the other has ended
  const stay = () => {};
  process.on("SIGTERM", forward).on("SIGINT", stay);
  try {
    const [code, signal] = await once(child, "exit") as [number | null, string | null];
    return code ?? signal ?? 1;
  } finally {
    process.off("SIGTERM", forward).off("SIGINT", stay);
  }
}
