/** Operations of the group Health. */
import type { Context } from "hono";
import { accepts } from "hono/accepts";
import { VERSION } from "#src/base/version.ts";
import { get, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";

/** Stands in the answer of the root: clients recognize the API by it. */
const BLOCKFROST = "https://blockfrost.io/";

/** Whether the request is a browser's, which gets the page instead of the answer. */
const forPeople = (context: Context) =>
  accepts(context, { header: "Accept", supports: ["application/json", "text/html"], default: "application/json" }) ===
    "text/html";

/** The operations. */
export const healthOperations = (): Operation[] => [
  get(
    "/",
    async (_, { context }) => forPeople(context) ? context.redirect("/") : { url: BLOCKFROST, version: VERSION },
  ),
  get("/health", async () => ({ is_healthy: true })),
  get("/health/clock", async () => ({ server_time: Date.now() })),
];
