/** Operations of the group Health. */
import { VERSION } from "#src/base/version.ts";
import { get, type Operation } from "#src/edge/blockfrost/operation.ts";

/** Blockfrost's own URL stands in the answer of the root: clients recognize the API by it. */
export const healthOperations = (): Operation[] => [
  get("/", async () => ({ url: "https://blockfrost.io/", version: VERSION })),
  get("/health", async () => ({ is_healthy: true })),
  get("/health/clock", async () => ({ server_time: Date.now() })),
];
