/** `wallet`: requests on the wallets of a server with a single owner. */
import { type Command, Option } from "commander";
import { fail, ok, type Result } from "#src/base/result.ts";
import { mnemonicEntropy } from "#src/cardano/keys/mnemonic.ts";
import { CliError } from "#src/cli/error.ts";
import { addGroup, type Context } from "#src/cli/cardanoWallet/context.ts";
import {
  readAccountKey,
  readBlockHash,
  readGap,
  readName,
  readPassphrase,
  readSlot,
  readWalletId,
} from "#src/cli/cardanoWallet/readers.ts";
import {
  addRequest,
  findWallet,
  type PortOption,
  printWallets,
  type Request,
  sendAndPrint,
  sendOnAndPrint,
} from "#src/cli/cardanoWallet/requests.ts";

/** Adds `wallet`. */
export function walletCommands(program: Command, context: Context): void {
  const group = addGroup(program, "wallet", "About wallets");
  const ofWallet = (name: string, summary: string, request: (wallet: string) => Request) =>
    addRequest(group, name, summary, `cardano-wallet wallet ${name} 2512a00e9653fe49a44a5886202e24d77eeb998f`)
      .argument("<WALLET_ID>", "id of the wallet", readWalletId)
      .action((id: string, options: PortOption) => sendOnAndPrint(context, options, id, request));

  addRequest(group, "list", "List all known wallets", "cardano-wallet wallet list --port 8090")
    .action((options: PortOption) => printWallets(context, options));
  createCommands(group, context);
  ofWallet("get", "Fetch the wallet with specified id", (path) => ({ path }));
  updateCommands(group, context);
  ofWallet("delete", "Delete the wallet with specified id", (path) => ({ method: "DELETE", path }));
  ofWallet(
    "utxo",
    "Get UTxO statistics for the wallet with specified id",
    (wallet) => ({ path: `${wallet}/statistics/utxos` }),
  );
  ofWallet(
    "utxo-snapshot",
    "Get UTxO snapshot for the wallet with specified id",
    (wallet) => ({ path: `${wallet}/utxo` }),
  );
}

interface NewWallet extends PortOption {
  readonly addressPoolGap: bigint;
}

const NAME = ["<WALLET_NAME>", "name of the wallet", readName] as const;
const gapOption = () =>
  new Option("--address-pool-gap <INT>", "number of unused consecutive addresses to keep track of").argParser(readGap)
    .default(20n, "20");

function createCommands(wallet: Command, context: Context): void {
  const group = addGroup(wallet, "create", "Create a new wallet");
  const phrase = addGroup(group, "from-recovery-phrase", "Create a new wallet using a recovery phrase");
  const create = async (name: string, { addressPoolGap, ...options }: NewWallet, restoration_mode: unknown) => {
    const words = await readPhrases(context);
    const passphrase = await newPassphrase(context, "Please enter a passphrase: ");
    const body = { name, ...words, passphrase, address_pool_gap: addressPoolGap, restoration_mode };
    await sendAndPrint(context, options, { method: "POST", path: "/wallets", body });
  };
  const example = (mode: string) => `cardano-wallet wallet create from-recovery-phrase ${mode} 'My wallet'`;

  addRequest(
    phrase,
    "from-genesis",
    "Restore the wallet from genesis: all of its transactions",
    example("from-genesis"),
  )
    .argument(...NAME)
    .addOption(gapOption())
    .action((name: string, options: NewWallet) => create(name, options, "from_genesis"));
  addRequest(phrase, "from-tip", "Restore the wallet from the tip: only later transactions", example("from-tip"))
    .argument(...NAME)
    .addOption(gapOption())
    .action((name: string, options: NewWallet) => create(name, options, "from_tip"));
  addRequest(
    phrase,
    "from-checkpoint",
    "Restore the wallet from a block: a partial view of it, if it has transactions before",
    "cardano-wallet wallet create from-recovery-phrase from-checkpoint " +
      "--block-header-hash 95af5a1da7d43571d030c92ba82728d69c86c82007cff6ee3c8b2442ab148723 --slot-no 118332737 'My wallet'",
  )
    .argument(...NAME)
    .addOption(gapOption())
    .requiredOption("--block-header-hash <BLOCKHEADERHASH>", "the hash of the block to restore from", readBlockHash)
    .requiredOption("--slot-no <SLOTNO>", "the slot of the block to restore from", readSlot)
    .action((name: string, options: NewWallet & { blockHeaderHash: string; slotNo: bigint }) =>
      create(name, options, { block_header_hash: options.blockHeaderHash, absolute_slot_number: options.slotNo })
    );

  addRequest(
    group,
    "from-public-key",
    "Create a wallet using a public account key; it cannot sign",
    "cardano-wallet wallet create from-public-key 'Watched' " +
      "$(cat acct.prv | cardano-wallet key public --base16)",
  )
    .argument(...NAME)
    .argument("<ACCOUNT_PUBLIC_KEY>", "64-byte (128-character) hex-encoded public account key", readAccountKey)
    .addOption(gapOption())
    .action((name: string, account_public_key: string, { addressPoolGap, ...options }: NewWallet) => {
      const body = { name, account_public_key, address_pool_gap: addressPoolGap };
      return sendAndPrint(context, options, { method: "POST", path: "/wallets", body });
    });
}

function updateCommands(wallet: Command, context: Context): void {
  const group = addGroup(wallet, "update", "Update a wallet");
  const id = ["<WALLET_ID>", "id of the wallet", readWalletId] as const;

  addRequest(
    group,
    "name",
    "Update a wallet's name",
    "cardano-wallet wallet update name 2512a00e9653fe49a44a5886202e24d77eeb998f 'New name'",
  )
    .argument(...id)
    .argument(...NAME)
    .action((wallet: string, name: string, options: PortOption) =>
      sendOnAndPrint(context, options, wallet, (path) => ({ method: "PUT", path, body: { name } }))
    );

  addRequest(
    group,
    "passphrase",
    "Update a wallet's passphrase",
    "cardano-wallet wallet update passphrase 2512a00e9653fe49a44a5886202e24d77eeb998f",
  )
    .argument(...id)
    .option("--mnemonic", "use mnemonic to authorize the passphrase change")
    .action(async (wallet: string, options: PortOption & { mnemonic?: true }) => {
      // an unknown wallet is refused before the first prompt
      const path = await findWallet(options, wallet);
      const by = options.mnemonic
        ? await readPhrases(context)
        : { old_passphrase: await context.prompts.secret("Please enter your current passphrase: ", readPassphrase) };
      const new_passphrase = await newPassphrase(context, "Please enter a new passphrase: ");
      const body = { ...by, new_passphrase };
      await sendAndPrint(context, options, { method: "PUT", path: `${path}/passphrase`, body });
    });
}

/** The words of a phrase with one of some numbers of words. No message repeats a word. */
function wordsOf(line: string, counts: readonly number[]): Result<readonly string[], { message: string }> {
  const words = line.split(/\s+/).filter((word) => word !== "");
  if (!counts.includes(words.length)) {
    const several = `${counts.slice(0, -1).join(", ")} or ${counts.at(-1)}`;
    return fail("word_count", `Invalid number of words: ${several} words are expected.`);
  }
  const entropy = mnemonicEntropy(words);
  return entropy.ok ? ok(words) : entropy;
}

/** The phrase of a wallet and its second factor, in the members of the API. */
async function readPhrases({ prompts }: Context): Promise<Record<string, readonly string[]>> {
  const mnemonic_sentence = await prompts.secret(
    "Please enter the 15–24 word recovery phrase: ",
    (line) => wordsOf(line, [15, 18, 21, 24]),
  );
  const second = await prompts.secret<readonly string[] | undefined>(
    "(Enter a blank line if you do not wish to use a second factor.)\nPlease enter a 9–12 word second factor: ",
    (line) => line.trim() === "" ? ok(undefined) : wordsOf(line, [9, 12]),
  );
  return { mnemonic_sentence, ...(second ? { mnemonic_second_factor: second } : {}) };
}

/** A passphrase that was entered twice. */
async function newPassphrase({ prompts }: Context, prompt: string): Promise<string> {
  const passphrase = await prompts.secret(prompt, readPassphrase);
  const again = await prompts.secret("Enter the passphrase a second time: ", readPassphrase);
  if (passphrase !== again) throw new CliError("Passphrases don't match.");
  return passphrase;
}
