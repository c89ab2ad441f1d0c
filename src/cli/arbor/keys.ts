/** `arbor key`, `arbor sign` and `arbor submit`. */
import process from "node:process";
import type { Command } from "commander";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { checkAcceptance } from "#src/client/acceptance.ts";
import { signTransaction, signUnchecked } from "#src/client/tokens.ts";
import { type Context, define } from "#src/cli/arbor/command.ts";
import { confirmSigning, isTerminal, type ReviewOptions } from "#src/cli/arbor/review.ts";
import { submitCommand } from "#src/cli/arbor/tokens.ts";
import { requireTransaction } from "#src/cli/arbor/transact.ts";
import { CliError } from "#src/cli/error.ts";
import { readText } from "#src/cli/input.ts";
import { createKey, loadKey } from "#src/cli/keyFile.ts";
import { printable } from "#src/cli/output.ts";

const publicParts = ({ addressOf }: Pick<Context<object>, "addressOf">, key: SigningKey) => ({
  address: addressOf(key),
  keyHash: keyHash(publicKey(key)),
  publicKey: toHex(publicKey(key)),
});

/** Adds `arbor key`, `arbor sign` and `arbor submit`. */
export function keyCommands(program: Command): void {
  const parent = program.command("key").description("payment keys in files")
    .addHelpText("after", "\nExample:\n  $ arbor key new alice.key");

  define(parent, {
    usage: "new <file>",
    description: "create a payment key in a new file, print its address",
    example: "key new alice.key",
  }, async (context, file) => {
    const { output } = context;
    const parts = publicParts(context, await createKey(file));
    output.value(parts.address, parts);
  });

  define(parent, {
    usage: "show <file>",
    description: "address, hash and public key of a key",
    example: "key show alice.key",
  }, async (context, file) => {
    const { output } = context;
    const parts = publicParts(context, await loadKey(file));
    output.record(parts, [
      ["address", parts.address],
      ["key hash", parts.keyHash],
      ["public key", parts.publicKey],
    ]);
  });

  define(program, {
    usage: "sign <file> <transaction>",
    description:
      "print a transfer (hexadecimal CBOR, or - for standard input) with the next owner's signature added; other transactions with --yes",
    example: "sign bob.key 84a4…",
  }, async (context: Context<ReviewOptions>, file, transaction) => {
    const key = await loadKey(file);
    const signed = await withSignature(context, requireTransaction(await readText(transaction)), key);
    context.output.value(signed, { transaction: signed });
  }).option("-y, --yes", "sign whatever the transaction does");
  submitCommand(program);
}

/** A transfer to the key is signed once it is checked; another transaction where a person or `--yes` says so. */
async function withSignature(
  { tokens, options }: Context<ReviewOptions>,
  transaction: string,
  key: SigningKey,
): Promise<string> {
  try {
    const bytes = fromHex(transaction);
    transactionHash(bytes);
    if (options.yes) return signUnchecked(transaction, key);
    const checked = await checkAcceptance(tokens, transaction, { key: keyHash(publicKey(key)) });
    if (checked.ok) {
      await confirmSigning(checked.value.summary, options);
      return signTransaction(checked.value, key).cbor;
    }
    const reason =
      `The transaction is not known to be a transfer that takes nothing from this key: ${checked.error.message}`;
    if (!isTerminal()) throw new CliError(`${reason} --yes signs it all the same.`, "not_checked");
    process.stderr.write(`${printable(reason)}\nWhat the service says that it does:\n`);
    await confirmSigning(await tokens.explain(transaction), options);
    return signUnchecked(transaction, key);
  } catch (error) {
    if (error instanceof CborError) throw new CliError(`This is no transaction: ${error.message}.`, "bad_transaction");
    throw error;
  }
}
