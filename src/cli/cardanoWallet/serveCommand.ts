/** `serve`: starts the server in this process; no other command loads it. */
import { type Command, CommanderError } from "commander";
import { CliError } from "#src/cli/error.ts";
import { CARDANO_WALLET_SERVE_HELP } from "#src/app/serveHelp.ts";
import { addCommand, type Context } from "#src/cli/cardanoWallet/context.ts";
import { loadServer, NO_SERVER } from "#src/cli/server.ts";

/** Adds `serve`. The server reads its own options, and prints what is wrong with them. */
export function serveCommand(program: Command, { prompts }: Context): void {
  addCommand(
    program,
    "serve [options...]",
    "Serve an HTTP API that listens for commands",
    "cardano-wallet serve --node-socket /run/node.socket --mainnet --database /srv/wallets",
  )
    .addHelpText("before", `${loadServer ? "" : `${NO_SERVER}\n\n`}${CARDANO_WALLET_SERVE_HELP}\n`)
    .allowUnknownOption()
    .action(async (options: readonly string[]) => {
      if (!loadServer) throw new CliError(NO_SERVER);
      prompts.close(); // the server has the standard input to itself
      const code = await (await loadServer()).serve(options, { strict: true });
      // it has said why
      if (code !== 0) throw new CommanderError(code, "server", "The server did not start.");
    });
}
