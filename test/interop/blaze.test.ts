/** Blaze on the devnet, with its providers for Blockfrost, and for Kupo and Ogmios. */
import { expect, test } from "vitest";
import { javascriptPeer } from "./library.ts";
import { describeLibrary } from "./libraryScenarios.ts";

describeLibrary({
  name: "@blaze-cardano/query with Blockfrost",
  command: javascriptPeer("blaze"),
  settings: ({ api }) => ({ url: `${api}/v0` }),
  lacks: ["account", "transaction"],
  more: ({ peer, world }) => {
    test("it takes an address without a transaction for an error, on Blockfrost as well", async () => {
      await expect(peer().call("outputs", { at: world().fresh() })).rejects.toThrow(/has not been found/);
    });
  },
});

describeLibrary({
  name: "@blaze-cardano/query with Kupmios",
  command: javascriptPeer("blaze"),
  settings: ({ kupo, ogmios }) => ({ kupo, ogmios: ogmios.replace(/^http/, "ws") }),
  lacks: ["account", "transaction"],
});
