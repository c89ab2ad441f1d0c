/** `wallet-key-export`: the decrypted root key of a wallet, for other wallets and for `cardano-cli`. */
import type { Command } from "commander";
import { concat, toHex } from "#src/base/bytes.ts";
import { ok } from "#src/base/result.ts";
import { type SecretNode, toPublic } from "#src/cardano/keys/derivation.ts";
import { CliError } from "#src/cli/error.ts";
import { type Context, putLine } from "#src/cli/cardanoWallet/context.ts";

const ENVELOPES = {
  Byron: "PaymentSigningKeyByron_ed25519_bip32",
  Shelley: "PaymentExtendedSigningKeyShelley_ed25519_bip32",
} as const;

/** Declares the arguments, and what a command with them does. */
export function keyExport(command: Command, context: Context): Command {
  return command
    .description("Verify the spending passphrase of a wallet and print its decrypted root key. No server is needed.")
    .usage("[options] <path-to-wallet.db> <wallet-id>")
    .argument(
      "<PATH_AND_WALLET_ID...>",
      "SQLite file of a wallet of cardano-wallet, or the data folder of this server (.arbor), and the id of the wallet; with --database the id alone",
    )
    .option("--database <URL>", "read a PostgreSQL database of this server (its DATABASE_URL) instead")
    .addHelpText(
      "after",
      "\nExample:\n  $ wallet-key-export she.2512a00e9653fe49a44a5886202e24d77eeb998f.sqlite 2512a00e9653fe49a44a5886202e24d77eeb998f",
    )
    .action(async (args: readonly string[], { database }: { database?: string }) => {
      const [first = "", second = "", ...more] = database === undefined ? args : [database, ...args];
      if (second === "" || more.length > 0) {
        command.error("error: a path to a database and the id of a wallet are required");
      }
      // what reads databases is not loaded by other commands
      const { fromPath, fromServer } = await import("#src/cli/keyExport/sources.ts");
      const { type, open } = await (database === undefined ? fromPath : fromServer)(first, second);
      const passphrase = await context.prompts.secret(
        "Enter spending passphrase: ",
        // once: a wrong passphrase ends the command, so that scripts do not wait
        (line) => ok(line),
      );
      if (passphrase === "") throw new CliError("Error: empty passphrase");
      const node = await open(passphrase);
      if (!node) throw new CliError("Error: wrong passphrase");
      print(context, type, node);
    });
}

function print(context: Context, type: keyof typeof ENVELOPES, node: SecretNode): void {
  const hex = toHex(concat(node.key, toPublic(node).key, node.chainCode));
  const envelope = { type: ENVELOPES[type], description: "Payment Signing Key", cborHex: `5880${hex}` };
  putLine(context, `Key type: ${type}\n`);
  putLine(context, `=== Raw XPrv (hex) ===\n${hex}\n`);
  putLine(context, `=== Text Envelope ===\n${JSON.stringify(envelope, null, 4)}`);
}
