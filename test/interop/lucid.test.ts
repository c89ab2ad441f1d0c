/** Lucid Evolution on the devnet, with its provider for Blockfrost. */
import { javascriptPeer } from "./library.ts";
import { describeLibrary } from "./libraryScenarios.ts";

describeLibrary({
  name: "@lucid-evolution/lucid",
  command: javascriptPeer("lucid"),
  settings: ({ api }) => ({ url: `${api}/v0` }),
  lacks: ["transaction"],
});
