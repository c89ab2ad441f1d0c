/** `arbor devnet`: the newest block, the faucet, blocks, time, epochs, rollbacks and snapshots. */
import { Argument, type Command } from "commander";
import type { DevnetClient } from "#src/client/devnet.ts";
import { type Context, define, defineArgument, wholeNumber } from "#src/cli/arbor/command.ts";
import { timeCommands } from "#src/cli/arbor/devnetTime.ts";
import { addressIn, untilRead } from "#src/cli/arbor/transact.ts";
import { CliError } from "#src/cli/error.ts";

/** Lovelace of an amount of ada. @throws {CliError} `bad_amount`. */
export function lovelaceOf(ada: string): bigint {
  const [, whole, part = ""] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(ada) ?? [];
  if (whole === undefined) {
    throw new CliError(`${ada} is not an amount of ada, which has at most 6 decimals.`, "bad_amount");
  }
  return BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"));
}

/** Adds the command that sends ada from the faucet, under this path: `devnet fund` or `faucet`. */
export function fundCommand(parent: Command, path: string): Command {
  return define(parent, {
    usage: `${path.split(" ").at(-1)} <to> <ada>`,
    description: "send ada to an address or to the address of a key file, print the transaction's hash",
    example: `${path} alice.key 500`,
  }, async (context: Context<{ wait?: boolean }>, to, ada) => {
    const { devnet, tokens, output, options: { wait } } = context;
    const lovelace = lovelaceOf(ada);
    const address = await addressIn(context, to);
    const txHash = await devnet.fund(address, lovelace);
    if (wait) await untilRead(tokens, txHash);
    output.value(txHash, { txHash, address, lovelace });
  }).option("--wait", "wait until the token service has read it in a block");
}

/** Adds `arbor devnet` with all of its commands. */
export function devnetCommands(program: Command): void {
  const parent = program.command("devnet").description("the development network")
    .addHelpText("after", "\nExample:\n  $ arbor devnet tip");

  define(parent, { usage: "tip", description: "the newest block and the network", example: "devnet tip" }, async (
    { devnet, output },
  ) => {
    const tip = await devnet.tip();
    output.record(tip, [
      ["height", tip.height],
      ["slot", tip.slot],
      ["hash", tip.hash],
      ["current slot", tip.currentSlot],
      ["magic", tip.magic],
      ["slot length", `${tip.slotLength} ms`],
      ["slot 0", new Date(tip.genesisTime).toISOString()],
      ["security parameter", tip.securityParameter],
    ]);
  });

  fundCommand(parent, "devnet fund");

  defineArgument(parent, {
    usage: "blocks",
    description: "produce blocks now, print the new height",
    example: "devnet blocks 10",
    argument: new Argument("[count]", "number of blocks").argParser(wholeNumber(1, 1_000)).default(1),
  }, async (
    { devnet, output, options: { gap = 1, empty = false } }: Context<
      NonNullable<Parameters<DevnetClient["blocks"]>[1]>
    >,
    count: number | undefined,
  ) => {
    const answer = await devnet.blocks(count, { gap, empty });
    output.value(String(answer.tip.height), answer);
  }).option("--gap <slots>", "slots from each block to the next", wholeNumber(1, 1_000_000))
    .option("--empty", "leave the mempool as it is");

  timeCommands(parent);

  defineArgument(parent, {
    usage: "epochs",
    description: "enter the next epochs now, print the new epoch",
    example: "devnet epochs 3",
    argument: new Argument("[count]", "number of epochs").argParser(wholeNumber(1, 1_000)).default(1),
  }, async ({ devnet, output, options: { blocks } }: Context<{ blocks?: number }>, count: number | undefined) => {
    const answer = await devnet.epochs(count, blocks);
    output.value(String(answer.epoch), answer);
  }).option("--blocks <n>", "blocks to make in each epoch that ends", wholeNumber(0, 1_000));

  rollbackCommands(parent);
  snapshotCommands(parent);
}

function rollbackCommands(parent: Command): void {
  defineArgument(
    parent,
    {
      usage: "rollback",
      description: "roll back blocks, print the new height; their transactions return to the mempool",
      example: "devnet rollback 3",
      argument: new Argument("[blocks]", "number of blocks").argParser(wholeNumber(0, 100_000)),
    },
    async (
      { devnet, output, options: { drop = false, toSlot } }: Context<{ drop?: boolean; toSlot?: number }>,
      blocks: number | undefined,
    ) => {
      if ((blocks === undefined) === (toSlot === undefined)) {
        throw new CliError("Exactly one of a number of blocks and --to-slot is required.", "bad_options");
      }
      const tip = await devnet.rollback(toSlot === undefined ? { blocks: blocks ?? 0 } : { slot: toSlot }, { drop });
      output.value(String(tip.height), { tip });
    },
  ).option("--to-slot <slot>", "roll back every block after this slot", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--drop", "discard the transactions of these blocks");

  define(parent, {
    usage: "reset",
    description: "go back to the genesis: roll back all blocks, discard their transactions and the mempool",
    example: "devnet reset",
  }, async ({ devnet, output }) => {
    const tip = await devnet.reset();
    output.value(String(tip.height), { tip });
  });
}

function snapshotCommands(parent: Command): void {
  const snapshot = parent.command("snapshot").description("named states of the development network")
    .addHelpText("after", "\nExample:\n  $ arbor devnet snapshot save before-mint");

  define(snapshot, {
    usage: "save <name>",
    description: "save the newest block and the mempool under a name, print the height",
    example: "devnet snapshot save before-mint",
  }, async ({ devnet, output, options: { replace = false } }: Context<{ replace?: boolean }>, name) => {
    const saved = await devnet.saveSnapshot(name, { replace });
    output.value(String(saved.height), saved);
  }).option("--replace", "replace an earlier snapshot of this name");

  define(snapshot, {
    usage: "list",
    description: "all snapshots, oldest first",
    example: "devnet snapshot list",
  }, async ({ devnet, output }) => {
    const snapshots = await devnet.snapshots();
    output.list(
      { snapshots },
      ["name", "height", "slot", "mempool", "saved"],
      snapshots.map((
        { name, height, slot, transactions, saved },
      ) => [name, height, slot, transactions, new Date(saved).toISOString()]),
    );
  });

  define(snapshot, {
    usage: "restore <name>",
    description: "go back to a snapshot, print the height; services roll back and forward by themselves",
    example: "devnet snapshot restore before-mint",
  }, async ({ devnet, output }, name) => {
    const tip = await devnet.restoreSnapshot(name);
    output.value(String(tip.height), { tip });
  });

  define(snapshot, {
    usage: "delete <name>",
    description: "delete a snapshot",
    example: "devnet snapshot delete before-mint",
  }, async ({ devnet, output }, name) => {
    await devnet.deleteSnapshot(name);
    output.value(name, { name });
  });
}
