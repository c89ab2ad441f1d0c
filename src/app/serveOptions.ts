/**
 * The command `serve`: the options of a start, and those of cardano-wallet's `serve` by their names. The difference
 * between the two commands: without a database, `serve` keeps everything in memory, as cardano-wallet does.
 *
 * The program `cardano-wallet` takes the same options with cardano-wallet's rules: a node is required, and exactly one
 * network; what it starts beside the wallet service is at free ports.
 */
import { networkInterfaces } from "node:os";
import process from "node:process";
import { fail, type Result } from "#src/base/result.ts";
import { LOG_NAMES } from "#src/app/logOptions.ts";
import { type BadOption, type OptionAliases, renamer, type Values } from "#src/app/optionReader.ts";
import { HELP, type Options, readOptions } from "#src/app/options.ts";

export const SERVE_HELP = `${HELP}

Options of cardano-wallet's serve:
  --listen-address HOST  address of the wallet service, * for all (--wallet-host)
  --port N             port of the wallet service (--wallet-port)
  --random-port        a free port for the wallet service (--wallet-port 0)
  --ui-port N          a second port of the wallets' page (--wallet-ui-port)
  --ui-random-port     a free port for that page (--wallet-ui-port 0)
  --node-socket PATH   also selects --provider node
  --database DIR       where the data are kept (--folder); without it, --folder and DATABASE_URL: in memory
  --sync-tolerance N   also with the unit: 300s
  --shutdown-handler   stop when standard input ends
  +RTS -N<k> -RTS      threads for CPU-bound work (--builders)`;

/** Longest path of a socket, in bytes: what every POSIX system allows. */
const LONGEST_SOCKET = 100;
const PIPE = "\\\\.\\pipe\\";
/** Whether this machine has an IPv6 address; a socket at `::` takes connections of both versions. */
function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));
}

/** What cardano-wallet accepts for any address, in both versions of IP or in one. */
const ANY_HOST: Readonly<Record<string, string>> = {
  "*": hasIPv6() ? "::" : "0.0.0.0",
  "*4": "0.0.0.0",
  "!4": "0.0.0.0",
  "*6": "::",
  "!6": "::",
};

/** The problem with a node's socket; undefined for a path that can be one. */
export function socketProblem(path: string, platform: string = process.platform): string | undefined {
  const isPipe = path.startsWith(PIPE) && path.length > PIPE.length;
  if (platform === "win32") return isPipe ? undefined : `--node-socket must be a pipe such as ${PIPE}cardano-node`;
  if (isPipe) return "--node-socket names a pipe of Windows; this system has sockets, such as /run/node.socket";
  const { length } = new TextEncoder().encode(path);
  if (length <= LONGEST_SOCKET) return undefined;
  return `--node-socket has a path of ${length} bytes; a socket's path has at most ${LONGEST_SOCKET}`;
}

interface ServeRules {
  /** cardano-wallet's rules. */
  readonly strict: boolean;
}

const aliases = ({ strict }: ServeRules): OptionAliases => ({
  names: ["listen-address", "port", "ui-port", "database"],
  flags: ["random-port", "ui-random-port", "shutdown-handler", "help-tracing"],
  own: { port: "wallet-port", "ui-port": "wallet-ui-port", "listen-address": "wallet-host", database: "folder" },
  translate(values, env, problem) {
    const {
      "listen-address": host,
      port,
      "random-port": random,
      "ui-port": uiPort,
      "ui-random-port": uiRandom,
      database,
      "shutdown-handler": _handler,
      "help-tracing": _help,
      ...own
    } = values;
    const given: Record<string, Values[string]> = { ...own };
    const rename = renamer(given, problem);
    if (port !== undefined && random) problem("--port and --random-port exclude each other");
    if (uiPort !== undefined && uiRandom) problem("--ui-port and --ui-random-port exclude each other");
    rename("listen-address", typeof host === "string" ? ANY_HOST[host] ?? host : host, "wallet-host");
    rename("port", port, "wallet-port");
    rename("random-port", random && port === undefined ? "0" : undefined, "wallet-port");
    rename("ui-port", uiPort, "wallet-ui-port");
    rename("ui-random-port", uiRandom && uiPort === undefined ? "0" : undefined, "wallet-ui-port");
    rename("database", database, "folder");
    const { "node-socket": socket, "sync-tolerance": tolerance } = given;
    if (typeof socket === "string") {
      given.provider ??= "node";
      const wrong = socketProblem(socket);
      if (wrong !== undefined) problem(wrong);
    }
    if (typeof tolerance === "string") given["sync-tolerance"] = tolerance.replace(/^(\d+)s$/, "$1");
    const kept = given.folder || env.ARBOR_FOLDER || given["database-url"] || env.DATABASE_URL;
    if (!kept) given["in-memory"] = true;
    if (strict) restrict(values, given, problem);
    return given;
  },
});

/** cardano-wallet's rules, and defaults that differ from those of a start. */
function restrict(values: Values, given: Record<string, Values[string]>, problem: (sentence: string) => void): void {
  if (values["node-socket"] === undefined) {
    problem("--node-socket FILE is required");
    // what follows from its absence is not another problem
    Object.assign(given, { provider: "node", "node-socket": "FILE" });
  }
  const networks = [values.mainnet, values.testnet].filter((value) => value !== undefined && value !== false).length;
  if (networks !== 1) problem("exactly one of --mainnet and --testnet FILE is required");
  for (const name of ["port", "ui-port"]) {
    const port = values[name];
    if (port === undefined || (/^\d+$/.test(String(port)) && Number(port) >= 1_024 && Number(port) <= 65_535)) continue;
    problem(`--${name}: expected a TCP port number between 1024 and 65535`);
  }
  const tolerance = values["sync-tolerance"];
  if (tolerance !== undefined && !/^\d+s$/.test(String(tolerance))) {
    problem("--sync-tolerance is expressed in seconds with a trailing 's', such as 300s");
  }
  for (const name of LOG_NAMES) given[name] ??= name === "log-level" ? "debug" : "info";
  // several of these programs may run on one machine: what cardano-wallet does not have takes free ports
  for (const name of ["token-port", "operator-port", "nats-port"]) given[name] ??= "0";
}

/** The number of cores in `+RTS -N<k> -RTS`, and the arguments without the flags of that runtime. */
function withoutRuntimeFlags(
  args: readonly string[],
): { readonly args: string[]; readonly cores?: string | undefined } {
  const start = args.indexOf("+RTS");
  if (start < 0) return { args: [...args] };
  const end = args.indexOf("-RTS", start);
  const flags = args.slice(start + 1, end < 0 ? undefined : end);
  const cores = flags.map((flag) => /^-N(\d+)$/.exec(flag)?.[1]).find((found) => found !== undefined);
  return { args: [...args.slice(0, start), ...(end < 0 ? [] : args.slice(end + 1))], cores };
}

/** Reads the options of `serve`. */
export function readServeOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  rules: ServeRules = { strict: false },
): Result<Options | "help", BadOption> {
  const own = withoutRuntimeFlags(args);
  if (own.cores !== undefined && !/^([1-9]|[1-5]\d|6[0-4])$/.test(own.cores)) {
    return fail("bad_option", `+RTS -N${own.cores}: the number of cores must be from 1 to 64.`);
  }
  const given = own.cores === undefined ? own.args : [...own.args, "--builders", own.cores];
  return readOptions(given, env, aliases(rules));
}
