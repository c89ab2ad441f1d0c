/** Files of a node, recognised by their content: which one an option was given, and which one it takes. */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { fileFault } from "#src/base/fileFault.ts";
import { isObject, type Json, parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

/** Files by a member that only they have; a name in two lists belongs to the first. */
const KINDS = {
  configuration: {
    title: "the configuration of a node",
    name: "config.json",
    members: ["ByronGenesisFile", "ShelleyGenesisFile", "ConwayGenesisFile"],
  },
  byron: {
    title: "a Byron genesis",
    name: "byron-genesis.json",
    members: ["protocolConsts", "bootStakeholders", "avvmDistr"],
  },
  shelley: { title: "a Shelley genesis", name: "shelley-genesis.json", members: ["genDelegs", "activeSlotsCoeff"] },
  alonzo: { title: "an Alonzo genesis", name: "alonzo-genesis.json", members: ["lovelacePerUTxOWord"] },
  conway: {
    title: "a Conway genesis",
    name: "conway-genesis.json",
    members: [
      ...["constitution", "committee", "delegs", "initialDReps", "plutusV3CostModel"],
      ...["poolVotingThresholds", "dRepVotingThresholds", "committeeMinSize", "committeeMaxTermLength"],
      ...["govActionLifetime", "govActionDeposit", "dRepDeposit", "dRepActivity", "minFeeRefScriptCostPerByte"],
    ],
  },
  topology: {
    title: "the topology of a node",
    name: "topology.json",
    members: ["bootstrapPeers", "localRoots", "publicRoots", "Producers"],
  },
  dbSync: { title: "a configuration of cardano-db-sync", name: "db-sync-config.json", members: ["NodeConfigFile"] },
  parameters: { title: "protocol parameters of cardano-cli", name: "pp.json", members: ["txFeePerByte", "txFeeFixed"] },
} as const;
export type NodeFile = keyof typeof KINDS;

/** The members of a configuration that name genesis files. */
const GENESIS_FILES: Partial<Record<NodeFile, string>> = {
  byron: "ByronGenesisFile",
  shelley: "ShelleyGenesisFile",
  conway: "ConwayGenesisFile",
};

/** Which file of a node a JSON value is; undefined where it is none that is known. */
export function nodeFileOf(json: Json): NodeFile | undefined {
  if (!isObject(json)) return undefined;
  const kinds = Object.keys(KINDS) as NodeFile[];
  return kinds.find((kind) => KINDS[kind].members.some((member) => Object.hasOwn(json, member)));
}

/**
 * Why a file of a node is not the wanted one, with the path of that where it is known; undefined for the wanted one and
 * for JSON that is no file of a node.
 */
export function otherNodeFile(file: string, json: Json, wanted: NodeFile): string | undefined {
  const found = nodeFileOf(json);
  if (found === undefined || found === wanted) return undefined;
  const folder = path.dirname(file);
  const member = found === "configuration" ? GENESIS_FILES[wanted] : undefined;
  const named = member !== undefined && isObject(json) ? json[member] : undefined;
  const beside = path.join(folder, KINDS[wanted].name);
  const instead = typeof named === "string"
    ? path.resolve(folder, named)
    : existsSync(beside)
    ? beside
    : `its ${KINDS[wanted].name}`;
  return `${file} is ${KINDS[found].title}, not ${KINDS[wanted].title}: give ${instead}`;
}

type BadFile = Failure<"bad_file">;

const hash = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits").optional();
/** What is read of the configuration. */
const configuration = z.object({
  ByronGenesisFile: z.string().min(1),
  ByronGenesisHash: hash,
  ShelleyGenesisFile: z.string().min(1),
  ShelleyGenesisHash: hash,
  RequiresNetworkMagic: z.enum(["RequiresMagic", "RequiresNoMagic"]),
  TestShelleyHardForkAtEpoch: z.int().min(0).optional(),
});

/** Reads the configuration of a node; another file of it is named, with the path of the configuration. */
export function readConfiguration(file: string): Result<z.output<typeof configuration>, BadFile> {
  const text = readBytes(file);
  if (!text.ok) return text;
  if (/^ByronGenesisFile:/m.test(new TextDecoder().decode(text.value))) {
    return fail("bad_file", `${file} is the configuration of a node in YAML: give the same in JSON, as config.json`);
  }
  const json = readJson(text.value, file);
  if (!json.ok) return json;
  const other = otherNodeFile(file, json.value, "configuration");
  if (other !== undefined) return fail("bad_file", other);
  return readShape(configuration, json.value, file, "configuration of a node");
}

export function readBytes(file: string): Result<Uint8Array, BadFile> {
  try {
    return ok(readFileSync(file));
  } catch (error) {
    return fail("bad_file", `${file} cannot be read: ${fileFault(error)}`);
  }
}

export function readJson(text: Uint8Array, file: string): Result<Json, BadFile> {
  try {
    return ok(parseJson(new TextDecoder().decode(text)));
  } catch (error) {
    return fail("bad_file", `${file} is not JSON: ${reason(error)}`);
  }
}

/** JSON in a form; `what` names the file that has it. */
export function readShape<T>(shape: z.ZodType<T>, json: Json, file: string, what: string): Result<T, BadFile> {
  const read = shape.safeParse(json);
  if (read.success) return ok(read.data);
  const [{ path: at = [], message } = {}] = read.error.issues;
  return fail("bad_file", `${file} is not the ${what} (${at.join(".") || "the file"}: ${message})`);
}

/** What a file of a node is, for a sentence. */
export const titleOf = (kind: NodeFile): string => KINDS[kind].title;
