/** Requests to servers outside of the network, as options: metadata of pools and tokens, and the time. */
import type { NtpServer } from "#src/base/ntpClock.ts";
import { notUrl, urlProblem } from "#src/app/optionForms.ts";
import { parseSource, type PoolSource } from "#src/wallets/pools/source.ts";

/** Names of the options, without `--`. */
export const OUTSIDE_NAMES = [
  "pool-metadata-fetching",
  "token-metadata-server",
  "ipfs-gateway-url",
  "outside-private",
  "ntp-servers",
] as const;
type OptionName = (typeof OUTSIDE_NAMES)[number];

/** The gateway of cardano-wallet. */
const IPFS_GATEWAY = "https://ipfs.blockfrost.dev";

const EXAMPLES = { "token-metadata-server": "https://tokens.cardano.org", "ipfs-gateway-url": IPFS_GATEWAY };

/** Their part of the help text. */
export const OUTSIDE_HELP =
  `  --pool-metadata-fetching S  initial source of pool metadata: none, direct or the URL of a SMASH server
                       (direct with --provider devnet, else none)         ARBOR_POOL_METADATA_FETCHING
  --token-metadata-server URL  server for token metadata such as names (none)  ARBOR_TOKEN_METADATA_SERVER
  --ipfs-gateway-url URL  IPFS gateway for metadata at ipfs:// (${IPFS_GATEWAY})  ARBOR_IPFS_GATEWAY_URL
  --outside-private B  true: servers that others name may be on this machine and in private networks; the three above
                       always may (true with --provider devnet, else false)                  ARBOR_OUTSIDE_PRIVATE
  --ntp-servers HOST[:PORT],…  NTP servers for GET /network/clock, or none (none with --provider devnet,
                       else those of cardano-wallet)                    ARBOR_NTP_SERVERS`;

/** Servers of cardano-wallet, one of each of its pools. */
const NTP_SERVERS = "0.de.pool.ntp.org,0.europe.pool.ntp.org,0.pool.ntp.org";
const NTP_PORT = 123;

export interface OutsideOptions {
  /** Initial source of pool metadata; `PUT /settings` overrides it. */
  readonly poolMetadata: PoolSource;
  /** URL of the token metadata server. */
  readonly tokenMetadata?: string;
  /** URL of the IPFS gateway. */
  readonly ipfs: string;
  /** Whether servers on this machine and in private networks are allowed. */
  readonly allowPrivate: boolean;
  /** Servers that are asked for the time. */
  readonly ntpServers: readonly NtpServer[];
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  /** Whether the network is the deployment's own devnet, which serves its pools' metadata itself. */
  readonly devnet: boolean;
  readonly problem: (sentence: string) => void;
}

/** Reads these options. Calls `problem` for each invalid one; the result is then not usable. */
export function readOutside({ text, devnet, problem }: OptionReaders): OutsideOptions {
  const stated = text("pool-metadata-fetching") ?? (devnet ? "direct" : "none");
  const source = parseSource(stated);
  if (source === undefined) {
    const expected = "--pool-metadata-fetching must be none, direct or the URL of a SMASH server, without a path";
    problem(expected + notUrl(stated, ["https", "http"]));
  }
  const tokenMetadata = text("token-metadata-server");
  const ipfs = text("ipfs-gateway-url") ?? IPFS_GATEWAY;
  for (const [name, url] of [["token-metadata-server", tokenMetadata], ["ipfs-gateway-url", ipfs]] as const) {
    const isValid = url === undefined || (URL.canParse(url) && /^https?:/.test(url));
    if (!isValid) problem(urlProblem(name, url, { schemes: ["https", "http"], example: EXAMPLES[name] }));
  }
  const allowPrivate = text("outside-private") ?? String(devnet);
  if (!["true", "false"].includes(allowPrivate)) problem("--outside-private must be true or false");
  return {
    poolMetadata: source ?? "none",
    ...(tokenMetadata === undefined ? {} : { tokenMetadata }),
    ipfs,
    allowPrivate: allowPrivate === "true",
    ntpServers: readNtpServers(text("ntp-servers") ?? (devnet ? "none" : NTP_SERVERS), problem),
  };
}

/** Servers separated by commas: `host`, `host:port`, `[::1]:port`. */
function readNtpServers(list: string, problem: (sentence: string) => void): NtpServer[] {
  if (list === "none") return [];
  return list.split(",").map((text) => {
    const [, six, four, port = NTP_PORT] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text.trim()) ??
      [];
    const host = six ?? four;
    if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
      problem(
        `--ntp-servers must be none or hosts like 0.pool.ntp.org, with :PORT where it is not ${NTP_PORT}, not ${text}`,
      );
    }
    return { host: host ?? "", port: Number(port) };
  });
}
