/** Evolution SDK on the devnet, with its provider for Blockfrost. */
import { javascriptPeer } from "./library.ts";
import { describeLibrary } from "./libraryScenarios.ts";

describeLibrary({
  name: "@evolution-sdk/evolution",
  command: javascriptPeer("evolution"),
  settings: ({ api }) => ({ url: `${api}/v0` }),
  lacks: ["transaction"],
  faults: {
    "Plutus V1 spend": {
      because: "which puts no datum into the witness set: outputs with the hash of a datum cannot be spent",
      error: /evaluation failed/,
    },
  },
});
