/** The commands that start services in this process: `start`, `signer` and `signers`. */
import process from "node:process";
import type { Command } from "commander";
import { CliError } from "#src/cli/error.ts";
import { loadServer, NO_SERVER, type ServerPrograms } from "#src/cli/server.ts";

/** A program of the server, with its arguments; gives its exit code. */
type Start = (server: ServerPrograms, args: readonly string[]) => Promise<number>;

/** Adds the commands. The server reads their options, some of which have names of options of every command. */
export function serverCommands(program: Command): void {
  const add = (name: string, description: string, example: string, start: Start) => {
    program.command(`${name} [options...]`).description(description)
      .addHelpText("after", `\nExample:\n  $ arbor ${example}`)
      .helpOption(false).allowUnknownOption()
      .action(async () => {
        if (!loadServer) throw new CliError(NO_SERVER, "no_server");
        const { argv } = process;
        process.exitCode = await start(await loadServer(), argv.slice(argv.indexOf(name) + 1));
      });
  };
  add(
    "start",
    "start all services, with a devnet and a database in the folder .arbor",
    "start --block-ms 200",
    (server, args) => server.start(args),
  );
  add(
    "signer",
    "start a signing service of one wallet, for development",
    "signer --seed wallet.seed --generate",
    (server, args) => server.signer(args, { three: false }),
  );
  add(
    "signers",
    "start three signing services and a devnet, for development",
    "signers",
    (server, args) => server.signer(args, { three: true }),
  );
}
