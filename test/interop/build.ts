/**
 * Builds and installs other implementations before the tests; if that is not possible, prints a message, and their
 * tests are skipped.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { done, here, printed, root } from "./tools.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Folder with the program of Dingo and the configuration of its devnet; empty if it could not be built. */
    dingo: string;
    /** Program of the relay on gouroboros; empty if it could not be built. */
    relay: string;
    /** Program of the relay on pallas; empty if it could not be built. */
    pallas: string;
    /** Program of plutigo's Plutus machine; empty if it could not be built. */
    plutigo: string;
    /** Program of Rust's clients for Ogmios and UTxO RPC; empty if it could not be built. */
    rustClients: string;
    /** Program of Go's client for UTxO RPC; empty if it could not be built. */
    utxorpcGo: string;
    /** Program of readers and a witness of transparency logs; empty if it could not be built. */
    tlogPeer: string;
    /** Program of aiken's Plutus machine; empty if it could not be built. */
    uplc: string;
    /** Folder of npm's cardano-wallet-js; empty if it could not be installed. */
    walletJs: string;
    /** Folder of yaci-cli and its configuration; empty if it could not be installed. */
    yaci: string;
  }
}

const YACI = "@bloxbean/yaci-devkit-linux-x64";
const YACI_VERSION = "0.10.6";

/** Builds a Go module of this folder. */
function goProgram(module: string, name: string, without: string): string {
  const program = path.join(root, name);
  const args = ["build", "-buildvcs=false", "-mod=readonly", "-o", program, "."];
  const env = { CGO_ENABLED: "0", GOTOOLCHAIN: "local" };
  return done("go", args, here(module), env, without) ? program : "";
}

const DINGO = "github.com/blinklabs-io/dingo";
const DINGO_VERSION = "v0.72.0";

/**
 * The node Dingo, without its archives of blocks: the module of their protocol is not on every proxy. The first build
 * takes some minutes; its modules are checked against the checksums that it states.
 */
function dingo(): string {
  const folder = path.join(root, `dingo-${DINGO_VERSION}`);
  const source = path.join(folder, "source");
  if (existsSync(path.join(folder, "dingo"))) return folder;
  const without = "Without it no whole node of others is under the services.";
  const env = { CGO_ENABLED: "0", GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod" };
  const found = printed("go", ["mod", "download", "-json", `${DINGO}@${DINGO_VERSION}`], root, env, without);
  if (found === undefined) return "";
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  if (!done("cp", ["-r", "--no-preserve=mode", JSON.parse(found).Dir, source], root, {}, without)) return "";
  const bark = path.join(source, "bark");
  for (const name of readdirSync(bark)) rmSync(path.join(bark, name));
  copyFileSync(here("dingo/bark.go.txt"), path.join(bark, "bark.go"));
  const bursa = "github.com/blinklabs-io/bursa";
  const changes = ["-replace", `${bursa}=${bursa}@v0.18.0`, "-droprequire", "github.com/blinklabs-io/bark"];
  if (!done("go", ["mod", "edit", ...changes], source, env, without)) return "";
  const build = ["-n", "10", "go", "build", "-buildvcs=false", "-o", path.join(folder, "dingo"), "./cmd/dingo"];
  if (!done("nice", build, source, env, without)) return "";
  cpSync(path.join(source, "config", "cardano", "devnet"), path.join(folder, "devnet"), { recursive: true });
  rmSync(source, { recursive: true, force: true });
  return folder;
}

/**
 * Builds a crate of this folder, one dependency after the other and at low priority: the first build takes some
 * minutes, and other work may need the processors.
 */
function crate(name: string, without: string): string {
  const target = path.join(root, name);
  const args = ["-n", "10", "cargo", "build", "--release", "--locked", "-j1", "--target-dir", target];
  if (!done("cargo", ["--version"], here(name), {}, without)) return "";
  return done("nice", args, here(name), {}, without) ? path.join(target, "release", `${name}-peer`) : "";
}

function yaci(): string {
  const folder = path.join(root, `yaci-${YACI_VERSION}`);
  const installed = path.join(folder, "node_modules", YACI);
  const without = "Without it yaci-cli cannot be a client of the devnet's socket.";
  if (process.platform !== "linux" || process.arch !== "x64") {
    console.warn(`SKIPPED: yaci-cli is there for Linux on x64 alone. ${without}`);
    return "";
  }
  // it requires a terminal
  if (!done("script", ["--version"], root, {}, without)) return "";
  if (existsSync(path.join(installed, "yaci-cli"))) return installed;
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", `${YACI}@${YACI_VERSION}`];
  return done("npm", args, folder, {}, without) ? installed : "";
}

const WALLET_JS = "cardano-wallet-js";
const WALLET_JS_VERSION = "1.4.0";

/** A client of wallet servers, with its own 25 MB of packages: nothing else needs them. */
function walletJs(): string {
  const folder = path.join(root, `${WALLET_JS}-${WALLET_JS_VERSION}`);
  const installed = path.join(folder, "node_modules", WALLET_JS);
  if (existsSync(path.join(installed, "package.json"))) return installed;
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts"];
  const without = "Without it no client of others drives a wallet's life.";
  return done("npm", [...args, `${WALLET_JS}@${WALLET_JS_VERSION}`], folder, {}, without) ? installed : "";
}

export default function setup(project: TestProject): void {
  mkdirSync(root, { recursive: true });
  const socket = (by: string) => `Without it ${by} cannot be put on the node's socket.`;
  const machine = (by: string) => `Without it there is no second opinion by ${by}.`;
  project.provide("relay", goProgram("gouroboros", "relay", socket("gouroboros")));
  project.provide("dingo", dingo());
  project.provide("pallas", crate("pallas", socket("pallas")));
  project.provide("plutigo", goProgram("plutigo", "plutigo-peer", machine("plutigo")));
  const client = (name: string) => `Without it no client of ${name} reads the devnet's UTxO RPC.`;
  project.provide("rustClients", crate("rust-clients", client("Rust")));
  project.provide("utxorpcGo", goProgram("utxorpc-go", "utxorpc-go-peer", client("Go")));
  project.provide(
    "tlogPeer",
    goProgram("tlog", "tlog-peer", "Without it no reader or witness of others sees the log of tokens."),
  );
  project.provide("uplc", crate("uplc", machine("aiken's uplc")));
  project.provide("yaci", yaci());
  project.provide("walletJs", walletJs());
}
