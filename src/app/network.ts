/** The network that a process works with: a devnet of this deployment, a node, an Ogmios server, a Blockfrost service or a Yaci Store. */
import { sleep } from "#src/base/clock.ts";
import { reason } from "#src/base/log.ts";
import { guaranteesLine } from "#src/chain/provider/guarantees.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { withSpans } from "#src/chain/provider/traced.ts";
import { watchVersion } from "#src/chain/versionWatch.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { isTransient } from "#src/node/errors.ts";
import { connectBlockfrost, connectYaci } from "#src/app/blockfrostNetwork.ts";
import { type AppContext, type Connected, type StartContext, StartError } from "#src/app/context.ts";
import { tipCheck } from "#src/app/health.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import { connectOgmios } from "#src/app/ogmiosNetwork.ts";
import type { Options } from "#src/app/options.ts";

/** What a port to the network needs. */
export type NetworkContext = StartContext & Pick<AppContext, "store" | "bus">;

/**
 * The port to the network that the options name. For an unreachable one it prints a line and does not wait; throws
 * `StartError` where waiting does not help. Prints, and keeps for `/health`, what the provider guarantees of its
 * answers.
 */
export async function connectNetwork(context: NetworkContext): Promise<Connected<ChainPort>> {
  const { options: { nodeSocket, blockfrost, yaci, ogmios }, store, bus, log, health } = context;
  const [provider, { port, reached }] = nodeSocket !== undefined
    ? ["node", await connectNode(context, nodeSocket)] as const
    : blockfrost
    ? ["blockfrost", await connectBlockfrost(context, blockfrost)] as const
    : yaci
    ? ["yaci", await connectYaci(context, yaci)] as const
    : ogmios
    ? ["ogmios", await connectOgmios(context, ogmios)] as const
    : ["devnet", { port: devnetPort({ store, bus, log }), reached: true }] as const;
  // the devnet's answers are exact; /health lists them
  if (provider !== "devnet") context.progress(guaranteesLine(`The provider "${provider}"`, port.guarantees));
  const watched = watchVersion<ChainPort>(port, log, ({ code, message }) => context.progress(`${code}: ${message}`));
  const answers = port.guarantees.map(({ query: question, ...guarantee }) => ({ question, ...guarantee }));
  health.network = () => ({ provider, answers, protocolVersion: { ...watched.status() } });
  if (provider !== "devnet") pollVersion(context, watched.port);
  return { port: withSpans(watched.port, provider), reached };
}

/** Whether the network is the devnet of this deployment. */
export function isDevnet(
  { nodeSocket, blockfrost, yaci, ogmios }: Pick<Options, "nodeSocket" | "blockfrost" | "yaci" | "ogmios">,
): boolean {
  return nodeSocket === undefined && blockfrost === undefined && yaci === undefined && ogmios === undefined;
}

/** Milliseconds between two reads of the protocol version where no build reads it: a network changes it with an epoch. */
const VERSION_MS = 600_000;
/** Milliseconds until the next try after a read that failed. */
const RETRY_MS = 30_000;

/** Reads the parameters at intervals, so that `/health` and the log report a hard fork of the network. A devnet changes no further than its release. */
function pollVersion({ log, stops }: NetworkContext, port: Pick<ChainPort, "parameters">): void {
  const ended = new AbortController();
  stops.push(async () => ended.abort());
  void (async () => {
    while (!ended.signal.aborted) {
      const { ok } = await port.parameters();
      await sleep(ok ? VERSION_MS : RETRY_MS, ended.signal);
    }
  })().catch((error) => log.warn("the watch of the protocol version has stopped", { reason: reason(error) }));
}

async function connectNode(
  { options, log, progress, health, stops }: StartContext,
  path: string,
): Promise<Connected<NodePort>> {
  const port = nodePort({
    address: { path },
    magic: options.networkMagic,
    ...(options.genesisHash === undefined ? {} : { genesisHash: options.genesisHash }),
    log: log.with({ component: "node" }),
  });
  stops.push(async () => port.close());
  const checked = await port.check();
  if (checked.ok) await checkNetwork(options, checked.value.id, port);
  if (!checked.ok && !isTransient(checked.error.code)) throw new StartError(`--node-socket: ${checked.error.message}`);
  if (!checked.ok) progress(`${checked.error.message} Waiting for it.`);
  health.checks.set("node", () => tipCheck(port));
  return { port, reached: checked.ok };
}
