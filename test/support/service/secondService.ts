/**
 * A second service on the network of a scenario: its own process, database and bus; it shares only the devnet's socket.
 */
import { createLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { Arbor } from "./arbor.ts";
import { sharedInfra } from "../infra/infra.ts";

export interface SecondService {
  readonly arbor: Arbor;
  stop(): Promise<void>;
}

export async function startSecondService(socket: string): Promise<SecondService> {
  const token = "of the service beside";
  const [infra, nats] = await Promise.all([
    sharedInfra(),
    startNatsEndpoint({ port: 0, token, log: createLog("warn") }),
  ]);
  const arbor = await Arbor.start({
    ownProcess: true,
    infra: { ...infra, natsUrl: nats.url, natsToken: token },
    env: { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: socket, ARBOR_BUILDERS: "1" },
  });
  const stop = async () => {
    await arbor.end();
    await nats.stop();
    await infra.stop();
  };
  return { arbor, stop };
}
