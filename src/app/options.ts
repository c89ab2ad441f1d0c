/** Options of a process: from the command line, which has precedence, and from the environment. */
import process from "node:process";
import { parseArgs } from "node:util";
import type { Thresholds } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { MINING_MODES, type MiningMode, miningOf } from "#src/devnet/blocks/mining.ts";
import type { GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import { originProblem } from "#src/devnet/serve/admin/origins.ts";
import type { RateLimit } from "#src/http/rateLimit.ts";
import { isLoopback } from "#src/http/sites.ts";
import { TOKEN_LENGTH } from "#src/operators/http/guard.ts";
import { hostProblem } from "#src/http/sites.ts";
import { RETENTION_HOURS, type RetentionHours } from "#src/runtime/operations/retention.ts";
import { NETWORK_HELP, NETWORK_NAMES, type NetworkOptions, readNetwork } from "#src/app/networkOptions.ts";
import {
  type BlockfrostOptions,
  PROVIDER_HELP,
  PROVIDER_NAMES,
  readProvider,
  type YaciOptions,
} from "#src/app/providerOptions.ts";
import { OUTSIDE_HELP, OUTSIDE_NAMES, type OutsideOptions, readOutside } from "#src/app/outsideOptions.ts";
import { HELP_OF_NATS, NAMES_OF_NATS, type NatsFiles, readNatsFiles } from "#src/app/natsOptions.ts";
import { GENESIS_HELP, GENESIS_NAMES, readGenesisOptions } from "#src/app/genesisOptions.ts";
import { LOG_HELP, LOG_NAMES, readLogOptions } from "#src/app/logOptions.ts";
import { type Monitoring, MONITORING_HELP, readMonitoring } from "#src/app/monitoringOptions.ts";
import { readSigners, SIGNER_HELP, SIGNER_NAMES, type Signers } from "#src/app/signerOptions.ts";
import { readTlsFiles, TLS_HELP, TLS_NAMES } from "#src/app/tlsOptions.ts";
import type { TlsFiles } from "#src/embedded/postgres/tlsFiles.ts";

/** Default maximum number of commands queued for one actor. */
const MAILBOX = 1_024;
/** A hundred years. */
const MOST_HOURS = 876_000;

/** Parts of a process; a process has one or more. */
export const ROLES = ["edge", "worker", "follower", "devnet", "signer"] as const;
export type Role = (typeof ROLES)[number];
/** The roles of a process that names none; one that names a seed file has the role `signer` too. */
const USUAL = ["edge", "worker", "follower", "devnet"] as const;
/** The roles that a process without a devnet can have. */
const WITHOUT_DEVNET = ["edge", "worker", "follower"] as const;

/** Parts of a devnet that can be left out; its chain and its own HTTP API always run. */
export const DEVNET_PARTS = ["index", "blockfrost", "admin", "wallet", "socket", "tcp"] as const;
export type DevnetPart = (typeof DEVNET_PARTS)[number];
/** Parts that work only with another one. */
const DEPENDENT_PARTS: Partial<Record<DevnetPart, DevnetPart>> = { blockfrost: "index" };

export interface Options extends NetworkOptions {
  /** Folder of the embedded PostgreSQL and of the devnet's files; unused with `inMemory`. */
  readonly folder: string;
  /** Whether the data are in a temporary folder that is removed when the process ends. */
  readonly inMemory: boolean;
  /** Address at which the services listen. */
  readonly host: string;
  /** Host names of the token and the wallet service, beside localhost and addresses; `*` is any. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call the token service, beside its own and those of this machine; `*` is all. */
  readonly origins: readonly string[];
  readonly tokenPort: number;
  readonly walletPort: number;
  /** Port of the page with the wallets' balances; none where undefined. */
  readonly walletUiPort?: number;
  /** Address at which the wallet service listens. It has no authentication, but that of `walletTls`. */
  readonly walletHost: string;
  /** The options as they were typed, where that was another name, by own name; both without `--`. */
  readonly typedAs?: Readonly<Record<string, string>>;
  /** Files of the wallet service's TLS; plain HTTP where undefined. */
  readonly walletTls?: TlsFiles;
  /** Maximum lag of a ready wallet, in seconds. */
  readonly syncToleranceS: number;
  readonly devnetPort: number;
  /** Port of the devnet's Blockfrost API. */
  readonly indexerPort: number;
  /** Origins of pages that may change the devnet, beside those of this machine; `*` is all. */
  readonly devnetOrigins: readonly string[];
  /** Port of the devnet's node socket over TCP. */
  readonly nodePort: number;
  /** Parts of the devnet that do not run, with those that depend on them. */
  readonly devnetWithout: ReadonlySet<DevnetPart>;
  readonly natsPort: number;
  readonly operatorPort: number;
  /** Address at which the operator service listens; other than loopback needs a token. */
  readonly operatorHost: string;
  readonly operatorToken?: string;
  /** Signing services, for development; none where undefined. */
  readonly signers?: Signers;
  /** Limits of one client of the token service. */
  readonly rateLimit: RateLimit;
  /** Default of the query parameter `slots`: whether a fact is `{value, slot}`. */
  readonly factSlots: boolean;
  /** Whether webhooks may have addresses of this machine and of private networks, and http URLs. */
  readonly webhooksPrivate: boolean;
  /** Maximum number of queued commands: of one actor (`entity`), and of all actors of a worker together (`all`). */
  readonly mailbox: { readonly entity: number; readonly all: number };
  /** Port for health checks and metrics of this process; none where undefined. */
  readonly healthPort?: number;
  /** Metrics at ports of their own. */
  readonly monitoring: Monitoring;
  readonly roles: ReadonlySet<Role>;
  /** PostgreSQL server; embedded where undefined. */
  readonly databaseUrl?: string;
  /** NATS server, or the servers of a cluster separated by commas; an endpoint in this process where undefined. */
  readonly natsUrl?: string;
  readonly natsToken?: string;
  /** User of the NATS server, whose password is the token; none where undefined. */
  readonly natsUser?: string;
  /** Users of NATS and files of its TLS. */
  readonly natsFiles: NatsFiles;
  /** Socket of the node through which the network is reached; undefined: the deployment's own devnet. */
  readonly nodeSocket?: string;
  /** Blockfrost service through which the network is reached. */
  readonly blockfrost?: BlockfrostOptions;
  /** Yaci Store through which the network is reached. */
  readonly yaci?: YaciOptions;
  /** Whether the token service works on mainnet too. */
  readonly tokensOnMainnet: boolean;
  /** Path of the devnet's node socket; under the folder where undefined. */
  readonly socket?: string;
  /** Milliseconds between blocks of the devnet; 0 makes them on demand. */
  readonly mining: MiningMode;
  readonly blockMs: number;
  /** Milliseconds between two reads of the network's mempool. */
  readonly mempoolMs: number;
  /** Requests to metadata servers. */
  readonly outside: OutsideOptions;
  /** Whether the devnet runs scripts in transactions whose validity has a bound past the horizon. */
  readonly pastHorizon: boolean;
  /** The given options of a devnet's genesis. */
  readonly genesis: Partial<GenesisOptions>;
  /** Threads for CPU-bound work; cores − 1 where undefined. */
  readonly builders?: number;
  /** Duration of leases in milliseconds: how long they outlive a killed process. */
  readonly leaseMs: number;
  /** Retention of command results, history, effects and dead letters. */
  readonly keep: RetentionHours;
  readonly log: Thresholds;
  /** Id of this process: the owner of its leases, and its name at the NATS server. */
  readonly worker: string;
}

export const HELP = `arbor: authenticated facts on Cardano

  --roles LIST         edge, worker, follower, devnet, and signer with --signer-seed (all)  ARBOR_ROLES
  --host HOST          where the services listen (127.0.0.1)            ARBOR_HOST
  --hosts NAME,NAME    additional host names of the services and /metrics, * for any  ARBOR_HOSTS
  --origins O,O        additional origins allowed to call the token service, * for all  ARBOR_ORIGINS
  --token-port N       token service (3000)                             ARBOR_TOKEN_PORT
  --rate-limit N       requests per second and client of the token service; 0: no limit (0)  ARBOR_RATE_LIMIT
  --client-builds N    concurrent builds per client of the token service; 0: no limit (32)  ARBOR_CLIENT_BUILDS
  --proxies N          proxies in front of the token service that append to X-Forwarded-For (0)  ARBOR_PROXIES
  --fact-slots B       true: facts are {value, slot} unless the query has slots=false (false)  ARBOR_FACT_SLOTS
  --wallet-port N      wallet service (8090)                            ARBOR_WALLET_PORT
  --wallet-ui-port N   a second port for the wallets' page (off)  ARBOR_WALLET_UI_PORT
  --wallet-host HOST   address of the wallet service, independent of --host (127.0.0.1)  ARBOR_WALLET_HOST
${TLS_HELP}
  --sync-tolerance N   maximum lag in seconds of a ready wallet (300)   ARBOR_SYNC_TOLERANCE
  --devnet-port N      devnet and faucet (10000)                        ARBOR_DEVNET_PORT
  --indexer-port N     the devnet's Blockfrost API (8080)               ARBOR_INDEXER_PORT
  --devnet-origins O,O additional origins allowed to change the devnet, * for all  ARBOR_DEVNET_ORIGINS
  --node-port N        node socket of the devnet over TCP (3333)        ARBOR_NODE_PORT
  --devnet-without P,P parts of the devnet to leave out: ${DEVNET_PARTS.join(", ")} (none)  ARBOR_DEVNET_WITHOUT
  --nats-port N        NATS endpoint (4222)                             ARBOR_NATS_PORT
  --operator-port N    operator service (8091)                          ARBOR_OPERATOR_PORT
  --operator-host HOST address of the operator service (--host)         ARBOR_OPERATOR_HOST
  --operator-token T   bearer token of the operator service, 16 characters or more; required unless it listens on loopback only  ARBOR_OPERATOR_TOKEN
${SIGNER_HELP}
  --webhooks-private B true: webhook URLs may use private addresses and http (false)  ARBOR_WEBHOOKS_PRIVATE
  --health-port N      /health, /ready and /metrics of this process, for any role (off)  ARBOR_HEALTH_PORT
  --folder PATH        embedded PostgreSQL and its data (.arbor)        ARBOR_FOLDER
  --in-memory          keep all data in a temporary folder that is removed at the end  ARBOR_IN_MEMORY
  --database-url URL   a PostgreSQL server instead of the embedded one  DATABASE_URL
  --nats-url URL,URL   NATS servers instead of the embedded endpoint    NATS_URL, NATS_TOKEN (with NATS_USER: its password)
${HELP_OF_NATS}
${PROVIDER_HELP}
${NETWORK_HELP}
  --tokens-on-mainnet  start the token service on mainnet too           ARBOR_TOKENS_ON_MAINNET
  --socket PATH        node socket of the devnet (FOLDER/devnet/node.socket)  ARBOR_SOCKET
  --mining MODE        when the devnet makes blocks: interval, submit (with each transaction), manual (interval)  ARBOR_MINING
  --block-ms N         ms between devnet blocks; 0: on demand (1000)    ARBOR_BLOCK_MS
  --past-horizon       the devnet also runs scripts in transactions with a bound past the era history  ARBOR_PAST_HORIZON
  --mempool-ms N       ms between reads of the mempool for payments to wallets (1000)  ARBOR_MEMPOOL_MS
${OUTSIDE_HELP}
  --builders N         worker threads for CPU-bound work (cores - 1)    ARBOR_BUILDERS
  --lease-ms N         ms until other processes take over from a killed one (4000)  ARBOR_LEASE_MS
  --keep-results-hours N       results of commands; a later command with the same id runs again (24)  ARBOR_KEEP_RESULTS_HOURS
  --keep-history-hours N       transitions, for history and replay (720)     ARBOR_KEEP_HISTORY_HOURS
  --keep-effects-hours N       completed effects and processed chain events (24)  ARBOR_KEEP_EFFECTS_HOURS
  --keep-dead-letters-hours N  dead letters: events that failed (720)        ARBOR_KEEP_DEAD_LETTERS_HOURS
  --keep-transactions-hours N  actors of ended transactions, at least as long as their history (720)  ARBOR_KEEP_TRANSACTIONS_HOURS
  --mailbox N          maximum number of commands queued for one actor; more are rejected with 503 (1024)  ARBOR_MAILBOX
${LOG_HELP}

${GENESIS_HELP}

${MONITORING_HELP}`;

const NAMES = [
  "roles",
  "host",
  "hosts",
  "origins",
  "token-port",
  "fact-slots",
  "rate-limit",
  "client-builds",
  "proxies",
  "wallet-port",
  "wallet-ui-port",
  "wallet-host",
  ...TLS_NAMES,
  "sync-tolerance",
  "devnet-port",
  "indexer-port",
  "devnet-origins",
  "node-port",
  "devnet-without",
  "nats-port",
  "operator-port",
  "operator-host",
  "operator-token",
  ...SIGNER_NAMES,
  "webhooks-private",
  "health-port",
  "folder",
  "in-memory",
  "database-url",
  "nats-url",
  ...NAMES_OF_NATS,
  ...PROVIDER_NAMES,
  ...NETWORK_NAMES,
  "tokens-on-mainnet",
  "socket",
  "mining",
  "block-ms",
  "past-horizon",
  "mempool-ms",
  ...OUTSIDE_NAMES,
  "builders",
  "lease-ms",
  "keep-results-hours",
  "keep-history-hours",
  "keep-effects-hours",
  "keep-dead-letters-hours",
  "keep-transactions-hours",
  "mailbox",
  ...LOG_NAMES,
  ...GENESIS_NAMES,
] as const;
type OptionName = (typeof NAMES)[number];
/** Options without a value on the command line; in the environment they are true or false. */
const FLAGS: readonly OptionName[] = ["mainnet", "tokens-on-mainnet", "in-memory", "past-horizon"];
/** Options of a devnet, meaningless for another network. */
const DEVNET_NAMES = [
  "socket",
  "node-port",
  "devnet-without",
  "mining",
  "block-ms",
  "past-horizon",
  ...GENESIS_NAMES,
] as const;

export type BadOption = Failure<"bad_option">;

/** What a command line gives, by the names of its options. */
export type Values = Readonly<Record<string, string | boolean | undefined>>;

/** Options of another program that a command accepts beside its own. */
export interface OptionAliases {
  /** Those with a value. */
  readonly names: readonly string[];
  /** Those without. */
  readonly flags: readonly string[];
  /** Their short forms of one letter, by name. */
  readonly shorts?: Readonly<Record<string, string>>;
  /** The own options that some of them stand for, by alias: problems name what was typed. */
  readonly own?: Readonly<Record<string, string>>;
  /** Gives what they stand for, in the names of the own options. */
  readonly translate: (
    values: Values,
    env: Readonly<Record<string, string | undefined>>,
    problem: (sentence: string) => void,
  ) => Values;
}

/** What a command line gives. @throws TypeError on an unknown option. */
function parse(
  args: readonly string[],
  { names, flags, shorts = {} }: Pick<OptionAliases, "names" | "flags" | "shorts">,
): Values {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      ...Object.fromEntries(
        flags.map((name) => [name, { type: "boolean" as const, ...(shorts[name] ? { short: shorts[name] } : {}) }]),
      ),
      ...Object.fromEntries(
        NAMES.map((name) => [name, { type: FLAGS.includes(name) ? "boolean" as const : "string" as const }]),
      ),
      help: { type: "boolean" as const, short: "h" },
    },
  });
  return values;
}

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** The parts of a devnet that do not run: those of a list, and those that depend on them. */
function withoutParts(list: readonly string[]): ReadonlySet<DevnetPart> {
  return new Set(DEVNET_PARTS.filter((part) => list.includes(part) || list.includes(DEPENDENT_PARTS[part] ?? part)));
}

/** Reads options; `help` for `--help`; `bad_option` names all problems. One function: checks use several options. */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
  aliases?: OptionAliases,
): Result<Options | "help", BadOption> {
  let values: Values;
  try {
    values = parse(args, aliases ?? { names: [], flags: [] });
  } catch (error) {
    const [problem] = (error instanceof Error ? error.message : String(error)).split(".");
    return fail("bad_option", `${problem}. --help lists the options.`);
  }
  if (values.help) return ok("help");
  const OWN: Partial<Record<OptionName, string>> = { "database-url": "DATABASE_URL", "nats-url": "NATS_URL" };
  const text = (name: OptionName): string | undefined => {
    const given = values[name] ?? env[OWN[name] ?? "ARBOR_" + name.toUpperCase().replaceAll("-", "_")];
    return given === undefined || given === "" ? undefined : String(given);
  };
  const problems: string[] = [];
  const typed = Object.entries(aliases?.own ?? {}).flatMap(([alias, own]) =>
    values[alias] === undefined ? [] : [[own, alias] as const]
  );
  if (aliases) values = aliases.translate(values, env, (sentence) => problems.push(sentence));
  const some = (name: OptionName, least: number, most: number): number | undefined => {
    const given = text(name);
    if (given === undefined) return undefined;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= least && value <= most) return value;
    problems.push(`--${name} must be a whole number from ${least} to ${most}, not ${given}`);
    return undefined;
  };
  const number = (name: OptionName, usual: number, least: number, most: number) => some(name, least, most) ?? usual;
  const provider = text("provider") ?? "devnet";
  const socket = text("socket");
  const flag = (name: OptionName): boolean => {
    const given = text(name) ?? "false";
    if (!["true", "false"].includes(given)) problems.push(`--${name} must be true or false`);
    return given === "true";
  };
  const network = readNetwork({
    ...{ text, flag, number: some, devnet: provider === "devnet" },
    isArgument: (name) => values[name] !== undefined,
    problem: (sentence) => problems.push(sentence),
  });
  const host = text("host") ?? "127.0.0.1";
  const signers = readSigners({ text, host, problem: (sentence) => problems.push(sentence) });
  const usual = [...(provider === "devnet" ? USUAL : WITHOUT_DEVNET), ...(signers ? ["signer"] : [])];
  const roles = new Set((text("roles") ?? usual.join(",")).split(",").map((role) => role.trim()));
  if (roles.has("signer") && signers === undefined) problems.push("the role signer requires --signer-seed FILE");
  for (const role of roles) {
    if (!isRole(role)) problems.push(`${role} is not a role; the roles are ${ROLES.join(", ")}`);
  }
  const where = readProvider(provider, {
    ...{ text, env, magic: network.networkMagic, devnet: roles.has("devnet") },
    problem: (sentence) => problems.push(sentence),
  });
  // only options on the command line are refused: the processes of a deployment share one environment
  const ofDevnet = DEVNET_NAMES.filter((name) => values[name] !== undefined).map((name) => `--${name}`);
  if (provider !== "devnet" && ofDevnet.length > 0) {
    problems.push(`${ofDevnet.join(", ")} ${ofDevnet.length > 1 ? "require" : "requires"} --provider devnet`);
  }
  const databaseUrl = text("database-url");
  const natsUrl = text("nats-url");
  const inMemory = flag("in-memory");
  for (const name of ["folder", "database-url"] as const) {
    if (inMemory && values[name] !== undefined) problems.push(`--in-memory and --${name} exclude each other`);
  }
  if (databaseUrl && !(URL.canParse(databaseUrl) && /^postgres(ql)?:/.test(databaseUrl))) {
    problems.push("--database-url must be a URL like postgres://user:password@host:5432/database");
  }
  const operatorHost = text("operator-host") ?? host;
  const operatorToken = text("operator-token");
  if (operatorToken !== undefined && (operatorToken.length < TOKEN_LENGTH || /\s/.test(operatorToken))) {
    problems.push(`--operator-token must have at least ${TOKEN_LENGTH} characters and no spaces`);
  }
  if (roles.has("edge") && operatorToken === undefined && !isLoopback(operatorHost)) {
    problems.push(
      `the operator service would be reachable from other machines on ${operatorHost}: set --operator-token with at least ` +
        `${TOKEN_LENGTH} characters, or --operator-host 127.0.0.1`,
    );
  }
  const list = (name: OptionName, problem: (item: string) => string | undefined): string[] => {
    const items = (text(name) ?? "").split(",").map((item) => item.trim()).filter(Boolean);
    problems.push(...items.flatMap((item) => problem(item) ?? []));
    return items;
  };
  const walletTls = readTlsFiles(text, (sentence) => problems.push(sentence));
  const mailbox = number("mailbox", MAILBOX, 1, 100_000);
  const builders = text("builders") === undefined ? undefined : number("builders", 1, 1, 64);
  const blockMs = number("block-ms", 1_000, 0, 3_600_000);
  const mining = readMining(text("mining"), blockMs, (sentence) => problems.push(sentence));
  const options: Options = {
    folder: text("folder") ?? ".arbor",
    inMemory,
    host,
    hosts: list("hosts", hostProblem),
    origins: list("origins", originProblem),
    tokenPort: number("token-port", 3000, 0, 65_535),
    walletPort: number("wallet-port", 8090, 0, 65_535),
    ...(text("wallet-ui-port") === undefined ? {} : { walletUiPort: number("wallet-ui-port", 0, 0, 65_535) }),
    walletHost: text("wallet-host") ?? "127.0.0.1",
    ...(typed.length === 0 ? {} : { typedAs: Object.fromEntries(typed) }),
    ...(walletTls ? { walletTls } : {}),
    syncToleranceS: number("sync-tolerance", 300, 0, 86_400),
    devnetPort: number("devnet-port", 10_000, 0, 65_535),
    indexerPort: number("indexer-port", 8080, 0, 65_535),
    devnetOrigins: list("devnet-origins", originProblem),
    nodePort: number("node-port", 3333, 0, 65_535),
    devnetWithout: withoutParts(
      list(
        "devnet-without",
        (item) =>
          DEVNET_PARTS.some((part) => part === item)
            ? undefined
            : `${item} is not a part of the devnet; the parts are ${DEVNET_PARTS.join(", ")}`,
      ),
    ),
    natsPort: number("nats-port", 4222, 0, 65_535),
    operatorPort: number("operator-port", 8091, 0, 65_535),
    operatorHost,
    ...(operatorToken === undefined ? {} : { operatorToken }),
    ...(signers ? { signers } : {}),
    rateLimit: {
      perSecond: number("rate-limit", 0, 0, 1_000_000),
      builds: number("client-builds", 32, 0, 100_000),
      proxies: number("proxies", 0, 0, 16),
    },
    factSlots: flag("fact-slots"),
    webhooksPrivate: flag("webhooks-private"),
    mailbox: { entity: mailbox, all: mailbox * 16 },
    ...(text("health-port") === undefined ? {} : { healthPort: number("health-port", 0, 0, 65_535) }),
    monitoring: readMonitoring(env),
    roles: new Set([...roles].filter(isRole)),
    ...(databaseUrl && !inMemory ? { databaseUrl } : {}),
    ...(natsUrl ? { natsUrl } : {}),
    ...(env.NATS_TOKEN ? { natsToken: env.NATS_TOKEN } : {}),
    ...(natsUrl && env.NATS_USER ? { natsUser: env.NATS_USER } : {}),
    natsFiles: readNatsFiles({
      text,
      isArgument: (name) => values[name] !== undefined,
      outside: natsUrl !== undefined,
      problem: (sentence) => problems.push(sentence),
    }),
    ...where,
    ...network,
    tokensOnMainnet: flag("tokens-on-mainnet"),
    ...(socket === undefined ? {} : { socket }),
    mining,
    pastHorizon: flag("past-horizon"),
    blockMs,
    mempoolMs: number("mempool-ms", 1_000, 50, 3_600_000),
    outside: readOutside({
      text,
      devnet: provider === "devnet",
      problem: (sentence) => problems.push(sentence),
    }),
    genesis: readGenesisOptions(text, some, (sentence) => problems.push(sentence)),
    ...(builders === undefined ? {} : { builders }),
    leaseMs: number("lease-ms", 4_000, 500, 600_000),
    keep: {
      results: number("keep-results-hours", RETENTION_HOURS.results, 1, MOST_HOURS),
      history: number("keep-history-hours", RETENTION_HOURS.history, 1, MOST_HOURS),
      effects: number("keep-effects-hours", RETENTION_HOURS.effects, 1, MOST_HOURS),
      deadLetters: number("keep-dead-letters-hours", RETENTION_HOURS.deadLetters, 1, MOST_HOURS),
      transactions: number("keep-transactions-hours", RETENTION_HOURS.transactions, 1, MOST_HOURS),
    },
    log: readLogOptions(text, (sentence) => problems.push(sentence)),
    worker: env.ARBOR_WORKER ?? `${process.pid}-${Math.random().toString(36).slice(2, 8)}`,
  };
  return problems.length > 0 ? fail("bad_option", problems.join("; ") + ".") : ok(options);
}

/** The mode of mining; `manual` where the milliseconds between blocks are 0. */
function readMining(mode: string | undefined, blockMs: number, problem: (sentence: string) => void): MiningMode {
  const mining = MINING_MODES.find((one) => one === mode);
  if (mode !== undefined && !mining) problem(`mining is ${mode}, not one of ${MINING_MODES.join(", ")}`);
  return miningOf({ mining, blockMs }).mode;
}
