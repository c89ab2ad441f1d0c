/** Lucid Evolution on the devnet, with its providers for Blockfrost, and for Kupo and Ogmios. */
import { javascriptPeer } from "./library.ts";
import { describeLibrary } from "./libraryScenarios.ts";

describeLibrary({
  name: "@lucid-evolution/lucid with Blockfrost",
  command: javascriptPeer("lucid"),
  settings: ({ api }) => ({ url: `${api}/v0` }),
  lacks: ["transaction"],
});

describeLibrary({
  name: "@lucid-evolution/lucid with Kupmios",
  command: javascriptPeer("lucid"),
  settings: ({ kupo, ogmios }) => ({ kupo, ogmios }),
  faults: {
    account: { because: "which expects another name for keys", error: /Expected "key", actual "verificationKey"/ },
  },
  lacks: ["transaction"],
});
