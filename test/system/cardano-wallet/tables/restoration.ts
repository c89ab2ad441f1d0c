/** API/Shelley/Restoration.hs */
import { expect } from "vitest";
import { CslAccount } from "../../../support/wallets/cslAccount.ts";
import { flow, type Row, row, type Table } from "../table.ts";
import { ADA, type World } from "../world.ts";

const FUNDS = 42n * ADA;
const NO_BLOCK = "39d89a1e837e968ba35370be47cdfcbfd193cd992fdeed557b77c49b77ee59cf";

type Mode = "from_tip" | "from_genesis" | { block_header_hash: string; absolute_slot_number: number };

const checkpoint = async (world: World): Promise<Mode> => {
  const { header_hash, slot_no } = await world.ok(200, "GET", "/blocks/latest/header");
  return { block_header_hash: header_hash, absolute_slot_number: slot_no.quantity };
};

/** A new wallet begins there, and is ready without funds. */
const begins = (id: string, mode: (world: World) => Mode | Promise<Mode>): Row =>
  flow(id, async (world) => {
    const made = await world.emptyWallet({ more: { restoration_mode: await mode(world) } });
    await world.untilAvailable(made.id, 0n);
  });

/** A wallet gets funds, is deleted, and is restored: from a block before, from one after, or from an end. */
const restored = (
  id: string,
  from: "before" | "after" | "from_tip" | "from_genesis",
  found: bigint,
  { account = false } = {},
): Row =>
  flow(id, async (world) => {
    const { id: first, words } = await world.emptyWallet({ more: { restoration_mode: "from_tip" } });
    await world.untilAvailable(first, 0n);
    const before = await checkpoint(world);
    await world.bank.pay([{ address: await world.address(first), lovelace: FUNDS }]);
    await world.untilAvailable(first, FUNDS);
    await world.ok(204, "DELETE", `/wallets/${first}`);
    const modes = { before, after: await checkpoint(world), from_tip: "from_tip", from_genesis: "from_genesis" };
    const mode = { restoration_mode: modes[from] };
    const again = await world.ok(
      201,
      "POST",
      "/wallets",
      account
        ? { name: "Account", account_public_key: new CslAccount(words).publicKey, ...mode }
        : world.walletBody({ words, more: mode }),
    );
    await world.untilAvailable(again.id, found);
    expect(await world.ok(200, "GET", `/wallets/${again.id}/transactions`)).toHaveLength(found > 0n ? 1 : 0);
  });

export const restoration: Table = {
  file: "Shelley.Restoration",
  rows: [
    begins("WALLET_RESTORE_0.1", () => "from_tip"),
    begins("WALLET_RESTORE_0.2", () => "from_genesis"),
    begins("WALLET_RESTORE_0.3", checkpoint),
    restored("WALLET_RESTORE_0.4", "from_tip", 0n),
    restored("WALLET_RESTORE_0.5", "from_genesis", FUNDS),
    restored("WALLET_RESTORE_0.6", "before", FUNDS),
    restored("WALLET_RESTORE_0.7", "after", 0n),
    row("WALLET_RESTORE_0.8", (world) => [
      "POST",
      "/wallets",
      world.walletBody({ more: { restoration_mode: { block_header_hash: NO_BLOCK, absolute_slot_number: 0 } } }),
    ], {
      status: 404,
      message: `Restoration from a given block failed. The block at slot number 0 and hash ${NO_BLOCK} does not exist.`,
    }),
    restored("WALLET_RESTORE_0.9", "from_tip", 0n, { account: true }),
    restored("WALLET_RESTORE_0.10", "from_genesis", FUNDS, { account: true }),
    restored("WALLET_RESTORE_0.11", "before", FUNDS, { account: true }),
  ],
};
