/** The embedded NATS endpoint in its own process, for tests that kill it. */
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";

const { port, token } = JSON.parse(process.env.ARBOR_TEST_NATS!) as { port: number; token: string };
const endpoint = await startNatsEndpoint({ port, token, log: createLog("error") });
process.on("SIGTERM", () => void endpoint.stop().then(() => process.exit(0)));
