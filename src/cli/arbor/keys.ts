/** `arbor key`, `arbor sign` and `arbor submit`. */
import type { Command } from "commander";
import { toHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { keyHash, publicKey, type SigningKey } from "#src/cardano/keys.ts";
import { signTransaction } from "#src/client/tokens.ts";
import { type Context, define } from "#src/cli/arbor/command.ts";
import { submitCommand } from "#src/cli/arbor/tokens.ts";
import { requireTransaction } from "#src/cli/arbor/transact.ts";
import { CliError } from "#src/cli/error.ts";
import { readText } from "#src/cli/input.ts";
import { createKey, loadKey } from "#src/cli/keyFile.ts";

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
    const parts = publicParts(context, await createKey(file!));
    output.value(parts.address, parts);
  });

  define(parent, {
    usage: "show <file>",
    description: "address, hash and public key of a key",
    example: "key show alice.key",
  }, async (context, file) => {
    const { output } = context;
    const parts = publicParts(context, await loadKey(file!));
    output.record(parts, [
      ["address", parts.address],
      ["key hash", parts.keyHash],
      ["public key", parts.publicKey],
    ]);
  });

  define(program, {
    usage: "sign <file> <transaction>",
    description: "print a transaction (hexadecimal CBOR, or - for standard input) with a signature added",
    example: "sign alice.key 84a4…",
  }, async ({ output }, file, transaction) => {
    const key = await loadKey(file!);
    const signed = withSignature(requireTransaction(await readText(transaction!)), key);
    output.value(signed, { transaction: signed });
  });
  submitCommand(program);
}

function withSignature(transaction: string, key: SigningKey): string {
  try {
    return signTransaction(transaction, key);
  } catch (error) {
    if (error instanceof CborError) throw new CliError(`This is no transaction: ${error.message}.`, "bad_transaction");
    throw error;
  }
}
