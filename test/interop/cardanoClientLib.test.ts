/** cardano-client-lib on the devnet, with its backends for Blockfrost, and for Kupo and Ogmios. */
import { expect, inject, test } from "vitest";
import { describeLibrary } from "./libraryScenarios.ts";

const cwd = inject("libraries")["cardano-client-lib"];

const command = cwd === "" ? undefined : { program: "java", args: ["-cp", "classes:lib/*", "Peer"], cwd };

describeLibrary({
  name: "cardano-client-lib with Blockfrost",
  command,
  settings: ({ api }) => ({ url: `${api}/v0` }),
  args: { "DRep delegation": { signers: 1 } },
  more: ({ peer }) => {
    test("its fee for a vote delegation lacks the stake key's signature unless it is stated", async () => {
      await expect(peer().call("vote")).rejects.toThrow(/FeeTooSmallUTxO/);
    });
  },
});

describeLibrary({
  name: "cardano-client-lib with Kupo and Ogmios",
  command,
  // its newest backend for Ogmios, 0.6.2, reads no cost model that has more entries
  env: { ARBOR_PROTOCOL_VERSION: "9" },
  settings: ({ kupo, ogmios }) => ({ kupo: `${kupo}/`, ogmios: `${ogmios}/` }),
  args: { "DRep delegation": { signers: 1 } },
  faults: {
    "reference script": { because: "whose backend gives it no scripts", error: /"scriptSupplier" is null/ },
  },
  lacks: ["account", "transaction", "holder of an asset"],
});
