/** The UNIX socket at which a devnet serves as a node. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { fail } from "#src/base/result.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { serveSocket } from "#src/devnet/serve/socket.ts";
import { pathFailure } from "#src/node/errors.ts";
import { type AppContext, StartError } from "#src/app/context.ts";
import type { Options } from "#src/app/options.ts";

/** Throws `StartError` for a socket path that cannot be used: before a devnet is created, whose settings are final. */
export function checkSocket({ socket }: Options): void {
  const failure = socket === undefined ? undefined : pathFailure(socket, process.platform);
  if (failure) throw new StartError(`--socket: ${failure.message}`);
}

/**
 * Serves the devnet at its socket. A failure is a `StartError` where the options name the socket, else a line of
 * progress.
 */
export async function serveNodeSocket(
  { options, store, bus, log, progress, listening, stops }: AppContext,
  devnet: Devnet,
): Promise<void> {
  const at = options.socket ?? path.resolve(options.folder, "devnet", "node.socket");
  const failure = await mkdir(path.dirname(at), { recursive: true }).then(() => undefined, (error: Error) => error);
  const served = failure
    ? fail("no_folder", failure.message)
    : await serveSocket({ path: at, devnet, store, bus, log: log.with({ component: "socket" }) });
  if (served.ok) {
    stops.push(() => served.value.close());
    listening.push({ name: "its node socket", at });
    return;
  }
  const why = served.error.message;
  if (options.socket !== undefined) throw new StartError(`--socket: ${why}`);
  progress(`The devnet has no node socket: ${why} Use --socket PATH for another path.`);
}
