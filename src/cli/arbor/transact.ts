/** From an unsigned transaction of the token service to the ledger: signed here, submitted, and waited for. */
import type { Unsigned } from "#src/client/tokens.ts";
import { signTransaction, type TokenClient } from "#src/client/tokens.ts";
import { type Context, wholeNumber } from "#src/cli/arbor/command.ts";
import { CliError } from "#src/cli/error.ts";
import { loadKey } from "#src/cli/keyFile.ts";
import { type Progress, startProgress } from "#src/cli/output.ts";
import { type Command } from "commander";
import { isHex } from "#src/base/bytes.ts";

export interface WaitOptions {
  /** Blocks on top of the transaction's. */
  readonly depth?: number;
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

/** Builds for a key's address, signs, submits and waits; gives the build's answer with the hash. */
export async function transact<T extends Pick<Unsigned, "unsignedTransaction">>(
  { tokens, addressOf, options: { depth = 0 } }: Context<WaitOptions>,
  file: string,
  build: (address: string) => Promise<T>,
): Promise<T & { readonly txHash: string }> {
  const key = await loadKey(file);
  return await withProgress(depth + 3, async (progress) => {
    progress.step("building the transaction");
    const built = await build(addressOf(key));
    const txHash = await land(tokens, signTransaction(built.unsignedTransaction, key), depth, progress);
    return { ...built, txHash };
  });
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

async function land(tokens: TokenClient, signed: string, depth: number, progress: Progress): Promise<string> {
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
