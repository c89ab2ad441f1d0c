/** pycardano on the devnet, with its context for Blockfrost. */
import { inject } from "vitest";
import { describeLibrary } from "./libraryScenarios.ts";

const cwd = inject("libraries").pycardano;

describeLibrary({
  name: "pycardano",
  command: cwd === "" ? undefined : { program: "venv/bin/python", args: ["peer.py"], cwd },
  settings: ({ api }) => ({ url: `${api}/v0` }),
});
