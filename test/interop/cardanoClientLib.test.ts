/** cardano-client-lib on the devnet, with its backend for Blockfrost. */
import { expect, inject, test } from "vitest";
import { describeLibrary } from "./libraryScenarios.ts";

const cwd = inject("libraries")["cardano-client-lib"];

describeLibrary({
  name: "cardano-client-lib",
  command: cwd === "" ? undefined : { program: "java", args: ["-cp", "classes:lib/*", "Peer"], cwd },
  settings: ({ api }) => ({ url: `${api}/v0` }),
  args: { "DRep delegation": { signers: 1 } },
  more: ({ peer }) => {
    test("its fee for a vote delegation lacks the stake key's signature unless it is stated", async () => {
      await expect(peer().call("vote")).rejects.toThrow(/FeeTooSmallUTxO/);
    });
  },
});
