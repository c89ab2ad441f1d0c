/** The network as options: the deployment's own devnet, a node, an Ogmios server, a Blockfrost service, or a Yaci Store. */
import { readFileSync } from "node:fs";
import { fileFault } from "#src/base/fileFault.ts";
import type { Point } from "#src/cardano/block.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { publicNetworkGenesis } from "#src/chain/provider/yaci/genesis.ts";
import { isLoopback } from "#src/http/sites.ts";
import { nodeSocketProblem, type UrlForm, urlOf, urlProblem } from "#src/app/optionForms.ts";

export const PROVIDER_NAMES = [
  "provider",
  "node-socket",
  "blockfrost-url",
  "blockfrost-project-file",
  "blockfrost-from",
  "yaci-url",
  "yaci-admin-url",
  "yaci-from",
  "ogmios-url",
  "kupo-url",
  "ogmios-from",
] as const;
type OptionName = (typeof PROVIDER_NAMES)[number];

export const PROVIDER_HELP =
  `  --provider P         network provider: devnet, node, ogmios, blockfrost or yaci (devnet)  ARBOR_PROVIDER
  --node-socket PATH   socket of the node, with --provider node         ARBOR_NODE_SOCKET
  --blockfrost-url URL Blockfrost service, with --provider blockfrost (the official one for magic 1, 2 and mainnet)  ARBOR_BLOCKFROST_URL
  --blockfrost-project-file PATH  file with the project id, instead of BLOCKFROST_PROJECT_ID  ARBOR_BLOCKFROST_PROJECT_FILE
  --blockfrost-from HASH  hash of the block at which a new index starts (first block)  ARBOR_BLOCKFROST_FROM
  --yaci-url URL       Yaci Store's own API, with --provider yaci       ARBOR_YACI_URL
  --yaci-admin-url URL admin host of Yaci DevKit, for networks other than mainnet, preprod and preview  ARBOR_YACI_ADMIN_URL
  --yaci-from HASH     hash of the block at which a new index starts (first block)  ARBOR_YACI_FROM
  --ogmios-url URL     WebSocket of Ogmios, with --provider ogmios      ARBOR_OGMIOS_URL
  --kupo-url URL       Kupo beside it, for outputs by address (the node reads its whole set)  ARBOR_KUPO_URL
  --ogmios-from SLOT.HASH  block after which a new index starts (origin)  ARBOR_OGMIOS_FROM`;

/** A Blockfrost service. */
export interface BlockfrostOptions {
  readonly url: string;
  /** The project id, a secret. */
  readonly projectId?: string;
  /** Hash of the block with which a new index begins. */
  readonly from?: string;
}

/** A Yaci Store. */
export interface YaciOptions {
  readonly url: string;
  /** The admin host of Yaci DevKit. */
  readonly adminUrl?: string;
  /** Hash of the block with which a new index begins. */
  readonly from?: string;
}

/** An Ogmios server. */
export interface OgmiosOptions {
  readonly url: string;
  readonly kupoUrl?: string;
  /** The block after which a new index begins. */
  readonly from?: Point;
}

/** The network; the deployment's own devnet where none is set. */
export interface ProviderOptions {
  readonly nodeSocket?: string;
  readonly blockfrost?: BlockfrostOptions;
  readonly yaci?: YaciOptions;
  readonly ogmios?: OgmiosOptions;
}

const PROVIDERS = ["devnet", "node", "ogmios", "blockfrost", "yaci"];
/** Options whose names begin otherwise than their provider's. */
const OWNERS: Partial<Record<OptionName, string>> = { "kupo-url": "ogmios" };
/** Blockfrost's own services, by magic. */
const SERVICES: Readonly<Record<number, string>> = {
  [MAINNET_MAGIC]: "https://cardano-mainnet.blockfrost.io/api/v0",
  1: "https://cardano-preprod.blockfrost.io/api/v0",
  2: "https://cardano-preview.blockfrost.io/api/v0",
};

const HTTP = ["http", "https"];
/** Forms of the URLs. */
const FORMS = {
  "blockfrost-url": {
    schemes: ["https", "http"],
    example: "https://cardano-preview.blockfrost.io/api/v0",
    note: "without secrets",
  },
  "yaci-url": { schemes: HTTP, example: "http://127.0.0.1:8080/api/v1", note: "without secrets" },
  "yaci-admin-url": { schemes: HTTP, example: "http://127.0.0.1:10000", note: "without a path" },
  "ogmios-url": { schemes: ["ws", "wss"], example: "ws://127.0.0.1:1337", note: "without secrets" },
  "kupo-url": { schemes: HTTP, example: "http://127.0.0.1:1442", note: "without secrets" },
} as const satisfies Partial<Record<OptionName, UrlForm>>;

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
    problem(`--provider ${provider} is not a provider; the providers are ${PROVIDERS.join(", ")}`);
    return {};
  }
  for (const name of PROVIDER_NAMES) {
    const owner = OWNERS[name] ?? PROVIDERS.find((one) => name.startsWith(`${one}-`)) ?? provider;
    if (text(name) !== undefined && owner !== provider) problem(`--${name} requires --provider ${owner}`);
  }
  if (provider === "devnet") return {};
  if (devnet) {
    problem("the role devnet requires --provider devnet; other processes can use its --socket with --provider node");
  }
  if (provider === "blockfrost") return readBlockfrost(readers);
  if (provider === "yaci") return readYaci(readers);
  if (provider === "ogmios") return readOgmios(readers);
  const nodeSocket = text("node-socket");
  const fault = nodeSocket === undefined
    ? "--provider node requires --node-socket PATH"
    : nodeSocketProblem(nodeSocket);
  if (fault !== undefined) problem(fault);
  return nodeSocket === undefined ? {} : { nodeSocket };
}

function readBlockfrost(readers: OptionReaders): ProviderOptions {
  const { text, env, magic, problem } = readers;
  const url = text("blockfrost-url") ?? SERVICES[magic];
  const projectId = readProjectId(text("blockfrost-project-file"), env, problem);
  const from = readFrom("blockfrost-from", readers);
  if (url === undefined) {
    problem(
      "--provider blockfrost requires --blockfrost-url URL for networks other than mainnet, preprod (1) and preview (2)",
    );
    return {};
  }
  const parsed = urlOf(url, FORMS["blockfrost-url"].schemes);
  if (!parsed) {
    problem(urlProblem("blockfrost-url", url, FORMS["blockfrost-url"]));
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

function readYaci(readers: OptionReaders): ProviderOptions {
  const { text, magic, problem } = readers;
  const url = text("yaci-url");
  const adminUrl = text("yaci-admin-url");
  const from = readFrom("yaci-from", readers);
  if (url === undefined) {
    problem("--provider yaci requires --yaci-url URL");
    return {};
  }
  checkUrl("yaci-url", url, problem);
  if (adminUrl !== undefined && urlOf(adminUrl, FORMS["yaci-admin-url"].schemes)?.pathname !== "/") {
    problem(urlProblem("yaci-admin-url", adminUrl, FORMS["yaci-admin-url"]));
  }
  if (adminUrl === undefined && !publicNetworkGenesis(magic)) {
    problem(
      "--provider yaci requires --yaci-admin-url URL for networks other than mainnet, preprod (1) and preview (2): " +
        "Yaci Store does not give the genesis",
    );
  }
  return {
    yaci: { url, ...(adminUrl === undefined ? {} : { adminUrl }), ...(from === undefined ? {} : { from }) },
  };
}

function readOgmios({ text, problem }: OptionReaders): ProviderOptions {
  const url = text("ogmios-url");
  const kupoUrl = text("kupo-url");
  const from = text("ogmios-from");
  if (url === undefined) {
    problem("--provider ogmios requires --ogmios-url URL");
    return {};
  }
  checkUrl("ogmios-url", url, problem);
  if (kupoUrl !== undefined) checkUrl("kupo-url", kupoUrl, problem);
  const [, slot, hash] = /^(\d{1,15})\.([0-9a-f]{64})$/.exec(from ?? "") ?? [];
  if (from !== undefined && hash === undefined) {
    problem("--ogmios-from must be a slot, a dot and a block hash of 64 hexadecimal digits");
  }
  return {
    ogmios: {
      url,
      ...(kupoUrl === undefined ? {} : { kupoUrl }),
      ...(hash === undefined ? {} : { from: { slot: Number(slot), hash } }),
    },
  };
}

function readFrom(name: "blockfrost-from" | "yaci-from", { text, problem }: OptionReaders): string | undefined {
  const from = text(name);
  if (from !== undefined && !/^[0-9a-f]{64}$/.test(from)) {
    problem(`--${name} must be a block hash of 64 hexadecimal digits`);
  }
  return from;
}

function checkUrl(name: keyof typeof FORMS, url: string, problem: OptionReaders["problem"]): void {
  if (!urlOf(url, FORMS[name].schemes)) problem(urlProblem(name, url, FORMS[name]));
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
      problem(`--blockfrost-project-file cannot be read: ${fileFault(error)}`);
    }
  }
  const projectId = read?.trim();
  if (!projectId) return undefined;
  if (/^[A-Za-z0-9_-]{1,200}$/.test(projectId)) return projectId;
  problem("the Blockfrost project id must consist of letters, digits, - and _");
  return undefined;
}
