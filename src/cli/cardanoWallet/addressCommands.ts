/** `address payment | delegation | stake | pointer | bootstrap | inspect`: addresses without a server. */
import { type Command, InvalidArgumentError } from "commander";
import { fromHex, toHex } from "#src/base/bytes.ts";
import {
  type Address,
  addressText,
  baseAddress,
  type Credential,
  enterpriseAddress,
  type NetworkId,
  type PaymentAddress,
  pointerAddress,
  readAddress,
  rewardAddress,
} from "#src/cardano/address.ts";
import { byronAddress, toBase58 } from "#src/cardano/byron.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { inspect } from "#src/cardano/inspectAddress.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { CliError } from "#src/cli/error.ts";
import { addCommand, type Context, put, putLine } from "#src/cli/cardanoWallet/context.ts";
import { checked, readPath } from "#src/cli/cardanoWallet/options.ts";
import { decodeText, readExtended, readPrefixed } from "#src/cli/cardanoWallet/keyInput.ts";
import { prettyJson } from "#src/cli/cardanoWallet/prettyJson.ts";
import { byronPathKey, openByronPath, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import { writeXpub } from "#src/cardano/keys/account.ts";

const SHELLEY_TAGS: Readonly<Record<string, NetworkId>> = {
  mainnet: 1,
  testnet: 0,
  preview: 0,
  preprod: 0,
  0: 0,
  1: 1,
};
const BYRON_TAGS: Readonly<Record<string, number>> = {
  mainnet: MAINNET_MAGIC,
  staging: 633_343_913,
  testnet: 1_097_911_063,
  preview: 2,
  preprod: 1,
};

function readNetwork(text: string): NetworkId {
  const tag = Object.hasOwn(SHELLEY_TAGS, text) ? SHELLEY_TAGS[text] : undefined;
  if (tag !== undefined) return tag;
  throw new InvalidArgumentError(
    "Invalid network tag. Must be 0, 1 or one of the allowed keywords: mainnet, testnet, preview, preprod",
  );
}

function readMagic(text: string): number {
  const known = Object.hasOwn(BYRON_TAGS, text) ? BYRON_TAGS[text] : undefined;
  const magic = known ?? (/^\d{1,10}$/.test(text) ? Number(text) : -1);
  if (magic >= 0 && magic < 2 ** 32) return magic;
  throw new InvalidArgumentError(
    `Invalid network tag. Must be an integer value or one of the allowed keywords: ${
      Object.keys(BYRON_TAGS).join(", ")
    }`,
  );
}

/** A credential from a key of a role, its hash, or the hash of a script. */
function readCredential(text: string, role: "addr" | "stake"): Credential {
  const allowed = [`${role}_xvk`, `${role}_vk`, `${role}_vkh`, `${role}_shared_vkh`, "script", "xpub"];
  const { prefix, bytes } = readPrefixed(text, allowed, { 64: "xpub" });
  const [length, kind] = /_xvk$|^xpub$/.test(prefix)
    ? [64, "key"] as const
    : /_vk$/.test(prefix)
    ? [32, "key"] as const
    : [28, /_vkh$/.test(prefix) && !prefix.includes("shared") ? "key" : "script"] as const;
  if (bytes.length !== length) {
    throw new CliError(
      `Couldn't convert bytes into ${
        kind === "script" ? "script hash" : "public key"
      }: there are ${bytes.length}, not ${length}.`,
    );
  }
  return { kind, hash: length === 28 ? toHex(bytes) : keyHash(bytes.subarray(0, 32)) };
}

/** An address in any encoding. */
function readAnyAddress(text: string): Address {
  const read = readAddress(decodeText(text).bytes);
  if (!read.ok) throw new CliError(`Error: ${read.error.message}`);
  return read.value;
}

/** An address without stake, which delegation or a pointer can be added to. */
function readPayment(text: string): PaymentAddress {
  const address = readAnyAddress(text);
  if (address.kind === "byron") throw new CliError("Given address isn't a Shelley address");
  if (address.kind !== "enterprise") throw new CliError("Only payment addresses can be extended");
  return address;
}

/** A number of 64 bits. */
function natural(text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n) return BigInt(text);
  throw new InvalidArgumentError("A whole number is expected.");
}

const rootPublicKey = checked((text: string) => writeXpub(readExtended(text, ["root"], ["public"]).node));

/** Adds the commands that build and inspect addresses to `address`. */
export function addressCommands(group: Command, context: Context): void {
  const { prompts } = context;
  const tag = [
    "--network-tag <NETWORK-TAG>",
    "the network: 0, 1, mainnet, testnet, preview or preprod",
    readNetwork,
  ] as const;

  addCommand(
    group,
    "payment",
    "Create a payment address, which carries no delegation rights, from a public key or a script hash on stdin",
    "cat addr.prv | cardano-wallet key public | cardano-wallet address payment --network-tag testnet",
  )
    .requiredOption(...tag)
    .action(async ({ networkTag }: { networkTag: NetworkId }) => {
      const credential = readCredential(await prompts.all("Please enter the public key: "), "addr");
      put(context, addressText(enterpriseAddress(networkTag, credential)));
    });

  addCommand(
    group,
    "delegation",
    "Create a delegation address from the payment address on stdin",
    "cat addr | cardano-wallet address delegation $(cat stake.prv | cardano-wallet key public)",
  )
    .argument(
      "<CREDENTIAL>",
      "a stake public key, its hash, or a script hash",
      checked((text) => readCredential(text, "stake")),
    )
    .action(async (stake: Credential) => {
      const { network, payment } = readPayment(await prompts.all("Please enter the payment address: "));
      put(context, addressText(baseAddress(network, payment, stake)));
    });

  addCommand(
    group,
    "stake",
    "Create a stake address from a stake public key or a script hash on stdin",
    "cat stake.prv | cardano-wallet key public | cardano-wallet address stake --network-tag testnet",
  )
    .requiredOption(...tag)
    .action(async ({ networkTag }: { networkTag: NetworkId }) => {
      const credential = readCredential(await prompts.all("Please enter the stake public key: "), "stake");
      put(context, addressText(rewardAddress(networkTag, credential)));
    });

  addCommand(
    group,
    "pointer",
    "Create an address with the position of a stake registration on the chain from the payment address on stdin",
    "cat addr | cardano-wallet address pointer 42 14 0",
  )
    .argument("<SLOT>", "a slot number", natural)
    .argument("<TX>", "index of a transaction within that slot", natural)
    .argument("<OUT>", "index of a certificate within that transaction", natural)
    .action(async (slot: bigint, transaction: bigint, certificate: bigint) => {
      const { network, payment } = readPayment(await prompts.all("Please enter the payment address: "));
      put(context, addressText(pointerAddress(network, payment, { slot, transaction, certificate })));
    });

  bootstrapCommand(group, context);
  inspectCommand(group, context);
}

function bootstrapCommand(group: Command, context: Context): void {
  addCommand(
    group,
    "bootstrap",
    "Create an address of the Byron era from an address public key on stdin",
    "cat addr.prv | cardano-wallet key public | cardano-wallet address bootstrap --network-tag mainnet",
    "cat addr.prv | cardano-wallet key public | " +
      "cardano-wallet address bootstrap --root $(cat root.prv | cardano-wallet key public) --network-tag preview 14H/42H",
  )
    .argument("[DERIVATION-PATH]", "account and address of a random wallet, such as 0H/14H", checked(readPath))
    .option("--root <XPUB>", "root public key of a random wallet", rootPublicKey)
    .requiredOption(
      "--network-tag <NETWORK-TAG>",
      `the network: a protocol magic, ${Object.keys(BYRON_TAGS).join(", ")}`,
      readMagic,
    )
    .action(
      async (path: readonly number[] | undefined, options: { root?: string; networkTag: number }, command: Command) => {
        if (path && options.root === undefined) {
          command.error("error: a root public key must be given with --root where a path is given");
        }
        if (path && path.length !== 2) {
          command.error("error: Byron derivation path must describe 2 levels (e.g. 0H/0H)");
        }
        const magic = options.networkTag === MAINNET_MAGIC ? undefined : options.networkTag;
        const { node } = readExtended(await context.prompts.all("Please enter the public key: "), ["addr"], ["public"]);
        const key = writeXpub(node);
        const hex = path && options.root !== undefined
          ? randomAddress({ pathKey: byronPathKey(options.root), path, key, magic })
          : byronAddress({ key: fromHex(key), magic });
        put(context, toBase58(fromHex(hex)));
      },
    );
}

function inspectCommand(group: Command, context: Context): void {
  addCommand(
    group,
    "inspect",
    "Show information about an address, which is read from stdin",
    "echo stake1u9… | cardano-wallet address inspect",
  )
    .option(
      "--root <XPUB>",
      "root public key, which decrypts the derivation path in an address of a random wallet",
      rootPublicKey,
    )
    .action(async ({ root }: { root?: string }) => {
      const address = readAnyAddress(await context.prompts.all("Please enter the address: "));
      putLine(context, prettyJson({ ...inspect(address), ...decryptedPath(address, root) }));
    });
}

/** The path in an address of a random wallet, decrypted where the root's public key is known. */
function decryptedPath(address: Address, root: string | undefined): Record<string, unknown> {
  if (root === undefined || address.kind !== "byron" || address.byron.derivationPath === undefined) return {};
  const path = openByronPath(byronPathKey(root), address.byron.derivationPath);
  if (!path) throw new CliError("Error: Failed to decrypt derivation path: it is not of the wallet of this root key.");
  const [account_index, address_index] = path.map((index) => index >= HARD ? `${index - HARD}H` : `${index}`);
  return { derivation_path: { account_index, address_index } };
}
