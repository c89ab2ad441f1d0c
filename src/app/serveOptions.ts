/**
 * The command `serve`: the options of a start, and those of cardano-wallet's `serve` by their names. The difference
 * between the two commands: without a database, `serve` keeps everything in memory, as cardano-wallet does.
 */
import process from "node:process";
import type { Result } from "#src/base/result.ts";
import { type BadOption, HELP, type OptionAliases, type Options, readOptions, type Values } from "#src/app/options.ts";

export const SERVE_HELP = `${HELP}

Options of cardano-wallet's serve:
  --listen-address HOST  address of the wallet service, * for all (--wallet-host)
  --port N             port of the wallet service (--wallet-port)
  --random-port        a free port for the wallet service (--wallet-port 0)
  --node-socket PATH   also selects --provider node
  --database DIR       where the data are kept (--folder); without it, --folder and DATABASE_URL: in memory
  --sync-tolerance N   also with the unit: 300s
  --log-level LEVEL    also notice, warning, critical, alert and emergency
  --shutdown-handler   stop when standard input ends`;

/** Severities of cardano-wallet that have another name here. */
const SEVERITIES: Readonly<Record<string, string>> = {
  notice: "info",
  warning: "warn",
  critical: "error",
  alert: "error",
  emergency: "error",
};

const SERVE: OptionAliases = {
  names: ["listen-address", "port", "database"],
  flags: ["random-port", "shutdown-handler"],
  translate(values, env, problem) {
    const {
      "listen-address": host,
      port,
      "random-port": random,
      database,
      "shutdown-handler": _,
      ...own
    } = values;
    const given: Record<string, Values[string]> = { ...own };
    /** An alias and the option that it stands for. */
    const rename = (alias: string, value: Values[string], name: string) => {
      if (value === undefined) return;
      if (given[name] !== undefined) problem(`--${alias} and --${name} are the same option; give one of them`);
      given[name] = value;
    };
    if (port !== undefined && random) problem("--port and --random-port exclude each other");
    rename("listen-address", host === "*" ? "0.0.0.0" : host, "wallet-host");
    rename("port", port, "wallet-port");
    rename("random-port", random ? "0" : undefined, "wallet-port");
    rename("database", database, "folder");
    if (given["node-socket"] !== undefined) given.provider ??= "node";
    const { "sync-tolerance": tolerance, "log-level": level } = given;
    if (typeof tolerance === "string") given["sync-tolerance"] = tolerance.replace(/^(\d+)s$/, "$1");
    if (typeof level === "string") {
      const lower = level.toLowerCase();
      given["log-level"] = SEVERITIES[lower] ?? lower;
    }
    const kept = given.folder || env.ARBOR_FOLDER || given["database-url"] || env.DATABASE_URL;
    if (!kept) given["in-memory"] = true;
    return given;
  },
};

/** Reads the options of `serve`. */
export function readServeOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Result<Options | "help", BadOption> {
  return readOptions(args, env, SERVE);
}
