/** Help of `cardano-wallet serve`. It loads nothing of the server. */
import { TRACER_NAMES } from "#src/app/logOptions.ts";

/** The options of cardano-wallet's `serve`, with their defaults. */
export const CARDANO_WALLET_SERVE_HELP = `Options:
  --listen-address HOST         IPv4 or IPv6 address or host name of the wallet service, * for all (127.0.0.1)
  --node-socket FILE            socket of the node, or its pipe on Windows (required)
  --sync-tolerance DURATION     lag within which a wallet is synchronised, in seconds with a trailing s (300s)
  --port INT | --random-port    port of the wallet service, 1024 to 65535, or any free one (8090)
  --ui-port INT | --ui-random-port  a second port of the wallets' page (none)
  --tls-ca-cert FILE            authority of the clients' certificates; with the two others only
  --tls-sv-cert FILE            certificate of the server
  --tls-sv-key FILE             private key of the server
  --mainnet | --testnet FILE    the network: mainnet, or the test network of a Byron genesis file (one is required)
  --database DIR                folder of the data (in memory)
  --shutdown-handler            end when standard input ends
  --pool-metadata-fetching S    none, direct or the URL of a SMASH server (none)
  --token-metadata-server URL   server of token metadata (none)
  --ipfs-gateway-url URL        IPFS gateway for metadata at ipfs:// (https://ipfs.blockfrost.dev)
  --log-level SEVERITY          least severity of all messages (debug)
  --trace-NAME SEVERITY         least severity of one tracer's messages, or off (info)
  --help-tracing                severities and tracers
  +RTS -N<k> -RTS               threads for computations

The options of Arbor's own start are there too: docs/reference/options.md lists them.`;

/** Help for `--help-tracing`. */
export const TRACING_HELP = `Tracing options:

  --log-level SEVERITY     the least severity of all messages (debug)
  --trace-NAME SEVERITY    the least severity of the messages of one tracer, never less than --log-level (info)
  --trace-NAME off         no messages of this tracer

Severities, from the lowest: debug, info, notice, warning, error, critical, alert, emergency
Tracers: ${TRACER_NAMES.join(", ")}`;
