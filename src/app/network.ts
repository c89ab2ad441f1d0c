/** Which network a start is about: a devnet of the house, or one that is elsewhere; and the socket at which a devnet is a node for others. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import type { Log } from "#src/base/log.ts";
import { guaranteesLine } from "#src/chain/provider/guarantees.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { serveSocket } from "#src/devnet/serve/socket.ts";
import type { Check } from "#src/edge/health.ts";
import { isTransient, pathFailure } from "#src/node/errors.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { blockfrostOf } from "#src/app/blockfrost.ts";
import type { Options } from "#src/app/options.ts";
import { NETWORK_ID, type Place, type Rooms, type RoomsHealth, StartError } from "#src/app/context.ts";
import type { Stop } from "#src/app/shutdown.ts";

/** What the port stands on. */
export interface Ground {
  readonly options: Options;
  readonly store: Store;
  readonly bus: Bus;
  readonly log: Log;
  readonly health: RoomsHealth;
  readonly stops: Stop[];
}

/**
 * The port to the network of the options. What is away is waited for, with a line of progress; throws a sentence where waiting
 * does not help. Says, and leaves in `/health`, how the provider answers each question.
 */
export async function networkPort(ground: Ground, progress: (line: string) => void): Promise<ChainPort> {
  const { options, store, bus, log, health } = ground;
  const { nodeSocket, blockfrost } = options;
  const [provider, port] = nodeSocket !== undefined
    ? ["node", await nodeOf(ground, nodeSocket, progress)] as const
    : blockfrost
    ? ["blockfrost", await blockfrostOf(ground, blockfrost, progress)] as const
    : ["devnet", devnetPort({ store, bus, log })] as const;
  progress(guaranteesLine(`The provider "${provider}"`, port.guarantees));
  health.network = { provider, answers: port.guarantees.map(({ query, ...rest }) => ({ question: query, ...rest })) };
  return port;
}

async function nodeOf(ground: Ground, path: string, progress: (line: string) => void): Promise<NodePort> {
  const { options, log, health, stops } = ground;
  const port = nodePort({
    address: { path },
    magic: options.networkMagic,
    log: log.with({ room: "node" }),
  });
  stops.push(async () => port.close());
  const checked = await port.check();
  if (checked.ok && checked.value.id !== NETWORK_ID) {
    throw new StartError("The node is on the main network; this program builds for test networks alone.");
  }
  if (!checked.ok && !isTransient(checked.error.code)) throw new StartError(`--node-socket: ${checked.error.message}`);
  if (!checked.ok) progress(`${checked.error.message} It is waited for.`);
  health.checks.set("node", () => nodeCheck(port));
  return port;
}

async function nodeCheck(port: NodePort): Promise<Check> {
  const tip = await port.tip();
  return tip.ok ? { ready: true, says: `at height ${tip.value.height}` } : { ready: false, why: tip.error.message };
}

/** Throws a sentence where the socket that was asked for cannot be: before a devnet begins, which keeps what it began with. */
export function checkSocket({ socket }: Options): void {
  const failure = socket === undefined ? undefined : pathFailure(socket, process.platform);
  if (failure) throw new StartError(`--socket: ${failure.message}`);
}

/**
 * Serves the devnet at its socket. Where nobody asked for a socket, one that cannot be is done without, and a line of progress says so;
 * otherwise that is thrown.
 */
export async function devnetSocket(
  { options, store, bus, log, stops }: Rooms,
  devnet: Devnet,
  progress: (line: string) => void,
): Promise<Place[]> {
  const at = options.socket ?? path.resolve(options.folder, "devnet", "node.socket");
  const unmade = await mkdir(path.dirname(at), { recursive: true }).then(() => undefined, (error: Error) => error);
  const served = unmade
    ? undefined
    : await serveSocket({ path: at, devnet, store, bus, log: log.with({ room: "socket" }) });
  if (served?.ok) {
    stops.push(() => served.value.close());
    return [{ name: "its node socket", at }];
  }
  const why = served ? served.error.message : unmade!.message;
  if (options.socket !== undefined) throw new StartError(`--socket: ${why}`);
  progress(`The devnet has no node socket: ${why} --socket PATH gives it another place.`);
  return [];
}
