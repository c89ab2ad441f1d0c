/** The options of the program `signer`: those of a start, and those that a signing service is known by. */
import process from "node:process";
import type { Result } from "#src/base/result.ts";
import { type BadOption, type OptionAliases, renamer, type Values } from "#src/app/optionReader.ts";
import { HELP, type Options, readOptions } from "#src/app/options.ts";

export const SIGNER_PROGRAM_HELP = `Signing service of one wallet, for development and tests only.

  --seed FILE             file with the wallet's mnemonic, words separated by spaces (required)
  -g, --generate          write a new mnemonic to the file at every start: another wallet, the old words are lost
  --port N                port of the service (3000)
  --provider P            devnet: in this process; yaci, node, ogmios, blockfrost: an outside network (devnet)
  --yaci-store-host URL   Yaci Store, with --provider yaci
  --yaci-admin-host URL   admin host of Yaci DevKit, whose faucet pays top-ups
  --database-path DIR     folder of the data, of which each port has its own (.arbor-signer)

With a DATABASE_URL and ARBOR_ROLES=signer it is a part of a deployment; otherwise it runs everything that it needs,
with its other services at free ports. The options of a start are there too.

${HELP}`;

export const SIGNERS_HELP =
  `Three signing services and a devnet, for development and tests only: an owner and two requesters.

They listen on 3000, 3002 and 3004, the token service on 3001. Mnemonics and data are in .arbor-signer; files of mnemonics
that are missing are written. The options of a start are there too.

${HELP}`;

interface SignerRules {
  /** A devnet and three wallets, whose files are written where they are missing. */
  readonly three: boolean;
}

/** Roles in the examples of this API: the owner of a token and two requesters, with their usual ports. */
const THREE = { names: ["charlie", "bob", "alice"], ports: [3000, 3002, 3004] };
/** Default of the token service's port beside three wallets. */
const TOKEN_PORT = 3001;
const FOLDER = ".arbor-signer";

/** Options at free ports unless they are set: several of these programs may run on one machine. */
const FREE = ["token-port", "wallet-port", "operator-port", "nats-port"];
const FREE_OF_DEVNET = ["devnet-port", "indexer-port", "node-port", "ogmios-port", "kupo-port", "utxorpc-port"];

/** The own options that those of one wallet stand for, but for the admin host: its own one depends on the provider. */
const OWN: OptionAliases["own"] = {
  seed: "signer-seed",
  port: "signer-port",
  generate: "signer-generate",
  "yaci-store-host": "yaci-url",
};

const aliases = ({ three }: SignerRules): OptionAliases => ({
  names: ["seed", "port", "yaci-store-host", "yaci-admin-host", "database-path"],
  flags: ["generate"],
  shorts: { generate: "g" },
  own: three ? {} : OWN,
  translate(values, env, problem) {
    const {
      seed,
      generate,
      port,
      "yaci-store-host": store,
      "yaci-admin-host": admin,
      "database-path": database,
      ...own
    } = values;
    const given: Record<string, Values[string]> = { ...own };
    const rename = renamer(given, problem);
    const inEnv = (name: string) => env["ARBOR_" + name.toUpperCase().replaceAll("-", "_")];
    const unlessSet = (name: string, value: string) => given[name] ??= inEnv(name) || value;
    // what is no number is a problem where it is read
    const offset = Number(given["port-offset"] ?? inEnv("port-offset")) || 0;
    rename("seed", seed, "signer-seed");
    rename("port", port, "signer-port");
    rename("generate", generate ? "always" : undefined, "signer-generate");
    if (store !== undefined) {
      given.provider ??= "yaci";
      rename("yaci-store-host", storeUrl(String(store)), "yaci-url");
    }
    if (admin !== undefined) {
      if ((given.provider ?? inEnv("provider")) === "yaci") rename("yaci-admin-host", admin, "yaci-admin-url");
      else rename("yaci-admin-host", admin, "topup-url");
    }
    if (three) {
      unlessSet("signer-seed", THREE.names.map((name) => `${FOLDER}/${name}.seed`).join(","));
      unlessSet("signer-port", THREE.ports.map((port) => port + offset).join(","));
      unlessSet("signer-generate", "missing");
      unlessSet("token-port", String(TOKEN_PORT + offset));
    } else if (!unlessSet("signer-seed", "")) {
      problem("--seed FILE is required");
    } else {
      for (const name of FREE) unlessSet(name, "0");
      if ((given.provider ?? inEnv("provider") ?? "devnet") === "devnet") {
        for (const name of FREE_OF_DEVNET) unlessSet(name, "0");
      }
    }
    const place = three ? "three" : String(unlessSet("signer-port", String(3000 + offset)));
    if (given["in-memory"] === undefined) unlessSet("folder", `${database ?? FOLDER}/${place}`);
    // as the clients of this service expect them
    unlessSet("fact-slots", "true");
    return given;
  },
});

/** The URL of Yaci Store's API at a host. */
function storeUrl(host: string): string {
  const base = host.replace(/\/+$/, "");
  return /\/api\/v1$/.test(base) ? base : `${base}/api/v1`;
}

/** Reads the options of `signer`. */
export function readSignerOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  rules: SignerRules = { three: false },
): Result<Options | "help", BadOption> {
  return readOptions(args, env, aliases(rules));
}
