/** Options of a process: from the command line, which has precedence, and from the environment. */
import process from "node:process";
import type { Thresholds } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { MINING_MODES, type MiningMode, miningOf } from "#src/devnet/blocks/mining.ts";
import type { GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import { originProblem } from "#src/devnet/serve/admin/origins.ts";
import type { RateLimit } from "#src/http/rateLimit.ts";
import { isSecurityContact } from "#src/http/securityContact.ts";
import { hostProblem, instanceProblem, isLoopback } from "#src/http/sites.ts";
import { type PageLinks, pageUrlProblem, pageUrls } from "#src/http/pageLinks.ts";
import { TOKEN_LENGTH } from "#src/operators/http/guard.ts";
import { RETENTION_HOURS, type RetentionHours } from "#src/runtime/operations/retention.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";
import { readDatabaseUrl } from "#src/store/databaseUrl.ts";
import { readGenesisOptions } from "#src/app/genesisOptions.ts";
import { type LibraryOptions, readLibraryServices } from "#src/app/libraryOptions.ts";
import { readLogOptions } from "#src/app/logOptions.ts";
import { type Monitoring, readMonitoring } from "#src/app/monitoringOptions.ts";
import { type NatsFiles, readNatsFiles } from "#src/app/natsOptions.ts";
import { type NetworkOptions, readNetwork } from "#src/app/networkOptions.ts";
import { DEVNET_NAMES, DEVNET_PARTS, type DevnetPart, type OptionName } from "#src/app/optionNames.ts";
import {
  type BadOption,
  type Environment,
  openReader,
  type OptionAliases,
  type OptionReader,
} from "#src/app/optionReader.ts";
import { notUrl, SCHEME, socketProblem, urlProblem } from "#src/app/optionForms.ts";
import { type OutsideOptions, readOutside } from "#src/app/outsideOptions.ts";
import {
  type BlockfrostOptions,
  type OgmiosOptions,
  readProvider,
  type YaciOptions,
} from "#src/app/providerOptions.ts";
import { readSigners, type Signers } from "#src/app/signerOptions.ts";
import { readTokenLog } from "#src/app/tokenLogOptions.ts";
import { readTlsFiles } from "#src/app/tlsOptions.ts";
import { readUtxoRoot } from "#src/app/utxoRootOptions.ts";
import type { TlsFiles } from "#src/embedded/postgres/tlsFiles.ts";

export { DEVNET_PARTS, type DevnetPart, HELP } from "#src/app/optionNames.ts";
export type { BadOption } from "#src/app/optionReader.ts";

/** The URL of a NATS server. Programs also take one without the scheme. */
const BUS_URL = /^(?:nats|tls):\/\/[^\s/]+\/?$/;
const BUS_FORM = { schemes: ["nats", "tls"], example: "nats://127.0.0.1:4222" };
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

/** Parts that work only with another one. */
const DEPENDENT_PARTS: Partial<Record<DevnetPart, DevnetPart>> = { blockfrost: "index", kupo: "index" };

export interface Options extends NetworkOptions, LibraryOptions {
  /** Folder of the embedded PostgreSQL and of the devnet's files; unused with `inMemory`. */
  readonly folder: string;
  /** Whether the data are in a temporary folder that is removed when the process ends. */
  readonly inMemory: boolean;
  /** Whether the process applies the schema migrations and ends, without a role. */
  readonly migrateOnly: boolean;
  /** Address at which the services listen. */
  readonly host: string;
  /** Host names of the token and the wallet service, beside localhost and addresses; `*` is any. */
  readonly hosts: readonly string[];
  /** Origins of pages that may call the token service, beside its own and those of this machine; `*` is all. */
  readonly origins: readonly string[];
  /** URLs of other instances that the token page may read roots from. */
  readonly pageConnect: readonly string[];
  /** Origins of pages that are not where this process listens. */
  readonly pageUrls: PageLinks;
  readonly tokenPort: number;
  readonly walletPort: number;
  /** Port of the page with the wallets' balances; none where undefined. */
  readonly walletUiPort?: number;
  /** Address at which the wallet service listens. It has no authentication, but that of `walletTls`. */
  readonly walletHost: string;
  /** The other names under which messages name options, by own name; both without `--`. */
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
  /** The log of tokens; what is missing has its default. */
  readonly tokenLog?: Partial<LogSettings>;
  /** Limits of one client of the token service. */
  readonly rateLimit: RateLimit;
  /** Default of the query parameter `slots`: whether a fact is `{value, slot}`. */
  readonly factSlots: boolean;
  /** Whether webhooks may have addresses of this machine and of private networks, and http URLs. */
  readonly webhooksPrivate: boolean;
  /** Maximum number of queued commands: of one actor (`entity`), and of all actors of a worker together (`all`). */
  readonly mailbox: { readonly entity: number; readonly all: number };
  /** Maximum number of actors that a worker keeps in memory. */
  readonly actorsInMemory: number;
  /** Maximum number of clients that read events from this edge. */
  readonly eventReaders: number;
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
  /** Ogmios server through which the network is reached. */
  readonly ogmios?: OgmiosOptions;
  /** Configuration of a node of the network, with which a follower keeps the root of all unspent outputs; undefined: it does not. */
  readonly utxoRoot?: string;
  /** Whether the token service works on mainnet too. */
  readonly tokensOnMainnet: boolean;
  /** Path of the devnet's node socket; under the folder where undefined. */
  readonly socket?: string;
  /** Milliseconds between blocks of the devnet; 0 makes them on demand. */
  readonly mining: MiningMode;
  readonly blockMs: number;
  /** Milliseconds between two reads of the network's mempool. */
  readonly mempoolMs: number;
  /** Contact for vulnerabilities, a URI. */
  readonly securityContact?: string;
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

/** Reads options; `help` for `--help`; `bad_option` names all problems. */
export function readOptions(
  args: readonly string[],
  env: Environment = process.env,
  aliases?: OptionAliases,
): Result<Options | "help", BadOption> {
  const opened = openReader(args, env, aliases);
  if (!opened.ok) return opened;
  if (opened.value === "help") return ok("help");
  const reader = opened.value;
  const { text, flag, number, isArgument, problem } = reader;
  const provider = text("provider") ?? "devnet";
  const devnet = provider === "devnet";
  const network = readNetwork({ text, flag, number, isArgument, devnet, problem });
  const host = text("host") ?? "127.0.0.1";
  const signers = readSigners({ text, host, port: 3000 + reader.portOffset, problem });
  const roles = readRoles(reader, devnet, signers);
  const where = readProvider(provider, {
    text,
    env,
    magic: network.networkMagic,
    devnet: roles.has("devnet"),
    problem,
  });
  if (!devnet) refuseDevnetOptions(reader);
  const services = readDevnetServices(reader);
  const entity = number("mailbox", 1, 100_000) ?? MAILBOX;
  const options: Options = {
    ...readStorage(reader),
    host,
    hosts: reader.list("hosts", hostProblem),
    origins: reader.list("origins", originProblem),
    pageConnect: reader.list("page-connect", instanceProblem),
    pageUrls: pageUrls(reader.list("page-urls", pageUrlProblem)),
    tokenPort: reader.port("token-port", 3000),
    ...readWalletService(reader),
    ...(Object.keys(reader.typedAs).length === 0 ? {} : { typedAs: reader.typedAs }),
    ...services,
    natsPort: reader.port("nats-port", 4222),
    ...readOperator(reader, host, roles),
    ...(signers ? { signers } : {}),
    rateLimit: {
      perSecond: number("rate-limit", 0, 1_000_000) ?? 0,
      builds: number("client-builds", 0, 100_000) ?? 32,
      proxies: number("proxies", 0, 16) ?? 0,
    },
    factSlots: flag("fact-slots"),
    tokenLog: readTokenLog({ ...reader, rootless: rootless(devnet, services.devnetWithout, text("utxo-root")) }),
    webhooksPrivate: flag("webhooks-private"),
    mailbox: { entity, all: entity * 16 },
    ...(text("health-port") === undefined ? {} : { healthPort: reader.port("health-port", 0) }),
    monitoring: readMonitoring(env),
    roles,
    ...readNatsServer(reader),
    ...where,
    ...readUtxoRoot({ text, provider, where, problem }),
    ...network,
    tokensOnMainnet: flag("tokens-on-mainnet"),
    ...readBlocks(reader),
    ...readSecurityContact(text, problem),
    mempoolMs: number("mempool-ms", 50, 3_600_000) ?? 1_000,
    outside: readOutside({ text, devnet, problem }),
    genesis: readGenesisOptions(text, number, problem),
    ...readWork(reader),
    log: readLogOptions(text, problem),
    worker: readWorker(reader),
  };
  const { problems } = reader;
  return problems.length > 0 ? fail("bad_option", problems.join("; ") + ".") : ok(options);
}

/** Why the deployment keeps no root of all unspent outputs, as the end of a sentence; undefined where it keeps one. */
function rootless(devnet: boolean, without: Options["devnetWithout"], utxoRoot: string | undefined) {
  if (devnet && without.has("utxo-root")) {
    return "and --devnet-without utxo-root exclude each other: the entries have the root of the unspent outputs that the devnet then does not keep";
  }
  return devnet || utxoRoot !== undefined
    ? undefined
    : "requires --provider devnet or --utxo-root: without them there is no root of the unspent outputs";
}

/** The name of the process. It is a part of NATS subjects. */
function readWorker({ text, problem }: OptionReader): string {
  const name = text("worker") ?? `${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  if (!/^[\w-]+(\.[\w-]+)*$/.test(name) || name.length > 253) {
    problem("--worker must be letters, digits, _, - and single dots, 253 at most");
  }
  return name;
}

function readRoles({ text, problem }: OptionReader, devnet: boolean, signers: Signers | undefined): ReadonlySet<Role> {
  const usual = [...(devnet ? USUAL : WITHOUT_DEVNET), ...(signers ? ["signer"] : [])];
  const roles = new Set((text("roles") ?? usual.join(",")).split(",").map((role) => role.trim()));
  if (roles.has("signer") && signers === undefined) problem("the role signer requires --signer-seed FILE");
  for (const role of roles) {
    if (!isRole(role)) problem(`--roles: ${role} is not a role; the roles are ${ROLES.join(", ")}`);
  }
  return new Set([...roles].filter(isRole));
}

/** Only options on the command line are refused: the processes of a deployment share one environment. */
function refuseDevnetOptions({ isArgument, problem }: OptionReader): void {
  const given = DEVNET_NAMES.filter(isArgument).map((name) => `--${name}`);
  if (given.length === 0) return;
  problem(`${given.join(", ")} ${given.length > 1 ? "require" : "requires"} --provider devnet`);
}

function readStorage({ text, flag, isArgument, problem }: OptionReader) {
  const databaseUrl = text("database-url");
  const inMemory = flag("in-memory");
  for (const name of ["folder", "database-url"] as const) {
    if (inMemory && isArgument(name)) problem(`--in-memory and --${name} exclude each other`);
  }
  const read = databaseUrl ? readDatabaseUrl(databaseUrl) : undefined;
  if (read?.ok === false) {
    problem(
      `--database-url ${read.error.message}${
        URL.canParse(databaseUrl ?? "") && /^postgres/.test(databaseUrl ?? "")
          ? ""
          : notUrl(databaseUrl ?? "", ["postgres"])
      }`,
    );
  }
  const migrateOnly = flag("migrate-only");
  if (migrateOnly && (!databaseUrl || inMemory)) problem("--migrate-only requires --database-url");
  return {
    folder: text("folder") ?? ".arbor",
    inMemory,
    migrateOnly,
    ...(databaseUrl && !inMemory ? { databaseUrl } : {}),
  };
}

function readOperator(reader: OptionReader, host: string, roles: ReadonlySet<Role>) {
  const { text, problem } = reader;
  const operatorHost = text("operator-host") ?? host;
  const operatorToken = text("operator-token");
  if (operatorToken !== undefined && (operatorToken.length < TOKEN_LENGTH || /\s/.test(operatorToken))) {
    problem(`--operator-token must have at least ${TOKEN_LENGTH} characters and no spaces`);
  }
  if (roles.has("edge") && operatorToken === undefined && !isLoopback(operatorHost)) {
    problem(
      `the operator service would be reachable from other machines on ${operatorHost}: set --operator-token with at least ` +
        `${TOKEN_LENGTH} characters, or --operator-host 127.0.0.1`,
    );
  }
  return {
    operatorPort: reader.port("operator-port", 8091),
    operatorHost,
    ...(operatorToken === undefined ? {} : { operatorToken }),
  };
}

function readWalletService(reader: OptionReader) {
  const { text, number, problem } = reader;
  const walletTls = readTlsFiles(text, problem);
  return {
    walletPort: reader.port("wallet-port", 8090),
    ...(text("wallet-ui-port") === undefined ? {} : { walletUiPort: reader.port("wallet-ui-port", 0) }),
    walletHost: text("wallet-host") ?? "127.0.0.1",
    ...(walletTls ? { walletTls } : {}),
    syncToleranceS: number("sync-tolerance", 0, 86_400) ?? 300,
  };
}

/** Where the devnet's services listen, and which of its parts run. */
function readDevnetServices(reader: OptionReader) {
  const partProblem = (item: string) =>
    DEVNET_PARTS.some((part) => part === item)
      ? undefined
      : `${item} is not a part of the devnet; the parts are ${DEVNET_PARTS.join(", ")}`;
  return {
    devnetPort: reader.port("devnet-port", 10_000),
    indexerPort: reader.port("indexer-port", 8080),
    devnetOrigins: reader.list("devnet-origins", originProblem),
    nodePort: reader.port("node-port", 3333),
    ...readLibraryServices({
      text: reader.text,
      flag: reader.flag,
      port: (name, usual) => reader.port(name, usual),
      problem: reader.problem,
    }),
    devnetWithout: withoutParts(reader.list("devnet-without", partProblem)),
  };
}

/** How the devnet makes blocks. */
function readBlocks({ text, number, flag, problem }: OptionReader) {
  const socket = text("socket");
  const fault = socket === undefined ? undefined : socketProblem(socket);
  if (fault !== undefined) problem(fault);
  const blockMs = number("block-ms", 0, 3_600_000) ?? 1_000;
  return {
    ...(socket === undefined ? {} : { socket }),
    mining: readMining(text("mining"), blockMs, problem),
    pastHorizon: flag("past-horizon"),
    blockMs,
  };
}

function readNatsServer({ text, isArgument, problem, env }: OptionReader) {
  const natsUrl = text("nats-url");
  for (const server of natsUrl?.split(",").map((url) => url.trim()) ?? []) {
    // a host with or without a port is a server, too
    const url = SCHEME.test(server) ? server : `nats://${server}`;
    if (!BUS_URL.test(url) || !URL.canParse(url)) problem(urlProblem("nats-url", server, BUS_FORM));
  }
  return {
    ...(natsUrl ? { natsUrl } : {}),
    ...(env.NATS_TOKEN ? { natsToken: env.NATS_TOKEN } : {}),
    ...(natsUrl && env.NATS_USER ? { natsUser: env.NATS_USER } : {}),
    natsFiles: readNatsFiles({ text, isArgument, outside: natsUrl !== undefined, problem }),
  };
}

/** How much a process works at a time, and for how long it keeps what it has done. */
function readWork({ text, number }: OptionReader) {
  const builders = text("builders") === undefined ? undefined : number("builders", 1, 64) ?? 1;
  const hours = (name: Parameters<typeof number>[0], usual: number) => number(name, 1, MOST_HOURS) ?? usual;
  return {
    ...(builders === undefined ? {} : { builders }),
    leaseMs: number("lease-ms", 500, 600_000) ?? 4_000,
    actorsInMemory: number("actors-in-memory", 1, 10_000_000) ?? 20_000,
    eventReaders: number("event-readers", 1, 100_000) ?? 1_000,
    keep: {
      results: hours("keep-results-hours", RETENTION_HOURS.results),
      history: hours("keep-history-hours", RETENTION_HOURS.history),
      effects: hours("keep-effects-hours", RETENTION_HOURS.effects),
      deadLetters: hours("keep-dead-letters-hours", RETENTION_HOURS.deadLetters),
      transactions: hours("keep-transactions-hours", RETENTION_HOURS.transactions),
    },
  };
}

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** The parts of a devnet that do not run: those of a list, and those that depend on them. */
function withoutParts(list: readonly string[]): ReadonlySet<DevnetPart> {
  return new Set(DEVNET_PARTS.filter((part) => list.includes(part) || list.includes(DEPENDENT_PARTS[part] ?? part)));
}

/** The mode of mining; `manual` where the milliseconds between blocks are 0. */
function readMining(mode: string | undefined, blockMs: number, problem: (sentence: string) => void): MiningMode {
  const mining = MINING_MODES.find((one) => one === mode);
  if (mode !== undefined && !mining) problem(`--mining is ${mode}, not one of ${MINING_MODES.join(", ")}`);
  return miningOf({ mining, blockMs }).mode;
}

function readSecurityContact(text: (name: OptionName) => string | undefined, problem: (sentence: string) => void) {
  const securityContact = text("security-contact");
  if (securityContact === undefined) return {};
  if (!isSecurityContact(securityContact)) problem("--security-contact must be a mailto:, tel: or https: URI");
  return { securityContact };
}
