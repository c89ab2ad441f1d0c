/** The signing services of a process, as options. */
import { urlProblem } from "#src/app/optionForms.ts";
import { isLoopback } from "#src/http/sites.ts";
import { TOKEN_LENGTH } from "#src/operators/http/guard.ts";

export const SIGNER_NAMES = [
  "signer-seed",
  "signer-generate",
  "signer-port",
  "signer-host",
  "signer-token",
  "topup-url",
] as const;
type OptionName = (typeof SIGNER_NAMES)[number];

export const SIGNER_HELP =
  `  --signer-seed FILE,F files with the mnemonics of signing services, one service for each (none)  ARBOR_SIGNER_SEED
  --signer-generate W  when a file gets a new mnemonic: never, missing or always (never)  ARBOR_SIGNER_GENERATE
  --signer-port N,N    ports of the signing services (3000)             ARBOR_SIGNER_PORT
  --signer-host HOST   address of the signing services; other than loopback needs a token (--host)  ARBOR_SIGNER_HOST
  --signer-token T     bearer token of the signing services, 16 characters or more  ARBOR_SIGNER_TOKEN
  --topup-url URL      admin host whose faucet pays the wallets of the signing services (that of the devnet or of Yaci DevKit)  ARBOR_TOPUP_URL`;

const GENERATES = ["never", "missing", "always"] as const;
type Generates = (typeof GENERATES)[number];

/** A signing service: one wallet at one port. */
export interface SignerInstance {
  /** File with the wallet's mnemonic. */
  readonly seed: string;
  readonly port: number;
}

export interface Signers {
  readonly instances: readonly SignerInstance[];
  /** When a file gets a new mnemonic; `always`: at every start. */
  readonly generate: Generates;
  readonly host: string;
  readonly token?: string;
  /** Admin host of Yaci DevKit or of a devnet. */
  readonly topupUrl?: string;
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  /** Default of the host. */
  readonly host: string;
  /** Default of the port. */
  readonly port: number;
  readonly problem: (sentence: string) => void;
}

const items = (text: string) => text.split(",").map((item) => item.trim()).filter(Boolean);

/** Reads the options; undefined where they name no file. Calls `problem` for each invalid one. */
export function readSigners({ text, host: usual, port: usualPort, problem }: OptionReaders): Signers | undefined {
  const seeds = items(text("signer-seed") ?? "");
  if (seeds.length === 0) return undefined;
  if (new Set(seeds).size < seeds.length) problem("--signer-seed names a file twice: each service has its own wallet");
  const ports = items(text("signer-port") ?? String(usualPort)).map((port) => {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
      problem(`--signer-port must be whole numbers from 0 to 65535, not ${port}`);
    }
    return Number(port);
  });
  if (ports.length !== seeds.length) {
    problem(`--signer-port has ${ports.length} ports for ${seeds.length} files of --signer-seed`);
  }
  const given = text("signer-generate") ?? "never";
  const generate = GENERATES.find((one) => one === given);
  if (generate === undefined) problem(`--signer-generate must be ${GENERATES.join(", ")}, not ${given}`);
  const host = text("signer-host") ?? usual;
  const token = text("signer-token");
  if (token !== undefined && (token.length < TOKEN_LENGTH || /\s/.test(token))) {
    problem(`--signer-token must have at least ${TOKEN_LENGTH} characters and no spaces`);
  }
  if (token === undefined && !isLoopback(host)) {
    problem(
      `the signing service would be reachable from other machines on ${host}: set --signer-token with at least ` +
        `${TOKEN_LENGTH} characters, or --signer-host 127.0.0.1`,
    );
  }
  const topupUrl = text("topup-url");
  if (topupUrl !== undefined && !(URL.canParse(topupUrl) && /^https?:$/.test(new URL(topupUrl).protocol))) {
    problem(urlProblem("topup-url", topupUrl, { schemes: ["http", "https"], example: "http://127.0.0.1:10000" }));
  }
  return {
    instances: seeds.map((seed, i) => ({ seed, port: ports[i] ?? 0 })),
    generate: generate ?? "never",
    host,
    ...(token === undefined ? {} : { token }),
    ...(topupUrl === undefined ? {} : { topupUrl }),
  };
}
