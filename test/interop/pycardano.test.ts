/** pycardano on the devnet, with its contexts for Blockfrost, for Ogmios, and for Ogmios with Kupo. */
import { inject } from "vitest";
import { describeLibrary } from "./libraryScenarios.ts";

const cwd = inject("libraries").pycardano;

const command = cwd === "" ? undefined : { program: "venv/bin/python", args: ["peer.py"], cwd };

describeLibrary({
  name: "pycardano with Blockfrost",
  command,
  settings: ({ api }) => ({ url: `${api}/v0` }),
});

describeLibrary({
  name: "pycardano with Ogmios",
  command,
  settings: ({ ogmios }) => ({ ogmios }),
  lacks: ["holder of an asset", "transaction"],
});

describeLibrary({
  name: "pycardano with Ogmios and Kupo",
  command,
  settings: ({ ogmios, kupo }) => ({ ogmios, kupo }),
  lacks: ["holder of an asset", "transaction"],
});
