/** What commands refuse before anything is sent: exit code 1, nothing on standard output, and no secret in the message. */
import { Buffer } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toBech32 } from "#src/cardano/bech32.ts";
import { toBase58 } from "#src/cardano/byron.ts";
import { VERSION } from "#src/base/version.ts";
import { run } from "#src/cli/cardanoWallet/program.ts";
import { runProgram } from "../../../support/cli/programs.ts";

const cli = (input: string, ...args: string[]) => runProgram(run, args, input);
const PHRASE = "message mask aunt wheel ten maze between tomato slow analyst ladder such report capital produce";
const root = (await cli(PHRASE, "key", "from-recovery-phrase", "Shelley")).out;
const account = (await cli(root, "key", "child", "1852H/1815H/0H")).out;
const address = (await cli((await cli(root, "key", "child", "1852H/1815H/0H/0/0")).out, "key", "public")).out;

const WORDS = PHRASE.split(" ");
const DELEGATED =
  "addr_test1qz83dnlqqtdrlct4kz3f7d07d59w6p4yrtlr62340yklhaxcd4azvtus2m6m3q409pnflcurpnkz3gnxf4ef47ducezsh8t7e5";

const ID = "2512a00e9653fe49a44a5886202e24d77eeb998f";
const HASH = "ab".repeat(32);
const PAID = `1000000@${DELEGATED}`;
const CREATE = ["wallet", "create", "from-recovery-phrase"];
const BLOCK = ["--block-header-hash", HASH, "--slot-no", "1"];

/** Requests that are wrong before anything is sent: no server runs here, and none is missed. */
const REQUESTS: [string[], string][] = [
  [["wallet"], "Usage: cardano-wallet wallet"],
  [["wallet", "list", "x"], "too many arguments"],
  [["wallet", "list", "--port", "1023"], "expected a TCP port number between 1024 and 65535"],
  [["wallet", "list", "--port", "65536"], "expected a TCP port number between 1024 and 65535"],
  [["wallet", "list", "--port", "x"], "expected a TCP port number between 1024 and 65535"],
  [["wallet", "list", "--port"], "argument missing"],
  [["wallet", "list", "--prot", "8090"], "Did you mean --port?"],
  ...["get", "delete", "utxo", "utxo-snapshot"].flatMap((name): [string[], string][] => [
    [["wallet", name], "missing required argument 'WALLET_ID'"],
    [["wallet", name, "1234"], "wallet id should be a hex-encoded string of 40 characters"],
    [["wallet", name, ID.replace("2", "x")], "wallet id should be a hex-encoded string of 40 characters"],
  ]),
  [["wallet", "update"], "Usage: cardano-wallet wallet update"],
  [["wallet", "update", "name", ID], "missing required argument 'WALLET_NAME'"],
  [["wallet", "update", "name", ID, ""], "name is too short: expected at least 1 character"],
  [["wallet", "update", "name", ID, "ü".repeat(256)], "name is too long: expected at most 255 characters"],
  [["wallet", "update", "passphrase"], "missing required argument 'WALLET_ID'"],
  [["wallet", "update", "passphrase", ID, "My secret passphrase"], "too many arguments"],
  [["wallet", "create"], "Usage: cardano-wallet wallet create"],
  [CREATE, "Usage: cardano-wallet wallet create from-recovery-phrase"],
  [[...CREATE, "from-moon", "X"], "unknown command 'from-moon'"],
  [[...CREATE, "from-genesis"], "missing required argument 'WALLET_NAME'"],
  [[...CREATE, "from-genesis", "X", "--address-pool-gap", "9"], "must be a natural number between 10 and 100000"],
  [[...CREATE, "from-tip", "X", "--address-pool-gap", "1e3"], "must be a natural number between 10 and 100000"],
  [[...CREATE, "from-tip", "X"], "Standard input ended"],
  [[...CREATE, "from-checkpoint", "X"], "required option '--block-header-hash <BLOCKHEADERHASH>' not specified"],
  [[...CREATE, "from-checkpoint", "X", ...BLOCK.slice(0, 2)], "required option '--slot-no <SLOTNO>' not specified"],
  [[...CREATE, "from-checkpoint", "X", ...BLOCK.slice(0, 3), "-1"], "A slot is a whole number"],
  [[...CREATE, "from-checkpoint", "X", "--block-header-hash", "ab", "--slot-no", "1"], "A block header hash is"],
  [["wallet", "create", "from-public-key", "X"], "missing required argument 'ACCOUNT_PUBLIC_KEY'"],
  [["wallet", "create", "from-public-key", "X", "abcd"], "expecting a hex-encoded value that is 64 bytes in length"],
  ...["create", "fees"].flatMap((name): [string[], string][] => [
    [["transaction", name, ID], "required option '--payment <PAYMENT>' not specified"],
    [["transaction", name, "--payment", PAID], "missing required argument 'WALLET_ID'"],
    [["transaction", name, ID, "--payment", "1000000"], 'Expecting format "<amount>@<address>"'],
    [["transaction", name, ID, "--payment", `-1@${DELEGATED}`], 'Expecting format "<amount>@<address>"'],
    [
      ["transaction", name, ID, "--payment", `18446744073709551616@${DELEGATED}`],
      'Expecting format "<amount>@<address>"',
    ],
    [["transaction", name, ID, "--payment", PAID, "--ttl", "7200"], 'must end with "s"'],
    [["transaction", name, ID, "--payment", PAID, "--ttl", "1.5s"], "Values must be whole seconds"],
    [["transaction", name, ID, "--payment", PAID, "--metadata", "{"], "Transaction metadata is a JSON object"],
    [["transaction", name, ID, "--payment", PAID, "--metadata", "[1]"], "Transaction metadata is a JSON object"],
  ]),
  [["transaction", "list"], "missing required argument 'WALLET_ID'"],
  [["transaction", "list", ID, "--start", "yesterday"], "Unable to parse time argument"],
  [["transaction", "list", ID, "--end", "2020-01-01"], "Unable to parse time argument"],
  [["transaction", "list", ID, "--order", "up"], "one of the following values: ascending, descending"],
  [["transaction", "list", ID, "--max_count", "0"], "max_count must be a whole number, at least 1"],
  [["transaction", "submit"], "missing required argument 'BINARY_BLOB'"],
  [["transaction", "submit", "84a"], "given as hexadecimal bytes"],
  [["transaction", "submit", ""], "given as hexadecimal bytes"],
  ...["forget", "get"].flatMap((name): [string[], string][] => [
    [["transaction", name, ID], "missing required argument 'TRANSACTION_ID'"],
    [["transaction", name, ID, "ab"], "A transaction ID should be a hex-encoded string of 64 characters."],
    [["transaction", name, HASH, HASH], "wallet id should be a hex-encoded string of 40 characters"],
  ]),
  [["address", "list"], "missing required argument 'WALLET_ID'"],
  [["address", "list", ID, "--state", "new"], "one of the following values: used, unused"],
  [["address", "create", ID, "--address-index", "14"], "Expected an integer between 2147483648 and 4294967295"],
  [["address", "create", ID], "Standard input ended"],
  [["address", "import", ID], "missing required argument 'ADDRESS'"],
  [["stake-pool", "list", "--stake", "1.5"], "A stake is a whole number of lovelace"],
  [["stake-pool", "list", "--stake", "x"], "A stake is a whole number of lovelace"],
  [["network"], "Usage: cardano-wallet network"],
  [["network", "information", "x"], "too many arguments"],
  [["network", "parameters", "next"], "expected 'latest' or the number of an epoch"],
  [["network", "clock", "--force"], "unknown option '--force'"],
  [["version", "x"], "too many arguments"],
  [["completion"], "missing required argument 'SHELL'"],
  [["completion", "tcsh"], "Allowed choices are bash, zsh, fish"],
];

describe("refuses", () => {
  it.each(REQUESTS)("%j", async (args, message) => {
    const { code, out, err } = await cli("", ...args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(message);
    expect(err).not.toContain("No complete response");
  });

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
    [address, ["address", "bootstrap", "--network-tag", "constructor"], "Invalid network tag"],
    [address, ["address", "payment", "--network-tag", "constructor"], "Invalid network tag"],
    [
      PHRASE,
      ["key", "from-recovery-phrase", "Shelley", "--passphrase", "constructor"],
      "Invalid passphrase input type",
    ],
    ["", ["script", "hash", "constructor"], "Parsing of the script failed"],
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

  it.each<[string, string[]]>([
    ["00".repeat(96), ["key", "public"]],
    ["00".repeat(96), ["key", "walletid"]],
    ["00".repeat(96), ["key", "child", "0"]],
    ["ab".repeat(64), ["key", "child", "0/0"]],
  ])("bytes that are no key: %j", async (input, args) => {
    const { code, out, err } = await cli(input, ...args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^(Couldn't convert bytes into a key|Invalid human-readable prefix)/);
  });

  it("whatever is on standard input, with a sentence", async () => {
    const commands = [
      ["key", "from-recovery-phrase", "Icarus"],
      ["key", "child", "0/0"],
      ["key", "public"],
      ["key", "private", "--chain-code"],
      ["key", "inspect"],
      ["key", "hash"],
      ["key", "walletid"],
      ["address", "payment", "--network-tag", "0"],
      ["address", "stake", "--network-tag", "1"],
      ["address", "delegation", "stake1"],
      ["address", "pointer", "1", "2", "3"],
      ["address", "bootstrap", "--network-tag", "1"],
      ["address", "inspect"],
    ];
    const anything = fc.oneof(
      fc.string(),
      fc.uint8Array({ maxLength: 130 }).map((bytes) => Buffer.from(bytes).toString("hex")),
      fc.uint8Array({ minLength: 1, maxLength: 130 }).map((bytes) => toBase58(bytes)),
      fc.tuple(
        fc.constantFrom(
          "root_xsk",
          "acct_xvk",
          "addr_xvk",
          "addr_vk",
          "stake_xvk",
          "script",
          "addr",
          "addr_test",
          "stake",
        ),
        fc.oneof(
          fc.uint8Array({ maxLength: 130 }),
          ...[28, 29, 32, 57, 64, 96].map((n) => fc.uint8Array({ minLength: n, maxLength: n })),
        ),
      ).map(([prefix, bytes]) => toBech32(prefix, bytes)),
    );
    await fc.assert(
      fc.asyncProperty(anything, fc.constantFrom(...commands), async (input, args) => {
        const { code, out, err } = await cli(input, ...args);
        expect(err).not.toContain("Unexpected error");
        expect(code === 0 ? out !== "" : out === "" && err.length > 10).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it("says which address the missing server has", async () => {
    const { code, out, err } = await cli("", "network", "information", "--port", "1024");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("No complete response from http://localhost:1024/v2");
  });

  it("shows its version", async () => {
    for (const args of [["version"], ["--version"]]) {
      expect(await cli("", ...args)).toMatchObject({ code: 0, out: `${VERSION}\n` });
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
        expect(out).toMatch(/\nExample:\n {2}\$ .*(?:cardano-wallet|wallet-key-export)/);
        return 1;
      }
      let count = 0;
      for (const name of below) count += await visit([...at, name]);
      return count;
    };
    expect(await visit([])).toBeGreaterThan(40);
  });
});
