/** The contract's blueprint (CIP-57): its code, its hash, and the schemas of its datums and redeemers. */
import { toHex } from "#src/base/bytes.ts";
import { validator } from "#src/cage/contract/validator.ts";
import type { CageScript } from "#src/cage/script.ts";
import { type BuildOptions, compiled, program, scriptHash } from "#src/cage/uplc/program.ts";

/** Version of the contract; a change of its code is another version once one was published. */
const VERSION = "2.0.0";

/** Builds the contract: code as in `CageScript`, and its hash. Without options it is the published code. */
export function buildScript(options: BuildOptions = {}): CageScript {
  const compiledCode = compiled(program(validator, options));
  return { version: VERSION, hash: scriptHash(compiledCode), compiledCode };
}

type Schema = { readonly [property: string]: unknown };

const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const bytes = ref("Bytes");
const int = ref("Int");

function constructor(title: string, index: number, ...fields: readonly (readonly [string, Schema])[]): Schema {
  return {
    title,
    dataType: "constructor",
    index,
    fields: fields.map(([name, schema]) => ({ title: name, ...schema })),
  };
}

const definitions: { readonly [name: string]: Schema } = {
  Int: { dataType: "integer" },
  Bytes: { dataType: "bytes" },
  OutputReference: constructor("OutputReference", 0, ["transactionId", bytes], ["outputIndex", int]),
  Token: constructor("Token", 0, ["policy", bytes], ["name", bytes]),
  Credential: {
    anyOf: [constructor("VerificationKey", 0, ["hash", bytes]), constructor("Script", 1, ["hash", bytes])],
  },
  StakePart: {
    anyOf: [
      constructor("Some", 0, ["stake", constructor("Inline", 0, ["credential", ref("Credential")])]),
      constructor("None", 1),
    ],
  },
  KeyAddress: constructor(
    "KeyAddress",
    0,
    ["payment", constructor("VerificationKey", 0, ["hash", bytes])],
    ["stake", ref("StakePart")],
  ),
  Operation: {
    anyOf: [
      constructor("Insert", 0, ["value", bytes]),
      constructor("Delete", 1, ["value", bytes]),
      constructor("Update", 2, ["old", bytes], ["value", bytes]),
    ],
  },
  Request: constructor(
    "Request",
    0,
    ["token", ref("Token")],
    ["refund", ref("KeyAddress")],
    ["fee", int],
    ["key", bytes],
    ["operation", ref("Operation")],
  ),
  State: constructor("State", 0, ["owner", bytes], ["root", bytes]),
  Datum: {
    anyOf: [
      constructor("RequestDatum", 0, ["request", ref("Request")]),
      constructor("StateDatum", 1, ["state", ref("State")]),
    ],
  },
  ProofStep: {
    anyOf: [
      constructor("Branch", 0, ["skip", int], ["neighbors", bytes]),
      constructor("Fork", 1, ["skip", int], [
        "neighbor",
        constructor("Neighbor", 0, ["nibble", int], ["prefix", bytes], ["root", bytes]),
      ]),
      constructor("Leaf", 2, ["skip", int], ["key", bytes], ["value", bytes]),
    ],
  },
  Action: {
    anyOf: [
      constructor("Apply", 0, ["proof", { dataType: "list", items: ref("ProofStep") }]),
      constructor("Skip", 1),
    ],
  },
  SpendRedeemer: {
    anyOf: [
      constructor("End", 0),
      constructor("Contribute", 1),
      constructor("Modify", 2, ["actions", { dataType: "list", items: ref("Action") }]),
      constructor("Retract", 3),
      constructor("ModifyCrowned", 4, ["crown", bytes], ["actions", { dataType: "list", items: ref("Action") }]),
    ],
  },
  MintRedeemer: {
    anyOf: [
      constructor("Minting", 0, ["token", constructor("Seed", 0, ["reference", ref("OutputReference")])]),
      constructor("Burning", 1),
    ],
  },
};

/** The blueprint as a JSON document. */
export function blueprint(): Schema {
  const { version, hash, compiledCode } = buildScript();
  const code = { compiledCode: toHex(compiledCode), hash };
  return {
    preamble: {
      title: "arbor/cage",
      description: "Tokens whose facts hang under a Merkle Patricia Forestry root, and requests to change them",
      version,
      plutusVersion: "v3",
      license: "Apache-2.0",
    },
    validators: [
      {
        title: "cage.spend",
        datum: { title: "datum", schema: ref("Datum") },
        redeemer: { title: "redeemer", schema: ref("SpendRedeemer") },
        ...code,
      },
      { title: "cage.mint", redeemer: { title: "redeemer", schema: ref("MintRedeemer") }, ...code },
    ],
    definitions,
  };
}
