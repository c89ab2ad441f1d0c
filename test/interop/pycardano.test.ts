/** pycardano on the devnet, with its contexts for Blockfrost, for Ogmios, and for Ogmios with Kupo. */
import { inject } from "vitest";
import type { LibraryWorld } from "./library.ts";
import { describeLibrary, type Fault } from "./libraryScenarios.ts";

const cwd = inject("libraries").pycardano;

const command = cwd === "" ? undefined : { program: "venv/bin/python", args: ["peer.py"], cwd };

describeLibrary({
  name: "pycardano with Blockfrost",
  command,
  settings: ({ api }) => ({ url: `${api}/v0` }),
});

/** The package `ogmios`, which pycardano uses, takes epoch 0 for an answer that it cannot read. */
const afterFirstEpoch = async (world: LibraryWorld, settings: Record<string, unknown>) => {
  await world.enterEpochs(1);
  return settings;
};

/** Its own cost models of Plutus V1 and V2 have fewer parameters than the network's, and it cuts off the others. */
const CUT: Fault = { because: "which cuts off cost models", error: /'code': 3113/ };
const faults = Object.fromEntries(
  ([1, 2] as const).flatMap((n) => [[`Plutus V${n} spend`, CUT], [`Plutus V${n} mint`, CUT]]),
);

describeLibrary({
  name: "pycardano with Ogmios",
  command,
  settings: (world) => afterFirstEpoch(world, { ogmios: world.ogmios }),
  faults: { ...faults, "reference script": CUT },
  lacks: ["holder of an asset", "transaction"],
});

describeLibrary({
  name: "pycardano with Ogmios and Kupo",
  command,
  // cost models as long as its own
  env: { ARBOR_PROTOCOL_VERSION: "10" },
  settings: (world) => afterFirstEpoch(world, { ogmios: world.ogmios, kupo: world.kupo }),
  lacks: ["holder of an asset", "transaction"],
});
