/** From a build of the token service to the ledger: checked by the client, shown and signed here, submitted, and waited for. */
import { Buffer } from "node:buffer";
import {
  type Checked,
  type CheckedTransaction,
  type PayingOptions,
  signTransaction,
  type TokenClient,
  type Unsigned,
} from "#src/client/tokens.ts";
import { type Context, wholeNumber } from "#src/cli/arbor/command.ts";
import { confirmSigning, isTerminal, type ReviewOptions } from "#src/cli/arbor/review.ts";
import { CliError } from "#src/cli/error.ts";
import { readSecret } from "#src/cli/input.ts";
import { loadKey } from "#src/cli/keyFile.ts";
import { type Progress, startProgress } from "#src/cli/output.ts";
import { type Command } from "commander";
import { isHex } from "#src/base/bytes.ts";

export interface WaitOptions {
  /** Blocks on top of the transaction's. */
  readonly depth?: number;
}

export interface PayerOptions extends ReviewOptions {
  /** The wallet that pays, and signs. */
  readonly wallet?: string;
  /** File with its passphrase. */
  readonly passphraseFile?: string;
}

/** The address that a command builds for, and who signs for it. */
export interface Payer {
  readonly address: string;
  /** For the client's builds. */
  readonly paying: PayingOptions;
  /** Shows a transaction that was checked, and adds the payer's signatures. @throws {CliError} `not_confirmed` */
  sign(transaction: CheckedTransaction): Promise<CheckedTransaction>;
}

/** Milliseconds to wait for each block. */
const BLOCK_MS = 120_000;
/** Longest wait of one request. */
const REQUEST_MS = 60_000;

/** Adds `--depth` to a command that submits. */
export function withDepth(command: Command): Command {
  return command.option(
    "--depth <blocks>",
    "wait until so many blocks are on top of the transaction's",
    wholeNumber(0, 9_999),
    0,
  );
}

/** Adds `--wallet` to a command that builds. */
export function withWallet(command: Command): Command {
  return command
    .option("--wallet <id>", "wallet that pays with all of its coins, and signs; <file> is then one of its addresses")
    .option("--passphrase-file <file>", "with --wallet: file with its passphrase, - for standard input (default: -)")
    .option("-y, --yes", "sign without a question; without a terminal there is none");
}

/** The address in an argument, or that of the key in a file. */
export async function addressIn(
  { addressOf }: Pick<Context<object>, "addressOf">,
  argument: string,
): Promise<string> {
  return /^addr/.test(argument) ? argument : addressOf(await loadKey(argument));
}

/** Who pays for a command: the key in a file, or with `--wallet` that wallet, for one of its addresses. */
export async function payerIn(context: Context<PayerOptions>, argument: string): Promise<Payer> {
  const { tokens, wallets, addressOf, options } = context;
  // only to show until when a transaction is valid
  const slots = isTerminal() ? { slots: (await tokens.config()).slots } : {};
  const { wallet, passphraseFile = "-" } = options;
  if (wallet === undefined) {
    const key = await loadKey(argument);
    return {
      address: addressOf(key),
      paying: slots,
      async sign(checked) {
        await confirmSigning(checked.summary, options);
        return signTransaction(checked, key);
      },
    };
  }
  const address = await addressIn(context, argument);
  const passphrase = await readSecret(passphraseFile, "Passphrase of the wallet:");
  // whose they are says the wallet service, which has the keys
  const own = (transaction: string) => wallets.ownAddresses(wallet, transaction);
  return {
    address,
    paying: { wallet, own, ...slots },
    async sign(checked) {
      await confirmSigning(checked.summary, options);
      const { transaction } = await wallets.sign(
        wallet,
        Buffer.from(checked.cbor, "hex").toString("base64"),
        passphrase,
      );
      return checked.withSignaturesOf(Buffer.from(transaction, "base64").toString("hex"));
    },
  };
}

/** Builds for a payer's address, checks, signs, submits and waits; gives the build's answer with the hash. */
export async function transact<T extends Unsigned>(
  context: Context<WaitOptions & PayerOptions>,
  argument: string,
  build: (address: string, paying: PayingOptions) => Promise<Checked<T>>,
): Promise<Checked<T> & { readonly txHash: string }> {
  const { tokens, options: { depth = 0 } } = context;
  const { address, paying, sign } = await payerIn(context, argument);
  const built = await withProgress(1, async (progress) => {
    progress.step("building and checking the transaction");
    return await build(address, paying);
  });
  const signed = await sign(built.checked);
  const txHash = await withProgress(depth + 2, (progress) => land(tokens, signed, depth, progress));
  return { ...built, txHash };
}

/** Submits a signed transaction and waits; gives its hash. */
export async function submit(
  { tokens, options: { depth = 0 } }: Context<WaitOptions>,
  transaction: string,
): Promise<string> {
  return await withProgress(depth + 2, (progress) => land(tokens, requireTransaction(transaction), depth, progress));
}

/** A transaction as hexadecimal. @throws {CliError} `bad_transaction`. */
export function requireTransaction(text: string): string {
  if (text !== "" && isHex(text)) return text;
  throw new CliError("A transaction is CBOR in hexadecimal.", "bad_transaction");
}

async function withProgress<T>(steps: number, work: (progress: Progress) => Promise<T>): Promise<T> {
  const progress = await startProgress(steps);
  try {
    return await work(progress);
  } finally {
    progress.end();
  }
}

async function land(
  tokens: TokenClient,
  signed: string | CheckedTransaction,
  depth: number,
  progress: Progress,
): Promise<string> {
  progress.step("submitting");
  const hash = await tokens.submit(signed);
  await waitForBlocks(tokens, hash, depth, progress);
  return hash;
}

/** Waits until the token service has read a block with a transaction of another sender. */
export async function untilRead(tokens: TokenClient, txHash: string): Promise<void> {
  await withProgress(1, (progress) => waitForBlocks(tokens, txHash, 0, progress));
}

async function waitForBlocks(tokens: TokenClient, hash: string, depth: number, progress: Progress): Promise<void> {
  for (let reached = 0; reached <= depth; reached++) {
    progress.step(reached === 0 ? "waiting for a block" : `waiting for block ${reached} of ${depth} on top`);
    const end = Date.now() + BLOCK_MS;
    for (;;) {
      const waitMs = Math.max(1, Math.min(REQUEST_MS, end - Date.now()));
      if (await tokens.transaction(hash, { waitMs, depth: reached })) break;
      if (Date.now() < end) continue;
      throw new CliError(
        `Transaction ${hash} was submitted; no block with it came in ${BLOCK_MS / 1000} s.`,
        "wait_too_long",
      );
    }
  }
}
