/** The ports of a process, each with its service and its option, and a check of all of them before anything starts. */
import path from "node:path";
import { EmbeddedError } from "#src/embedded/postgres/errors.ts";
import { lockHolder } from "#src/embedded/postgres/lock.ts";
import { checkPort, portTaken, type PortUse } from "#src/embedded/postgres/ports.ts";
import { StartError } from "#src/app/context.ts";
import type { Options } from "#src/app/options.ts";

/** A port and the address at which it is used. */
export interface HostPort extends PortUse {
  readonly host: string;
}

/** An option as messages name it. */
const typed = (name: string, { typedAs }: Options): string => `--${typedAs?.[name] ?? name}`;

/** The port of the token service. */
export function tokenPort({ host, tokenPort: port }: Options): HostPort {
  return { service: "the token service", host, port, option: "--token-port" };
}

/** The port of the wallet service. */
export function walletPort(options: Options): HostPort {
  const { walletHost: host, walletPort: port } = options;
  const hostOption = typed("wallet-host", options);
  return { service: "the wallet service", host, port, option: typed("wallet-port", options), hostOption };
}

/** The second port of the wallets' page; undefined where it is off. */
export function walletUiPort(options: Options): HostPort | undefined {
  const { walletHost: host, walletUiPort: port } = options;
  const option = typed("wallet-ui-port", options);
  const hostOption = typed("wallet-host", options);
  return port === undefined ? undefined : { service: "the wallets' page", host, port, option, hostOption };
}

/** The port for health checks of a process; undefined where it is off. */
export function healthPort({ host, healthPort: port }: Options): HostPort | undefined {
  return port === undefined ? undefined : { service: "the health port", host, port, option: "--health-port" };
}

/** The port of the operator service. */
export function operatorPort({ operatorHost: host, operatorPort: port }: Options): HostPort {
  const hostOption = "--operator-host or --host";
  return { service: "the operator service", host, port, option: "--operator-port", hostOption };
}

/** The ports of the signing services. */
export function signerPorts(options: Options): HostPort[] {
  const { instances = [], host = "" } = options.signers ?? {};
  const option = typed("signer-port", options);
  return instances.map(({ seed, port }) => {
    const hostOption = "--signer-host or --host";
    return { service: `the signing service of ${seed}`, host, port, option, hostOption };
  });
}

/** The port of the embedded NATS endpoint. */
export function natsPort({ host, natsPort: port }: Options): HostPort {
  return { service: "the NATS endpoint", host, port, option: "--nats-port" };
}

/** The port of the devnet's HTTP service. */
export function devnetPort({ host, devnetPort: port }: Options): HostPort {
  return { service: "the devnet", host, port, option: "--devnet-port" };
}

/** The port of the devnet's Blockfrost API. */
export function indexerPort({ host, indexerPort: port }: Options): HostPort {
  return { service: "the devnet's Blockfrost API", host, port, option: "--indexer-port" };
}

/** The port of the devnet's node socket over TCP. */
export function nodePort({ host, nodePort: port }: Options): HostPort {
  return { service: "the devnet's node socket over TCP", host, port, option: "--node-port" };
}

/** The port of the devnet's Ogmios API. */
export function ogmiosPort({ host, ogmiosPort: port }: Options): HostPort {
  return { service: "the devnet's Ogmios API", host, port, option: "--ogmios-port" };
}

/** The port of the devnet's Kupo API. */
export function kupoPort({ host, kupoPort: port }: Options): HostPort {
  return { service: "the devnet's Kupo API", host, port, option: "--kupo-port" };
}

/** The port of the devnet's UTxO RPC. */
export function utxorpcPort({ host, utxorpcPort: port }: Options): HostPort {
  return { service: "the devnet's UTxO RPC", host, port, option: "--utxorpc-port" };
}

/** The port of the devnet's MCP server, at loopback; undefined where it is off. */
export function mcpPort({ mcpPort: port }: Options): HostPort | undefined {
  if (port === undefined) return undefined;
  return { service: "the devnet's MCP server", host: "127.0.0.1", port, option: "--mcp-port" };
}

/** The ports that a process will listen on. */
function portsOf(options: Options): HostPort[] {
  const { roles, natsUrl, devnetWithout } = options;
  const ports = [
    natsUrl ? undefined : natsPort(options),
    healthPort(options),
    ...(roles.has("devnet")
      ? [
        devnetPort(options),
        devnetWithout.has("blockfrost") ? undefined : indexerPort(options),
        devnetWithout.has("tcp") ? undefined : nodePort(options),
        devnetWithout.has("ogmios") ? undefined : ogmiosPort(options),
        devnetWithout.has("kupo") ? undefined : kupoPort(options),
        devnetWithout.has("utxorpc") ? undefined : utxorpcPort(options),
        mcpPort(options),
      ]
      : []),
    ...(roles.has("edge")
      ? [tokenPort(options), operatorPort(options), walletPort(options), walletUiPort(options)]
      : []),
    ...(roles.has("signer") ? signerPorts(options) : []),
  ];
  return ports.filter((use) => use !== undefined);
}

/**
 * Checks that the ports are free.
 *
 * @throws {StartError} with one sentence about all ports that are taken, so that a second process on a machine need not
 * be started once for each of them
 */
export async function checkPorts(options: Options): Promise<void> {
  const checked = await Promise.all(
    portsOf(options).filter(({ port }) => port !== 0).map((use) =>
      checkPort(use, use.host).then(() => [], (error) => {
        if (error instanceof EmbeddedError && error.code === "bad_address") throw error;
        // what else can be wrong with an address is said by the service that listens on it
        return error instanceof EmbeddedError && error.code === "port_taken" ? [use] : [];
      })
    ),
  );
  const taken = checked.flat();
  const [first] = taken;
  if (first === undefined) return;
  const running = options.databaseUrl === undefined ? lockHolder(path.join(options.folder, "postgres")) : undefined;
  if (running !== undefined) {
    throw new StartError(
      `Process ${running} runs with the data in ${options.folder} already, and port ${first.port} is taken. ` +
        "Stop that process, or start another one with --folder DIR --port-offset N.",
    );
  }
  if (taken.length === 1) throw portTaken(first);
  const list = taken.map(({ port, service, option }) => `${port} for ${service} (${option})`).join(", ");
  throw new StartError(
    `These ports are used by other programs: ${list}. Stop those programs, or choose other ports: ` +
      "each with its option, or all with --port-offset N.",
  );
}
