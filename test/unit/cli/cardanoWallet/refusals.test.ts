/** What the commands without a server refuse: exit code 1, nothing on standard output, and no secret in the message. */
import { describe, expect, it } from "vitest";
import { run } from "#src/cli/cardanoWallet/program.ts";
import { runProgram } from "../../../support/cli.ts";

const cli = (input: string, ...args: string[]) => runProgram(run, args, input);
const PHRASE = "message mask aunt wheel ten maze between tomato slow analyst ladder such report capital produce";
const root = (await cli(PHRASE, "key", "from-recovery-phrase", "Shelley")).out;
const account = (await cli(root, "key", "child", "1852H/1815H/0H")).out;
const address = (await cli((await cli(root, "key", "child", "1852H/1815H/0H/0/0")).out, "key", "public")).out;

const WORDS = PHRASE.split(" ");
const DELEGATED =
  "addr_test1qz83dnlqqtdrlct4kz3f7d07d59w6p4yrtlr62340yklhaxcd4azvtus2m6m3q409pnflcurpnkz3gnxf4ef47ducezsh8t7e5";

describe("refuses", () => {
  it.each<[string, string[], string]>([
    ["", [], "Usage: cardano-wallet"],
    ["", ["key"], "Usage: cardano-wallet key"],
    ["", ["walet"], "unknown command 'walet'"],
    ["", ["key", "chil"], "Did you mean child?"],
    [
      "",
      ["recovery-phrase", "generate", "--size", "10"],
      "Invalid mnemonic size. Expected one of: 9, 12, 15, 18, 21, 24.",
    ],
    ["", ["recovery-phrase", "generate", "--language", "french"], "Only the language english"],
    ["", ["recovery-phrase", "generate", "--sise", "9"], "Did you mean --size?"],
    [PHRASE, ["key", "from-recovery-phrase"], "missing required argument 'STYLE'"],
    [
      PHRASE,
      ["key", "from-recovery-phrase", "patate"],
      "Unknown style; expecting one of Byron | Icarus | Jormungandr | Shelley | Shared",
    ],
    [PHRASE, ["key", "from-recovery-phrase", "💩"], "Usage: cardano-wallet key from-recovery-phrase"],
    [PHRASE, ["key", "from-recovery-phrase", "Shelley", "--base16", "--base58"], "cannot be used with option"],
    [PHRASE, ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-moon"], "Invalid passphrase input type"],
    [PHRASE, ["key", "from-recovery-phrase", "Shelley", "--from-file", "x"], "--from-file needs --passphrase"],
    [PHRASE, ["key", "from-recovery-phrase", "Byron", "--passphrase", "from-hex"], "have no passphrase"],
    [
      PHRASE,
      ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-hex", "--from-file", "/no/such/file"],
      "cannot be read",
    ],
    [PHRASE, ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-hex"], "Standard input ended"],
    [`${PHRASE}\nxyz\n`, ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-hex"], "not hexadecimal"],
    [`${PHRASE}\n@@\n`, ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-base64"], "not base64"],
    [
      `${PHRASE}\n[256]\n`,
      ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-octets"],
      "no array of octets",
    ],
    [
      `${PHRASE}\n${PHRASE}\n`,
      ["key", "from-recovery-phrase", "Shelley", "--passphrase", "from-mnemonic"],
      "Invalid number of words: 9, 12",
    ],
    ["", ["key", "from-recovery-phrase", "Shelley"], "Invalid number of words"],
    [WORDS.slice(1).join(" "), ["key", "from-recovery-phrase", "Shelley"], "Invalid number of words"],
    [
      ["zebra", ...WORDS.slice(1)].join(" "),
      ["key", "from-recovery-phrase", "Shelley"],
      "checksum of the mnemonic is wrong",
    ],
    [
      ["masc", ...WORDS.slice(1)].join(" "),
      ["key", "from-recovery-phrase", "Shelley"],
      "Word 1 is not in the English word list",
    ],
    [root, ["key", "child", "1852H/x"], "Unable to parse the derivation path"],
    [root, ["key", "child", "2147483648"], "Unable to parse the derivation path"],
    [root, ["key", "child", ""], "Unable to parse the derivation path"],
    [root, ["key", "child", "0H"], "When deriving child keys from a parent root key"],
    [account, ["key", "child", "0H"], "When deriving child keys from a parent account key"],
    [root.slice(0, -1), ["key", "child", "0H/0H"], "Bech32 error"],
    ["", ["key", "child", "0H/0H"], "Couldn't detect input encoding?"],
    ["💩", ["key", "inspect"], "Couldn't detect input encoding?"],
    ["abcd", ["key", "inspect"], "Invalid human-readable prefix"],
    [root, ["key", "public", "--with-chain-code", "--without-chain-code"], "cannot be used with option"],
    [address, ["key", "public"], "Invalid human-readable prefix"],
    [address, ["key", "private", "--chain-code"], "Invalid human-readable prefix"],
    [root, ["key", "private"], "one of --chain-code and --signing-key is required"],
    [root, ["key", "hash"], "Invalid human-readable prefix"],
    [address, ["key", "walletid"], "Invalid human-readable prefix"],
    [root, ["key", "walletid", "--spending", "all [cosigner#256]"], "Parsing of the script failed"],
    [address, ["address", "payment"], "required option '--network-tag <NETWORK-TAG>' not specified"],
    [address, ["address", "payment", "--network-tag", "16"], "Invalid network tag"],
    [root, ["address", "payment", "--network-tag", "0"], "Invalid human-readable prefix"],
    [address, ["address", "stake", "--network-tag", "0"], "Invalid human-readable prefix"],
    [DELEGATED, ["address", "pointer", "1", "2", "3"], "Only payment addresses can be extended"],
    [DELEGATED, ["address", "pointer", "1", "2", "-3"], "A whole number is expected"],
    [DELEGATED, ["address", "pointer", "1", "2", "x"], "A whole number is expected"],
    [
      "Ae2tdPwUPEYz6ExfbWubiXPB6daUuhJxikMEb4eXRp5oKZBKZwrbJ2k7EZe",
      ["address", "pointer", "1", "2", "3"],
      "isn't a Shelley address",
    ],
    [DELEGATED, ["address", "delegation", root], "Invalid human-readable prefix"],
    ["", ["address", "inspect"], "Couldn't detect input encoding?"],
    ["79467c69a9ac66280174d09d62575ba955748b21dec3b483a9469a65", ["address", "inspect"], "Error: "],
    [address, ["address", "bootstrap", "--network-tag", "mainnet", "0H/0H"], "root public key must be given"],
    [address, ["address", "bootstrap", "--network-tag", "moon"], "Invalid network tag"],
    [address, ["address", "bootstrap", "--network-tag", "4294967296"], "Invalid network tag"],
    ["", ["script", "hash", "wrong [addr_vkh1xyz]"], "Parsing of the script failed"],
    ["", ["script", "hash", `any [${"ab".repeat(28)}, ]`], "Parsing of the script failed"],
    ["", ["script", "hash", `any [${"ab".repeat(28)}] x`], "Parsing of the script failed"],
    ["", ["script", "hash", `all [${"ab".repeat(28)}, active_from a]`], "Parsing of the script failed"],
    [
      "",
      ["script", "hash", `all [${"ab".repeat(28)}, active_from 18446744073709551616]`],
      "Parsing of the script failed",
    ],
    ["", ["script", "preimage", "script_vkh18srsxr3khll7vl3w9mqfu55n6wzxxlxjq8egs9"], "Parsing of the script failed"],
    ["", ["script", "preimage", "at_least 256 []"], "Parsing of the script failed"],
    ["", ["script", "preimage", "all [".repeat(60_000)], "At most 500 lists may be nested"],
    ["", ["script", "validate"], "missing required argument 'SCRIPT'"],
    ["", ["script", "validate", "--required", "--recommended", "all []"], "cannot be used with option"],
    [root, ["key", "inspect", "more"], "too many arguments"],
  ])("%# %j", async (input, args, message) => {
    const { code, out, err } = await cli(input, ...args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
    for (const secret of [root.slice(8, 40), account.slice(8, 40), "aunt", "analyst"]) {
      expect(err).not.toContain(secret);
    }
  });

  it("shows help of every command, with an example", async () => {
    const names = (help: string) =>
      [...(help.split("\nCommands:\n")[1] ?? "").matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!);
    const visit = async (at: string[]): Promise<number> => {
      const { code, out, err } = await cli("", ...at, "--help");
      expect({ at, code, err }).toEqual({ at, code: 0, err: "" });
      const below = names(out).filter((name) => name !== "help");
      if (below.length === 0) {
        expect(out).toMatch(/\nExample:\n {2}\$ .*cardano-wallet/);
        return 1;
      }
      let count = 0;
      for (const name of below) count += await visit([...at, name]);
      return count;
    };
    expect(await visit([])).toBeGreaterThan(15);
  });
});
