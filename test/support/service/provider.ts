/**
 * A service by the provider that a run selects: ARBOR_SCENARIO_PROVIDER is `devnet` (default), all in one process; or the
 * service is connected to a devnet beside it only by its node socket (`node`), its Ogmios and Kupo APIs (`ogmios`), its
 * Blockfrost API (`blockfrost`), or a Yaci Store in front of that (`yaci`). With ARBOR_SCENARIO_OGMIOS=cbor the Ogmios
 * server speaks version 7, its transactions carry their CBOR, and there is no Kupo.
 */
import { rm } from "node:fs/promises";
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { readBlocks, readNewest } from "#src/devnet/blocks/rows.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { serveYaciStore } from "../blockfrost/yaciStore.ts";
import { socketPath } from "../chain/nodeChain.ts";
import { type Infra, sharedInfra } from "../infra/infra.ts";
import { Arbor, type ArborOptions } from "./arbor.ts";

export type Provider = "devnet" | "node" | "ogmios" | "blockfrost" | "yaci";
const KNOWN: readonly Provider[] = ["devnet", "node", "ogmios", "blockfrost", "yaci"];

/** Providers that answer over HTTP. */
export const SERVICES: readonly Provider[] = ["blockfrost", "yaci"];

export const chosenProvider = KNOWN.find((one) => one === process.env.ARBOR_SCENARIO_PROVIDER);
if (process.env.ARBOR_SCENARIO_PROVIDER && !chosenProvider) {
  throw new Error(`ARBOR_SCENARIO_PROVIDER is one of ${KNOWN.join(", ")}`);
}

/** Whether the run's services have their devnet in their process: only then are its explorer and its faucet theirs. */
export const OWN_DEVNET = chosenProvider === undefined || chosenProvider === "devnet";

/** A Yaci Store in front of a devnet, and the options of a service that reads it; the devnet is the admin host. */
async function yaciOf(far: Infra, blockfrost: string, devnet: string) {
  const store = openStore(far.databaseUrl, { max: 2, application: "test" });
  const bus = await connectBus({ url: far.natsUrl, ...(far.natsToken ? { token: far.natsToken } : {}) });
  const served = await serveYaciStore({
    blockfrost,
    port: devnetPort({ store, bus, log: silentLog }),
    bytes: async (hash) => {
      const { found } = await readNewest(store.sql, [hash]);
      if (!found) return undefined;
      const { blocks: [block] } = await readBlocks(store.sql, found.height, 1);
      return block?.hash === hash ? block.bytes : undefined;
    },
  });
  return {
    env: { ARBOR_YACI_URL: served.url, ARBOR_YACI_ADMIN_URL: devnet },
    end: async () => {
      await served.close();
      await bus.close();
      await store.close();
    },
  };
}

/** How a devnet is an Ogmios server: the usual way, or with everything that can be added to it. */
const WITH_CBOR = process.env.ARBOR_SCENARIO_OGMIOS === "cbor";
const OGMIOS: Readonly<Record<string, string>> = {
  ARBOR_DEVNET_WITHOUT: WITH_CBOR ? "kupo,utxorpc" : "utxorpc",
  ...(WITH_CBOR ? { ARBOR_OGMIOS_VERSION: "7", ARBOR_OGMIOS_INCLUDE_CBOR: "true" } : {}),
};

/** Where a service finds the network of a devnet beside it. */
function connectionTo(devnet: Arbor, provider: "node" | "ogmios" | "blockfrost", socket: string) {
  if (provider === "node") return { ARBOR_NODE_SOCKET: socket };
  if (provider === "blockfrost") return { ARBOR_BLOCKFROST_URL: devnet.places.get("Blockfrost API of the devnet")! };
  const kupo = devnet.places.get("Kupo API of the devnet");
  return {
    ARBOR_OGMIOS_URL: devnet.places.get("Ogmios API of the devnet")!,
    ...(kupo === undefined ? {} : { ARBOR_KUPO_URL: kupo }),
  };
}

/** Options of a service whose network is beside it. */
export type BehindOptions = Pick<ArborOptions, "infra" | "blockMs" | "mining" | "mainnet" | "env">;

/** A service over a provider that is not the devnet in its process, with the devnet as a further service. */
export async function startBehind(
  provider: Exclude<Provider, "devnet">,
  { infra, env = {}, mainnet, ...blocks }: BehindOptions,
): Promise<{ readonly arbor: Arbor; readonly devnet: Arbor; readonly end: () => Promise<void> }> {
  const path = env.ARBOR_SOCKET ?? socketPath();
  const far: Infra = await sharedInfra();
  const network = { ...provider === "ogmios" ? OGMIOS : {}, ...env, ARBOR_SOCKET: path, ARBOR_BUILDERS: "1" };
  // an answer that several requests compose has to be complete within a block
  const slow = SERVICES.includes(provider) && blocks.blockMs === undefined ? { blockMs: 1_000 } : {};
  const options = { infra: far, roles: "devnet", ...blocks, ...slow, env: network };
  const devnet = await Arbor.start({ ...options, ...(mainnet ? { mainnet } : {}) });
  const yaci = provider === "yaci"
    ? await yaciOf(far, devnet.places.get("Blockfrost API of the devnet")!, devnet.devnet)
    : undefined;
  const connection = provider === "yaci" ? yaci?.env : connectionTo(devnet, provider, path);
  // the wallets of signing services are paid by the devnet's faucet; the admin host of a Yaci has it
  const faucet = env.ARBOR_SIGNER_SEED && provider !== "yaci" ? { ARBOR_TOPUP_URL: devnet.devnet } : {};
  const arbor = await Arbor.start({
    infra,
    env: { ...env, ...faucet, ARBOR_PROVIDER: provider, ...connection, ...(mainnet ? { ARBOR_MAINNET: "true" } : {}) },
  });
  return {
    arbor,
    devnet,
    end: async () => {
      await yaci?.end();
      await devnet.end();
      await far.stop();
      await rm(path, { force: true });
    },
  };
}

/**
 * The service of a test that begins with a service of its own: as `Arbor.start`, over the provider of the run. Its
 * devnet's places are among its own.
 */
export async function startService(options: BehindOptions): Promise<Arbor> {
  if (chosenProvider === undefined || chosenProvider === "devnet") return await Arbor.start(options);
  const { arbor, devnet, end } = await startBehind(chosenProvider, options);
  return arbor.beside(devnet, end);
}
