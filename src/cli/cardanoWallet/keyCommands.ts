/** `recovery-phrase` and `key`: phrases and keys of a wallet, without a server. */
import { pbkdf2Sync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { base64 } from "@scure/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { fromHex, isHex, toHex, utf8 } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { deriveByron } from "#src/cardano/byronDerivation.ts";
import { derive, derivePublic, HARD, parsePath, ROLES, rootOf, type SecretNode } from "#src/cardano/derivation.ts";
import { blake2b224 } from "#src/cardano/hash.ts";
import { byronRoot } from "#src/cardano/masterKeys.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/mnemonic.ts";
import { CliError } from "#src/cli/error.ts";
import { addCommand, addGroup, type Context, put, putLine } from "#src/cli/cardanoWallet/context.ts";
import {
  encodeText,
  type Encoding,
  type ExtendedKey,
  KEY_NAMES,
  onKey,
  prefixOf,
  publicSide,
  readExtended,
  readPrefixed,
} from "#src/cli/cardanoWallet/keyInput.ts";
import { prettyJson } from "#src/cli/cardanoWallet/prettyJson.ts";
import { keyHashText, parseTemplate } from "#src/cli/cardanoWallet/scriptText.ts";
import type { Mask } from "#src/cli/prompts.ts";
import { walletId, writeXpub } from "#src/wallet/keys/account.ts";
import { sharedWalletId } from "#src/wallet/shared/account.ts";

const SIZES = [9, 12, 15, 18, 21, 24] as const;
const STYLES = ["Byron", "Icarus", "Jormungandr", "Shelley", "Shared"] as const;
type Style = (typeof STYLES)[number];

/** Options for the encoding of a result; the last one given counts. */
export function encodings(command: Command): Command {
  for (const encoding of ["base16", "base58", "bech32"] as const) {
    const others = ["base16", "base58", "bech32"].filter((other) => other !== encoding);
    const text = encoding === "bech32" ? "print bech32 (default)" : `print ${encoding}`;
    command.addOption(new Option(`--${encoding}`, text).conflicts(others));
  }
  return command;
}

export interface EncodingOptions {
  readonly base16?: true;
  readonly base58?: true;
}

export function encodingOf({ base16, base58 }: EncodingOptions): Encoding {
  return base16 ? "base16" : base58 ? "base58" : "bech32";
}

/** The argument of an option or command through a function that throws `CliError` or `TypeError` for a wrong one. */
export function checked<T>(read: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof InvalidArgumentError || !(error instanceof Error)) throw error;
      throw new InvalidArgumentError(error.message);
    }
  };
}

/** Adds `recovery-phrase`. */
export function phraseCommands(program: Command, context: Context): void {
  const group = addGroup(program, "recovery-phrase", "About recovery phrases");
  addCommand(
    group,
    "generate",
    "Generate an English recovery phrase",
    "cardano-wallet recovery-phrase generate --size 15",
  )
    .option("--size <INT>", `Number of mnemonic words to generate: ${SIZES.join(", ")}`, readSize, 24)
    .option("--language <LANGUAGE>", "Language of the words: english", readLanguage)
    .action(({ size }: { size: (typeof SIZES)[number] }) => putLine(context, newMnemonic(size).join(" ")));
}

function readSize(text: string): number {
  const size = SIZES.find((one) => String(one) === text);
  if (size === undefined) {
    throw new InvalidArgumentError(`Invalid mnemonic size. Expected one of: ${SIZES.join(", ")}.`);
  }
  return size;
}

function readLanguage(text: string): string {
  if (text.toLowerCase() !== "english") throw new InvalidArgumentError("Only the language english is supported.");
  return "english";
}

/** Adds `key`. */
export function keyCommands(program: Command, context: Context): void {
  const group = addGroup(program, "key", "About public/private keys");
  fromPhraseCommand(group, context);
  childCommand(group, context);
  const read = () => context.prompts.all("Please enter the key: ");

  encodings(addCommand(
    group,
    "public",
    "Get the public counterpart of a private key. The private key is read from stdin.",
    "cat root.prv | cardano-wallet key public --with-chain-code",
  ))
    .addOption(new Option("--with-chain-code", "the extended public key (default)").conflicts("withoutChainCode"))
    .option("--without-chain-code", "the public key alone")
    .action(async (options: EncodingOptions & { withoutChainCode?: true }) => {
      const key = readExtended(await read(), KEY_NAMES, ["private"]);
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
      const { name, node } = readExtended(await read(), KEY_NAMES, ["private"]);
      put(context, chainCode ? toHex(node.chainCode) : encodeText(node.key, prefixOf(name, "private", true), "bech32"));
    });

  addCommand(
    group,
    "inspect",
    "Show information about a key, which is read from stdin",
    "cat root.prv | cardano-wallet key inspect",
  )
    .action(async () => {
      const { kind, node } = readExtended(await read(), KEY_NAMES, ["private", "public"]);
      putLine(
        context,
        prettyJson({ key_type: kind, chain_code: toHex(node.chainCode), extended_key: toHex(node.key) }),
      );
    });

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
      const { prefix, bytes } = readPrefixed(await read(), allowed);
      const length = prefix.endsWith("_xvk") ? 64 : 32;
      if (bytes.length !== length) throw new CliError(`data should be a ${length}-byte public key.`);
      const name = prefix.replace(/_x?vk$/, "");
      const text = keyHashText(blake2b224(bytes.subarray(0, 32)), name, options.cip0105 === true);
      put(context, encodeText(text.bytes, text.prefix, encodingOf(options)));
    });

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
        const key = readExtended(await read(), ["root", "acct", "acct_shared"], ["private", "public"]);
        const xpub = writeXpub(publicSide(key));
        if (key.name !== "acct_shared") return put(context, walletId(fromHex(xpub)));
        if (spending === undefined) {
          throw new CliError("shared wallet needs to have at least spending script specified");
        }
        put(context, sharedWalletId(xpub, spending, staking));
      },
    );
}

const PASSPHRASES: Readonly<
  Record<string, { readonly prompt: string; readonly read: (text: string) => Result<Uint8Array, { message: string }> }>
> = {
  "from-mnemonic": { prompt: "Please enter a 9–12 word second factor:", read: (text) => entropyOf(text, [9, 12]) },
  "from-hex": {
    prompt: "Please enter hex-encoded passphrase:",
    read: (text) => isHex(text.trim()) ? ok(fromHex(text.trim())) : fail("bad", "The passphrase is not hexadecimal."),
  },
  "from-base64": {
    prompt: "Please enter base64-encoded passphrase:",
    read: (text) => {
      try {
        return ok(base64.decode(text.trim()));
      } catch {
        return fail("bad", "The passphrase is not base64.");
      }
    },
  },
  "from-utf8": { prompt: "Please enter utf8-encoded passphrase:", read: (text) => ok(utf8(text)) },
  "from-octets": {
    prompt: "Please enter passphrase in the form of octet array:",
    read: (text) => octets(text) ?? fail("bad", "The passphrase is no array of octets, such as [12, 255]."),
  },
};

function octets(text: string): Result<Uint8Array, never> | undefined {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return undefined;
  }
  const isOctet = (one: unknown): one is number => Number.isInteger(one) && Number(one) >= 0 && Number(one) < 256;
  return Array.isArray(parsed) && parsed.every(isOctet) ? ok(Uint8Array.from(parsed)) : undefined;
}

/** Entropy of a phrase with one of some numbers of words. */
function entropyOf(text: string, counts: readonly number[]): Result<Uint8Array, { message: string }> {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return counts.includes(words.length)
    ? mnemonicEntropy(words)
    : fail("bad", `Invalid number of words: ${counts.join(", ")} words are expected.`);
}

interface FromPhrase extends EncodingOptions {
  readonly passphrase?: (typeof PASSPHRASES)[string];
  readonly sensitive?: true;
  readonly silent?: true;
  readonly fromFile?: string;
}

function fromPhraseCommand(group: Command, context: Context): void {
  const { prompts } = context;
  const formats = Object.keys(PASSPHRASES);
  encodings(addCommand(
    group,
    "from-recovery-phrase",
    "Convert a recovery phrase to an extended private key. The phrase is read from stdin.",
    "cardano-wallet recovery-phrase generate | cardano-wallet key from-recovery-phrase Shelley",
    "cat phrase.txt | cardano-wallet key from-recovery-phrase Shelley --passphrase from-mnemonic --from-file second.txt",
  ))
    .argument("<STYLE>", STYLES.join(" | "), readStyle)
    .option(
      "--passphrase <FORMAT>",
      `a passphrase (second factor) in the form ${formats.join(", ")}; it is read from stdin after the phrase`,
      (text) => {
        const format = PASSPHRASES[text === "" ? "from-utf8" : text];
        if (format === undefined) {
          throw new InvalidArgumentError(
            `Invalid passphrase input type. Must be one of: ${formats.join(", ")}.`,
          );
        }
        return format;
      },
    )
    .addOption(new Option("--sensitive", "show a star for each typed character (default)").conflicts("silent"))
    .option("--silent", "show nothing of what is typed")
    .option("--from-file <FILE>", "read the passphrase from this file")
    .action(async (style: Style, options: FromPhrase, command: Command) => {
      const { passphrase, fromFile } = options;
      if (passphrase === undefined && fromFile !== undefined) command.error("error: --from-file needs --passphrase");
      if (passphrase !== undefined && style === "Byron") {
        command.error("error: keys of the style Byron have no passphrase");
      }
      const asked = `Please enter a [${SIZES.join(", ")}] word mnemonic:`;
      const mask: Mask = options.silent ? "silent" : "stars";
      const readWords = (text: string) => entropyOf(text, SIZES);
      const inLines = passphrase !== undefined && fromFile === undefined;
      const entropy = inLines
        ? await prompts.secret(asked, readWords, mask)
        : must(readWords(await prompts.all(asked)));
      const second = passphrase === undefined
        ? undefined
        : fromFile === undefined
        ? await prompts.secret(passphrase.prompt, passphrase.read, mask)
        : must(passphrase.read(await textOf(fromFile)));
      const { key, chainCode } = style === "Byron" ? byronRoot(entropy) : icarusRoot(entropy, second);
      const prefix = style === "Shared" ? "root_shared_xsk" : "root_xsk";
      const bytes = new Uint8Array([...key, ...chainCode]);
      put(context, encodeText(bytes, prefix, encodingOf(options)));
    });
}

/** As `rootKey`, 100 ms faster: PBKDF2 of the platform. */
function icarusRoot(entropy: Uint8Array, second: Uint8Array = new Uint8Array()): SecretNode {
  return rootOf(Uint8Array.from(pbkdf2Sync(second, entropy, 4_096, 96, "sha512")));
}

function must<T>(result: Result<T, { message: string }>): T {
  if (!result.ok) throw new CliError(result.error.message);
  return result.value;
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${reason(error)}`);
  }
}

function readStyle(text: string): Style {
  const style = STYLES.find((one) => one.toLowerCase() === text.toLowerCase());
  if (style === undefined) throw new InvalidArgumentError(`Unknown style; expecting one of ${STYLES.join(" | ")}`);
  return style;
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
      const text = await context.prompts.all("Please enter the key: ");
      const parent = readExtended(text, parents, ["private", "public"]);
      const child = childOf(parent, path, options.legacy === true);
      const { key, chainCode } = child.node;
      const bytes = new Uint8Array([...key, ...chainCode]);
      put(context, encodeText(bytes, prefixOf(child.name, child.kind), encodingOf(options)));
    });
}

/** Indices of a path, such as `1852H/1815H/0H`. @throws {CliError} where it is malformed */
export function readPath(text: string): readonly number[] {
  const path = parsePath(text);
  if (path !== undefined && path.length > 0) return path;
  throw new CliError(
    `Unable to parse the derivation path. Indices are integers between 0 and ${
      HARD - 1
    }, hardened ones end with a capital 'H'. ` +
      `For example: "1852H/1815H/0H/0/14".`,
  );
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
