/** The network as options: the deployment's own devnet, a node, or a Blockfrost service. */
import { readFileSync } from "node:fs";
import { reason } from "#src/base/log.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { isLoopback } from "#src/edge/operator/guard.ts";

export const PROVIDER_NAMES = [
  "provider",
  "node-socket",
  "blockfrost-url",
  "blockfrost-project-file",
  "blockfrost-from",
] as const;
type OptionName = (typeof PROVIDER_NAMES)[number];

export const PROVIDER_HELP =
  `  --provider P         network provider: devnet, node or blockfrost (devnet)  ARBOR_PROVIDER
  --node-socket PATH   socket of the node, with --provider node         ARBOR_NODE_SOCKET
  --blockfrost-url URL Blockfrost service, with --provider blockfrost (the official one for magic 1, 2 and mainnet)  ARBOR_BLOCKFROST_URL
  --blockfrost-project-file PATH  file with the project id, instead of BLOCKFROST_PROJECT_ID  ARBOR_BLOCKFROST_PROJECT_FILE
  --blockfrost-from HASH  hash of the block at which a new index starts (first block)  ARBOR_BLOCKFROST_FROM`;

/** A Blockfrost service. */
export interface BlockfrostOptions {
  readonly url: string;
  /** The project id, a secret. */
  readonly projectId?: string;
  /** Hash of the block with which a new index begins. */
  readonly from?: string;
}

/** The network; the deployment's own devnet where neither is set. */
export interface ProviderOptions {
  readonly nodeSocket?: string;
  readonly blockfrost?: BlockfrostOptions;
}

const PROVIDERS = ["devnet", "node", "blockfrost"];
/** Blockfrost's own services, by magic. */
const SERVICES: Readonly<Record<number, string>> = {
  [MAINNET_MAGIC]: "https://cardano-mainnet.blockfrost.io/api/v0",
  1: "https://cardano-preprod.blockfrost.io/api/v0",
  2: "https://cardano-preview.blockfrost.io/api/v0",
};

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly magic: number;
  /** Whether the options name the role `devnet`. */
  readonly devnet: boolean;
  readonly problem: (sentence: string) => void;
}

/** Reads the network's options; contradictions are reported as problems. */
export function readProvider(provider: string, readers: OptionReaders): ProviderOptions {
  const { text, devnet, problem } = readers;
  if (!PROVIDERS.includes(provider)) {
    problem(`${provider} is not a provider; the providers are ${PROVIDERS.join(", ")}`);
    return {};
  }
  for (const name of PROVIDER_NAMES) {
    const owner = name.startsWith("blockfrost") ? "blockfrost" : name === "node-socket" ? "node" : provider;
    if (text(name) !== undefined && owner !== provider) problem(`--${name} requires --provider ${owner}`);
  }
  if (provider === "devnet") return {};
  if (devnet) {
    problem("the role devnet requires --provider devnet; other processes can use its --socket with --provider node");
  }
  if (provider === "blockfrost") return readBlockfrost(readers);
  const nodeSocket = text("node-socket");
  if (nodeSocket !== undefined) return { nodeSocket };
  problem("--provider node requires --node-socket PATH");
  return {};
}

function readBlockfrost({ text, env, magic, problem }: OptionReaders): ProviderOptions {
  const url = text("blockfrost-url") ?? SERVICES[magic];
  const projectId = readProjectId(text("blockfrost-project-file"), env, problem);
  const from = text("blockfrost-from");
  if (from !== undefined && !/^[0-9a-f]{64}$/.test(from)) {
    problem("--blockfrost-from must be a block hash of 64 hexadecimal digits");
  }
  if (url === undefined) {
    problem(
      "--provider blockfrost requires --blockfrost-url URL for networks other than mainnet, preprod (1) and preview (2)",
    );
    return {};
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password || parsed.search) {
    problem("--blockfrost-url must be a URL like https://cardano-preview.blockfrost.io/api/v0, without secrets");
    return {};
  }
  if (projectId !== undefined && parsed.protocol === "http:" && !isLoopback(parsed.hostname)) {
    problem("--blockfrost-url must use https if a project id is sent to another machine");
  }
  return {
    blockfrost: {
      url,
      ...(projectId === undefined ? {} : { projectId }),
      ...(from === undefined ? {} : { from }),
    },
  };
}

/**
 * The project id from a file or from the environment. It becomes a header of every request, so it must be a plain
 * token.
 */
function readProjectId(
  file: string | undefined,
  env: OptionReaders["env"],
  problem: OptionReaders["problem"],
): string | undefined {
  let read = env.BLOCKFROST_PROJECT_ID;
  if (file !== undefined) {
    try {
      read = readFileSync(file, "utf8");
    } catch (error) {
      problem(`--blockfrost-project-file cannot be read: ${reason(error)}`);
    }
  }
  const projectId = read?.trim();
  if (!projectId) return undefined;
  if (/^[A-Za-z0-9_-]{1,200}$/.test(projectId)) return projectId;
  problem("the Blockfrost project id must consist of letters, digits, - and _");
  return undefined;
}
