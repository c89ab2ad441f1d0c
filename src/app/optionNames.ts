/** The options of a process by name, and the text that lists them. */
import { GENESIS_HELP, GENESIS_NAMES } from "#src/app/genesisOptions.ts";
import { LIBRARY_FLAGS, LIBRARY_HELP, LIBRARY_NAMES } from "#src/app/libraryOptions.ts";
import { LOG_HELP, LOG_NAMES } from "#src/app/logOptions.ts";
import { MONITORING_HELP } from "#src/app/monitoringOptions.ts";
import { HELP_OF_NATS, NAMES_OF_NATS } from "#src/app/natsOptions.ts";
import { NETWORK_HELP, NETWORK_NAMES } from "#src/app/networkOptions.ts";
import { OUTSIDE_HELP, OUTSIDE_NAMES } from "#src/app/outsideOptions.ts";
import { PROVIDER_HELP, PROVIDER_NAMES } from "#src/app/providerOptions.ts";
import { SIGNER_HELP, SIGNER_NAMES } from "#src/app/signerOptions.ts";
import { TOKEN_LOG_HELP, TOKEN_LOG_NAMES } from "#src/app/tokenLogOptions.ts";
import { TLS_HELP, TLS_NAMES } from "#src/app/tlsOptions.ts";
import { UTXO_ROOT_HELP, UTXO_ROOT_NAMES } from "#src/app/utxoRootOptions.ts";

/** Parts of a devnet that can be left out; its chain and its own HTTP API always run. */
export const DEVNET_PARTS = [
  "index",
  "blockfrost",
  "ogmios",
  "kupo",
  "utxorpc",
  "admin",
  "wallet",
  "socket",
  "tcp",
  "utxo-root",
] as const;
export type DevnetPart = (typeof DEVNET_PARTS)[number];
export const HELP = `arbor: authenticated facts on Cardano

  --roles LIST         edge, worker, follower, devnet, and signer with --signer-seed (all)  ARBOR_ROLES
  --host HOST          where the services listen (127.0.0.1)            ARBOR_HOST
  --hosts NAME,NAME    additional host names of the services and /metrics, * for any  ARBOR_HOSTS
  --origins O,O        additional origins allowed to call the token service, * for all  ARBOR_ORIGINS
  --page-connect U,U   other instances whose roots the token page may read (none)  ARBOR_PAGE_CONNECT
  --page-urls S=URL,…  origins of pages elsewhere, for the links between pages: tokens, wallet, explorer, operator  ARBOR_PAGE_URLS
  --port-offset N      is added to the default port of every service, for a second process on a machine (0)  ARBOR_PORT_OFFSET
  --token-port N       token service (3000)                             ARBOR_TOKEN_PORT
  --rate-limit N       requests per second and client of the token service; 0: no limit (0)  ARBOR_RATE_LIMIT
  --client-builds N    concurrent builds per client of the token service; 0: no limit (32)  ARBOR_CLIENT_BUILDS
  --proxies N          proxies in front of the token service that append to X-Forwarded-For (0)  ARBOR_PROXIES
  --fact-slots B       true: facts are {value, slot} unless the query has slots=false (false)  ARBOR_FACT_SLOTS
${TOKEN_LOG_HELP}
  --wallet-port N      wallet service (8090)                            ARBOR_WALLET_PORT
  --wallet-ui-port N   a second port for the wallets' page (off)  ARBOR_WALLET_UI_PORT
  --wallet-host HOST   address of the wallet service, independent of --host (127.0.0.1)  ARBOR_WALLET_HOST
${TLS_HELP}
  --sync-tolerance N   maximum lag in seconds of a ready wallet (300)   ARBOR_SYNC_TOLERANCE
  --devnet-port N      devnet and faucet (10000)                        ARBOR_DEVNET_PORT
  --indexer-port N     the devnet's Blockfrost API (8080)               ARBOR_INDEXER_PORT
  --devnet-origins O,O additional origins allowed to change the devnet, * for all  ARBOR_DEVNET_ORIGINS
  --node-port N        node socket of the devnet over TCP (3333)        ARBOR_NODE_PORT
${LIBRARY_HELP}
  --devnet-without P,P parts of the devnet to leave out: ${DEVNET_PARTS.join(", ")} (none)  ARBOR_DEVNET_WITHOUT
  --nats-port N        NATS endpoint (4222)                             ARBOR_NATS_PORT
  --operator-port N    operator service (8091)                          ARBOR_OPERATOR_PORT
  --operator-host HOST address of the operator service (--host)         ARBOR_OPERATOR_HOST
  --operator-token T   bearer token of the operator service, 16 characters or more; required unless it listens on loopback only  ARBOR_OPERATOR_TOKEN
${SIGNER_HELP}
  --webhooks-private B true: webhook URLs may use private addresses and http (false)  ARBOR_WEBHOOKS_PRIVATE
  --health-port N      /health, /ready and /metrics of this process, for any role (off)  ARBOR_HEALTH_PORT
  --security-contact URI  contact for vulnerabilities in /.well-known/security.txt: mailto:, tel: or https:  ARBOR_SECURITY_CONTACT
  --migrate-only       apply the schema migrations that the database lacks, then end; no role starts  ARBOR_MIGRATE_ONLY
  --folder PATH        embedded PostgreSQL and its data (.arbor)        ARBOR_FOLDER
  --in-memory          keep all data in a temporary folder that is removed at the end  ARBOR_IN_MEMORY
  --database-url URL   a PostgreSQL server instead of the embedded one, or several: postgres://one:5432,two:5432/database  DATABASE_URL
  --nats-url URL,URL   NATS servers instead of the embedded endpoint    NATS_URL, NATS_TOKEN (with NATS_USER: its password)
${HELP_OF_NATS}
${PROVIDER_HELP}
${NETWORK_HELP}
${UTXO_ROOT_HELP}
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
  --worker NAME        name of this process, which no other one of the database has (a random one)  ARBOR_WORKER
  --mailbox N          maximum number of commands queued for one actor; more are rejected with 503 (1024)  ARBOR_MAILBOX
  --actors-in-memory N maximum number of actors that a worker keeps in memory, about 3 kB each (20000)  ARBOR_ACTORS_IN_MEMORY
  --event-readers N    maximum number of clients that read events from one edge, 40 to 140 kB each (1000)  ARBOR_EVENT_READERS
${LOG_HELP}

${GENESIS_HELP}

${MONITORING_HELP}`;

/** Names of all options, without `--`. */
export const NAMES = [
  "roles",
  "host",
  "hosts",
  "origins",
  "page-connect",
  "page-urls",
  "port-offset",
  "token-port",
  "fact-slots",
  "rate-limit",
  "client-builds",
  "proxies",
  ...TOKEN_LOG_NAMES,
  "wallet-port",
  "wallet-ui-port",
  "wallet-host",
  ...TLS_NAMES,
  "sync-tolerance",
  "devnet-port",
  "indexer-port",
  "devnet-origins",
  "node-port",
  ...LIBRARY_NAMES,
  "devnet-without",
  "nats-port",
  "operator-port",
  "operator-host",
  "operator-token",
  ...SIGNER_NAMES,
  "webhooks-private",
  "health-port",
  "security-contact",
  "migrate-only",
  "folder",
  "in-memory",
  "database-url",
  "nats-url",
  ...NAMES_OF_NATS,
  ...PROVIDER_NAMES,
  ...NETWORK_NAMES,
  ...UTXO_ROOT_NAMES,
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
  "worker",
  "mailbox",
  "actors-in-memory",
  "event-readers",
  ...LOG_NAMES,
  ...GENESIS_NAMES,
] as const;
export type OptionName = (typeof NAMES)[number];
/** Options without a value on the command line; in the environment they are true or false. */
export const FLAGS: readonly OptionName[] = [
  "mainnet",
  "tokens-on-mainnet",
  "in-memory",
  "migrate-only",
  "past-horizon",
  ...LIBRARY_FLAGS,
];
/** Options of a devnet, meaningless for another network. */
export const DEVNET_NAMES = [
  "socket",
  "node-port",
  ...LIBRARY_NAMES,
  "devnet-without",
  "mining",
  "block-ms",
  "past-horizon",
  ...GENESIS_NAMES,
] as const;
