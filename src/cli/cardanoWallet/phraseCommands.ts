/** `recovery-phrase generate` and `key from-recovery-phrase`: phrases, and the root keys that they make. */
import { pbkdf2Sync } from "node:crypto";
import { readFile } from "node:fs/promises";
import { base64 } from "@scure/base";
import { type Command, InvalidArgumentError, Option } from "commander";
import { concat, fromHex, isHex, utf8 } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { rootOf, type SecretNode } from "#src/cardano/keys/derivation.ts";
import { byronRoot } from "#src/cardano/keys/masterKeys.ts";
import { mnemonicEntropy, newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { CliError } from "#src/cli/error.ts";
import { addCommand, addGroup, type Context, put, putLine } from "#src/cli/cardanoWallet/context.ts";
import { encodeText } from "#src/cli/cardanoWallet/keyInput.ts";
import { encodingOf, type EncodingOptions, encodings } from "#src/cli/cardanoWallet/options.ts";
import type { Mask } from "#src/cli/prompts.ts";

const SIZES = [9, 12, 15, 18, 21, 24] as const;
const STYLES = ["Byron", "Icarus", "Jormungandr", "Shelley", "Shared"] as const;
type Style = (typeof STYLES)[number];

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

/** Adds `key from-recovery-phrase`. */
export function fromPhraseCommand(group: Command, context: Context): void {
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
        const name = text === "" ? "from-utf8" : text;
        const format = Object.hasOwn(PASSPHRASES, name) ? PASSPHRASES[name] : undefined;
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
      const question = `Please enter a [${SIZES.join(", ")}] word mnemonic:`;
      const mask: Mask = options.silent ? "silent" : "stars";
      const readWords = (text: string) => entropyOf(text, SIZES);
      const inLines = passphrase !== undefined && fromFile === undefined;
      const entropy = inLines
        ? await prompts.secret(question, readWords, mask)
        : must(readWords(await prompts.all(question)));
      const second = passphrase === undefined
        ? undefined
        : fromFile === undefined
        ? await prompts.secret(passphrase.prompt, passphrase.read, mask)
        : must(passphrase.read(await textOf(fromFile)));
      const { key, chainCode } = style === "Byron" ? byronRoot(entropy) : icarusRoot(entropy, second);
      const prefix = style === "Shared" ? "root_shared_xsk" : "root_xsk";
      put(context, encodeText(concat(key, chainCode), prefix, encodingOf(options)));
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
