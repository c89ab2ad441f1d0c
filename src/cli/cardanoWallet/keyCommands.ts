/** `key`: keys of a wallet, without a server. */
import { type Command, Option } from "commander";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { deriveByron } from "#src/cardano/keys/byronDerivation.ts";
import { derive, derivePublic, HARD, ROLES } from "#src/cardano/keys/derivation.ts";
import { blake2b224 } from "#src/cardano/hash.ts";
import { CliError } from "#src/cli/error.ts";
import { addCommand, addGroup, type Context, put, putLine } from "#src/cli/cardanoWallet/context.ts";
import {
  encodeText,
  type ExtendedKey,
  KEY_NAMES,
  onKey,
  prefixOf,
  publicSide,
  readExtended,
  readPrefixed,
} from "#src/cli/cardanoWallet/keyInput.ts";
import { checked, encodingOf, type EncodingOptions, encodings, readPath } from "#src/cli/cardanoWallet/options.ts";
import { fromPhraseCommand } from "#src/cli/cardanoWallet/phraseCommands.ts";
import { prettyJson } from "#src/cli/cardanoWallet/prettyJson.ts";
import { keyHashText, parseTemplate } from "#src/cli/cardanoWallet/scriptText.ts";
import { walletId, writeXpub } from "#src/cardano/keys/account.ts";
import { sharedWalletId } from "#src/wallets/shared/account.ts";

/** Adds `key`. */
export function keyCommands(program: Command, context: Context): void {
  const group = addGroup(program, "key", "About public/private keys");
  fromPhraseCommand(group, context);
  childCommand(group, context);

  encodings(addCommand(
    group,
    "public",
    "Get the public counterpart of a private key. The private key is read from stdin.",
    "cat root.prv | cardano-wallet key public --with-chain-code",
  ))
    .addOption(new Option("--with-chain-code", "the extended public key (default)").conflicts("withoutChainCode"))
    .option("--without-chain-code", "the public key alone")
    .action(async (options: EncodingOptions & { withoutChainCode?: true }) => {
      const key = readExtended(await readKey(context), KEY_NAMES, ["private"]);
      const { key: bytes, chainCode } = publicSide(key);
      const short = options.withoutChainCode === true;
      const whole = short ? bytes : fromHex(writeXpub({ key: bytes, chainCode }));
      put(context, encodeText(whole, prefixOf(key.name, "public", short), encodingOf(options)));
    });

  addCommand(
    group,
    "private",
    "Get the signing key or the chain code of an extended private key, which is read from stdin",
    "cat addr.prv | cardano-wallet key private --signing-key",
  )
    .addOption(new Option("--chain-code", "the chain code, in hexadecimal").conflicts("signingKey"))
    .option("--signing-key", "the signing key, in bech32")
    .action(async ({ chainCode, signingKey }: { chainCode?: true; signingKey?: true }, command: Command) => {
      if (!chainCode && !signingKey) command.error("error: one of --chain-code and --signing-key is required");
      const { name, node } = readExtended(await readKey(context), KEY_NAMES, ["private"]);
      put(context, chainCode ? toHex(node.chainCode) : encodeText(node.key, prefixOf(name, "private", true), "bech32"));
    });

  addCommand(
    group,
    "inspect",
    "Show information about a key, which is read from stdin",
    "cat root.prv | cardano-wallet key inspect",
  )
    .action(async () => {
      const { kind, node } = readExtended(await readKey(context), KEY_NAMES, ["private", "public"]);
      putLine(
        context,
        prettyJson({ key_type: kind, chain_code: toHex(node.chainCode), extended_key: toHex(node.key) }),
      );
    });

  hashCommand(group, context);
  walletIdCommand(group, context);
}

const readKey = ({ prompts }: Context) => prompts.all("Please enter the key: ");

function hashCommand(group: Command, context: Context): void {
  const hashed = KEY_NAMES.filter((name) => !/^(root|acct)/.test(name));
  encodings(addCommand(
    group,
    "hash",
    "Get the hash of a public key, which is read from stdin",
    "cat addr.pub | cardano-wallet key hash",
  ))
    .option("--cip-0105", "hashes of governance keys in the older form, such as drep_vkh1…")
    .action(async (options: EncodingOptions & { cip0105?: true }) => {
      const allowed = hashed.flatMap((name) => [`${name}_vk`, `${name}_xvk`]);
      const { prefix, bytes } = readPrefixed(await readKey(context), allowed);
      const length = prefix.endsWith("_xvk") ? 64 : 32;
      if (bytes.length !== length) throw new CliError(`data should be a ${length}-byte public key.`);
      const name = prefix.replace(/_x?vk$/, "");
      const text = keyHashText(blake2b224(bytes.subarray(0, 32)), name, options.cip0105 === true);
      put(context, encodeText(text.bytes, text.prefix, encodingOf(options)));
    });
}

function walletIdCommand(group: Command, context: Context): void {
  addCommand(
    group,
    "walletid",
    "Show the id of the wallet of a root or account key, which is read from stdin",
    "cat root.prv | cardano-wallet key walletid",
    "cat acct.pub | cardano-wallet key walletid --spending 'all [cosigner#0, cosigner#1]'",
  )
    .option("--spending <TEMPLATE>", "the payment script of a shared wallet", checked(parseTemplate))
    .option("--staking <TEMPLATE>", "the delegation script of a shared wallet", checked(parseTemplate))
    .action(
      async ({ spending, staking }: Record<"spending" | "staking", ReturnType<typeof parseTemplate> | undefined>) => {
        const key = readExtended(await readKey(context), ["root", "acct", "acct_shared"], ["private", "public"]);
        const xpub = writeXpub(publicSide(key));
        if (key.name !== "acct_shared") return put(context, walletId(fromHex(xpub)));
        if (spending === undefined) {
          throw new CliError("shared wallet needs to have at least spending script specified");
        }
        put(context, sharedWalletId(xpub, spending, staking));
      },
    );
}

/** First index of the paths of shared wallets (CIP-1854). */
const SHARED = HARD + 1854;

function childCommand(group: Command, context: Context): void {
  encodings(addCommand(
    group,
    "child",
    "Derive child keys from a parent public/private key, which is read from stdin",
    "cat root.prv | cardano-wallet key child 1852H/1815H/0H/0/0",
  ))
    .argument(
      "<DERIVATION-PATH>",
      "slash-separated indices, hardened ones marked with an H, such as 1852H/1815H/0H/0",
      checked(readPath),
    )
    .option("--legacy", "derive as random wallets of Byron do, as is done for two indices from a root key")
    .action(async (path: readonly number[], options: EncodingOptions & { legacy?: true }) => {
      const parents = ["root", "acct", "root_shared", "acct_shared"];
      const text = await readKey(context);
      const parent = readExtended(text, parents, ["private", "public"]);
      const child = childOf(parent, path, options.legacy === true);
      const { key, chainCode } = child.node;
      put(context, encodeText(concat(key, chainCode), prefixOf(child.name, child.kind), encodingOf(options)));
    });
}

/** @throws {CliError} where the path leads to none of the keys that wallets have, or needs the private key */
function childOf(parent: ExtendedKey, path: readonly number[], legacy: boolean): ExtendedKey {
  const name = childName(parent, path);
  if (parent.kind === "private") {
    const byron = legacy || (parent.name === "root" && path.length === 2);
    return { kind: "private", name, node: onKey(() => path.reduce(byron ? deriveByron : derive, parent.node)) };
  }
  if (legacy || path.some((index) => index >= HARD)) {
    throw new CliError(
      "Couldn't derive child key. If you're trying to derive children on a PUBLIC key, you must use soft indexes only.",
    );
  }
  return { kind: "public", name, node: onKey(() => path.reduce(derivePublic, parent.node)) };
}

/** Name of the key at a path. Keys between those that wallets have are refused: nothing would find what is sent to them. */
function childName({ name: parent }: ExtendedKey, path: readonly number[]): string {
  const [first = 0, , , role] = path;
  const shared = parent.endsWith("_shared") || first === SHARED;
  const named = (name: string) => shared ? `${name}_shared` : name;
  switch (parent) {
    case "":
      return "";
    case "root":
    case "root_shared":
      if (path.length === 3) return named("acct");
      if (path.length === 5) return roleName(role ?? 0, shared);
      if (path.length === 2 && parent === "root") return "addr";
      throw new CliError(
        parent === "root"
          ? "When deriving child keys from a parent root key, you must provide either 2, 3 or 5 path segments. Provide 2 (account and " +
            "address) if you intend to derive a legacy Byron key. Provide 3 or 5 (purpose, coin_type, account, role, index) if you're " +
            "dealing with anything else."
          : "When deriving child keys from a parent root key, you must provide either 3 or 5 path segments. Provide 3 (purpose, " +
            "coin_type, account) or 5 (purpose, coin_type, account, role, index).",
      );
    default:
      if (path.length === 2) return roleName(first, shared);
      throw new CliError(
        "When deriving child keys from a parent account key, you must provide exactly two path segments (role & index).",
      );
  }
}

function roleName(role: number, shared: boolean): string {
  if (role === ROLES.stake) return shared ? "stake_shared" : "stake";
  if (shared) return "addr_shared";
  return ({ [ROLES.drep]: "drep", [ROLES.committeeCold]: "cc_cold", [ROLES.committeeHot]: "cc_hot" } as Record<
    number,
    string
  >)[role] ?? "addr";
}
