/** Blockfrost's own client. It builds no transactions: the test submits and evaluates those of others through it. */
import { BlockFrostAPI } from "@blockfrost/blockfrost-js";
import { serve } from "./serve.mjs";

await serve(({ url }) => {
  const api = new BlockFrostAPI({ customBackend: url });
  return {
    /** Calls a function of the client, with its arguments. */
    api: ({ name, args = [] }) => api[name](...args),
    /** All functions of the client. */
    names: () => Object.keys(api).filter((name) => typeof api[name] === "function" && name !== "instance"),
  };
});
