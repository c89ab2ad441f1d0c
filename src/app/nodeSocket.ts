/** The addresses at which a devnet serves as a node: a UNIX socket, and a TCP port. */
import path from "node:path";
import process from "node:process";
import { createFolder } from "#src/base/createFolder.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { fail } from "#src/base/result.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { type NodeService, nodeService } from "#src/devnet/serve/socket.ts";
import { portTaken } from "#src/embedded/postgres/ports.ts";
import { pathFailure } from "#src/node/errors.ts";
import { showAddress } from "#src/node/transport/dial.ts";
import { type AppContext, StartError } from "#src/app/context.ts";
import type { Options } from "#src/app/options.ts";
import { nodePort } from "#src/app/ports.ts";

/** Throws `StartError` for a socket path that cannot be used. Called before a devnet is created: its settings are final. */
export function checkSocket({ socket }: Options): void {
  const failure = socket === undefined ? undefined : pathFailure(socket, process.platform);
  if (failure) throw new StartError(`--socket: ${failure.message}`);
}

/**
 * Serves the devnet as a node, at its socket and over TCP; returns the path and the port. If the socket fails and the
 * options name its path, this is a `StartError`; otherwise a message is printed and there is no socket.
 *
 * @throws {StartError} also where the port cannot be listened on
 */
export async function serveAsNode(
  context: AppContext,
  devnet: Devnet,
): Promise<{ socket?: string | undefined; tcp?: number | undefined }> {
  const { options: { devnetWithout: without }, store, bus, log, stops } = context;
  if (without.has("socket") && without.has("tcp")) return {};
  const service = nodeService({ devnet, store, bus, log: log.with({ component: "socket" }) });
  stops.push(() => service.close());
  return {
    socket: without.has("socket") ? undefined : await listenAtPath(context, service),
    tcp: without.has("tcp") ? undefined : await listenOverTcp(context, service),
  };
}

async function listenAtPath(
  { options, progress, listening }: AppContext,
  service: NodeService,
): Promise<string | undefined> {
  const at = options.socket ?? path.resolve(options.folder, "devnet", "node.socket");
  const fault = folderFault(path.dirname(at));
  const served = fault ? fail("no_folder", fault) : await service.listen({ path: at });
  if (served.ok) {
    listening.push({ name: "its node socket", at });
    return at;
  }
  const why = served.error.message;
  if (options.socket !== undefined) throw new StartError(`--socket: ${why}`);
  progress(`The devnet has no node socket: ${why} Use --socket PATH for another path.`);
  return undefined;
}

/** Why a folder is not there and cannot be created, as a sentence. */
function folderFault(folder: string): string | undefined {
  try {
    return void createFolder(folder);
  } catch (error) {
    return `${folder} cannot be created: ${fileFault(error)}.`;
  }
}

async function listenOverTcp({ options, listening }: AppContext, service: NodeService): Promise<number> {
  const use = nodePort(options);
  const served = await service.listen({ host: use.host, port: use.port });
  if (served.ok) {
    const { address } = served.value;
    listening.push({ name: "its node socket over TCP", at: showAddress(address) });
    return "port" in address ? address.port : use.port;
  }
  if (served.error.code === "socket_in_use") throw portTaken(use);
  throw new StartError(`${use.option}: ${served.error.message}`);
}
