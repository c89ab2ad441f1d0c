/** Mesh on the devnet, with its providers for Blockfrost, Yaci, Ogmios and UTxO RPC. */
import { expect, test } from "vitest";
import { javascriptPeer, type LibraryWorld, policy, REDEEMER, startPeer, WORDS } from "./library.ts";
import { describeLibrary } from "./libraryScenarios.ts";

const command = javascriptPeer("mesh");

describeLibrary({
  name: "@meshsdk/core with BlockfrostProvider",
  command,
  settings: ({ api }) => ({ provider: "blockfrost", url: `${api}/v0` }),
});

describeLibrary({
  name: "@meshsdk/core with OgmiosProvider to evaluate and submit",
  command,
  settings: ({ api, ogmios }) => ({ provider: "blockfrost", url: `${api}/v0`, ogmios: ogmios.replace(/^http/, "ws") }),
});

/** The devnet's cost models: some of Mesh's providers do not read them. */
async function costModels({ api }: LibraryWorld): Promise<readonly unknown[]> {
  const parameters = await (await fetch(`${api}/v1/epochs/latest/parameters`)).json();
  const { PlutusV1, PlutusV2, PlutusV3 } = parameters.cost_models_raw;
  return [PlutusV1, PlutusV2, PlutusV3];
}

describeLibrary({
  name: "@meshsdk/core with U5CProvider",
  command,
  env: { ARBOR_UTXORPC_INTEGERS: "true" },
  settings: async (world) => ({ provider: "utxorpc", url: world.utxorpc, costModels: await costModels(world) }),
  lacks: ["account", "transaction", "holder of an asset"],
});

const yaci = ({ api, devnet }: LibraryWorld) => ({ provider: "yaci", url: `${api}/v1/`, adminUrl: devnet });

describeLibrary({
  name: "@meshsdk/core with YaciProvider",
  command,
  settings: async (world) => ({ ...yaci(world), costModels: await costModels(world) }),
  more: ({ peer, world }) => {
    test("its admin URL is the devnet's", async () => {
      const { address } = await peer().call<{ address: string }>("address");
      const held = async () =>
        (await world().outputs(address)).reduce((sum, { output }) => sum + output.value.lovelace, 0n);
      const before = await held();
      await peer().call("topUp", { ada: 5 });
      expect(await held()).toBe(before + 5_000_000n);
      expect(await peer().call("information")).toMatchObject({ protocolMagic: 42, blockProducer: true });
      expect(await peer().call("genesis", { era: "shelley" })).toMatchObject({ networkMagic: 42, epochLength: 200 });
      expect(await peer().call("genesis", { era: "conway" })).toHaveProperty("plutusV3CostModel");
    });

    test("it does not read cost models, and those that it has itself are not mainnet's of protocol version 11", async () => {
      const peer = startPeer(command!, { words: WORDS, ...yaci(world()) });
      try {
        for (const language of [1, 2, 3] as const) {
          const { script } = policy(language);
          const minting = peer.call("mintByScript", { language, script, quantity: 1, redeemer: REDEEMER });
          await expect(minting).rejects.toThrow(/ScriptIntegrityHashMismatch/);
        }
      } finally {
        await peer.stop();
      }
    });
  },
});
