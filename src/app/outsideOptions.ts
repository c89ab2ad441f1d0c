/** Requests to metadata servers of pools and tokens, as options. */
import { parseSource, type PoolSource } from "#src/wallet/pools/source.ts";

/** Names of the options, without `--`. */
export const OUTSIDE_NAMES = ["pool-metadata-fetching", "token-metadata-server", "outside-private"] as const;
type OptionName = (typeof OUTSIDE_NAMES)[number];

/** Their part of the help text. */
export const OUTSIDE_HELP =
  `  --pool-metadata-fetching S  initial source of pool metadata: none, direct or the URL of a SMASH server (none)  ARBOR_POOL_METADATA_FETCHING
  --token-metadata-server URL  server for token metadata such as names (none)  ARBOR_TOKEN_METADATA_SERVER
  --outside-private B  true: metadata servers may be on this machine and in private networks (true with
                       --provider devnet, else false)                   ARBOR_OUTSIDE_PRIVATE`;

export interface OutsideOptions {
  /** Initial source of pool metadata; `PUT /settings` overrides it. */
  readonly poolMetadata: PoolSource;
  /** URL of the token metadata server. */
  readonly tokenMetadata?: string;
  /** Whether servers on this machine and in private networks are allowed. */
  readonly allowPrivate: boolean;
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  /** Whether the network is the deployment's own devnet, which serves its pools' metadata itself. */
  readonly devnet: boolean;
  readonly problem: (sentence: string) => void;
}

/** Reads these options. Calls `problem` for each invalid one; the result is then not usable. */
export function readOutside({ text, devnet, problem }: OptionReaders): OutsideOptions {
  const source = parseSource(text("pool-metadata-fetching") ?? "none");
  if (source === undefined) {
    problem("--pool-metadata-fetching must be none, direct or the URL of a SMASH server, without a path");
  }
  const tokenMetadata = text("token-metadata-server");
  if (tokenMetadata !== undefined && !(URL.canParse(tokenMetadata) && /^https?:/.test(tokenMetadata))) {
    problem("--token-metadata-server must be an http or https URL");
  }
  const allowPrivate = text("outside-private") ?? String(devnet);
  if (!["true", "false"].includes(allowPrivate)) problem("--outside-private must be true or false");
  return {
    poolMetadata: source ?? "none",
    ...(tokenMetadata === undefined ? {} : { tokenMetadata }),
    allowPrivate: allowPrivate === "true",
  };
}
