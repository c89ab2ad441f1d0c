/** A payment key in a file: its bech32 text (CIP-5), readable by its owner only. */
import { chmod, readFile, writeFile } from "node:fs/promises";
import { errorCode } from "#src/base/errorCode.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { reason } from "#src/base/log.ts";
import { enterpriseAddress, type NetworkId } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { readKey, writeKey } from "#src/cardano/keys/keyText.ts";
import { CliError } from "#src/cli/error.ts";

/** Writes a new key; an existing file is left alone. */
export async function createKey(file: string): Promise<SigningKey> {
  const key = newSeed();
  try {
    await writeFile(file, writeKey("ed25519_sk", { form: "secret", key }) + "\n", { flag: "wx", mode: 0o600 });
    await chmod(file, 0o600);
  } catch (error) {
    if (errorCode(error) === "EEXIST") {
      throw new CliError(`${file} already exists; it was not changed.`, "file_exists");
    }
    throw new CliError(`${file} cannot be written: ${reason(error)}`, "file_not_written");
  }
  return key;
}

/** Reads the key in a file. */
export async function loadKey(file: string): Promise<SigningKey> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    const missing = `${file} does not exist. \`arbor key new ${file}\` writes a new key there.`;
    const text = errorCode(error) === "ENOENT" ? missing : `${file} cannot be read: ${fileFault(error)}`;
    throw new CliError(text, "file_not_read");
  }
  const read = readKey(text);
  if (!read.ok || read.value.form !== "secret") {
    throw new CliError(`${file} does not contain a payment key (ed25519_sk…).`, "bad_key");
  }
  return read.value.key;
}

/** The enterprise address of a key, by default on a test network. */
export function addressOf(key: SigningKey, network: NetworkId = 0) {
  return enterpriseAddress(network, { kind: "key", hash: keyHash(publicKey(key)) });
}
