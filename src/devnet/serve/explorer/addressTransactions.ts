/** Transactions of an address or of a stake account, with what each of them did to what is held there. */
import { present } from "#src/base/present.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import * as api from "#src/devnet/api/explorer.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { spent } from "#src/cardano/block.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { readOutputsCreated, readTransactionsOf, type TransactionHolder } from "#src/devnet/index/reads/addresses.ts";
import type { IndexedOutput } from "#src/devnet/index/reads/outputs.ts";
import { atOneState, type ChainPlace } from "#src/devnet/index/reads/page.ts";
import { readOutputs, readTransactionBytes } from "#src/devnet/index/reads/transactions.ts";
import { readCredential } from "#src/devnet/serve/blockfrost/addresses.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { credentialKey } from "#src/ledger/state.ts";
import type { Queries, Store } from "#src/store/store.ts";

interface AddressTransactionRoutesOptions {
  readonly devnet: Pick<Devnet, "network">;
  readonly store: Pick<Store, "sql">;
  /** Throws where no index is kept. */
  readonly requireIndex: () => void;
}

/** Adds the endpoint. */
export function addressTransactionRoutes(
  app: OpenAPIHono,
  { devnet: { network: { id: network, slots } }, store, requireIndex }: AddressTransactionRoutesOptions,
): void {
  const holderOf = (text: string): TransactionHolder => {
    const credential = readCredential(text);
    if (credential) return credential.holder;
    const address = parseAddress(text, network);
    if (!address.ok) throw HttpFailure.of(400, address.error);
    const { value } = address;
    return value.kind === "reward" ? { stake: credentialKey(value.stake) } : { address: value.hex };
  };

  endpoint(app, "get", "/addresses/:address/transactions", {
    summary: "Transactions of an address or a stake account, newest first, with what each changed there",
    description:
      "`lovelace` and `assets` are what the outputs that a transaction created there hold, less those that it spent there. " +
      "Of a stake account, outputs at all addresses with its credential count, and its rewards do not.",
    params: {
      address: z.string().min(1).max(300).describe("Address, stake address, or payment credential in bech32 (CIP-5)."),
    },
    query: {
      count: z.coerce.number().int().min(1).max(100).default(20),
      before: z.string().regex(/^-?\d{1,10}:\d{1,10}$/).optional().describe("The `next` of an answer: older ones."),
    },
    answer: api.addressTransactions,
    refusals: { 400: "`bad_address`", 404: "`index_off`" },
  }, async ({ params: { address }, query: { count, before } }) => {
    requireIndex();
    const holder = holderOf(address);
    const { found, changes } = await atOneState(store, async (sql) => {
      const page = { limit: count + 1, offset: 0, order: "desc" } as const;
      const found = await readTransactionsOf(
        sql,
        holder,
        page,
        before === undefined ? {} : { to: placeBefore(before) },
      );
      return { found, changes: await readChanges(sql, holder, found.slice(0, count).map(({ tx_hash }) => tx_hash)) };
    });
    const shown = found.slice(0, count);
    const last = found.length > count ? shown.at(-1) : undefined;
    return {
      transactions: shown.map(({ tx_hash: hash, height, slot }) => ({
        hash,
        height: slot === null ? undefined : Number(height),
        time: slotTime(slots, Number(slot ?? 0)),
        ...present(changes.get(hash), "what a transaction changed at an address"),
      })),
      next: last && `${last.height}:${last.tx_index}`,
    };
  });
}

/** The last place before that of a cursor. */
function placeBefore(cursor: string): ChainPlace {
  const [height = 0, index = 0] = cursor.split(":").map(Number);
  return index > 0 ? { height, index: index - 1 } : { height: height - 1 };
}

interface Change {
  readonly lovelace: bigint;
  /** By unit, without those that stayed the same. */
  readonly assets: Readonly<Record<string, bigint>>;
}

/** What each of some transactions changed in what a holder's outputs hold. */
async function readChanges(
  sql: Queries,
  holder: TransactionHolder,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, Change>> {
  const inputs = [...(await readTransactionBytes(sql, hashes)).values()].flatMap((cbor) =>
    spent(scanTransaction(cbor))
  );
  const [created, consumed] = await Promise.all([
    readOutputsCreated(sql, holder, hashes),
    readOutputs(sql, inputs, holder),
  ]);
  const sums = new Map(hashes.map((hash) => [hash, new Map<string, bigint>()]));
  const add = (hash: string | null, sign: 1n | -1n, { lovelace, assets }: IndexedOutput) => {
    const sum = sums.get(hash ?? "");
    for (const { unit, quantity } of [{ unit: "lovelace", quantity: lovelace }, ...assets ?? []]) {
      sum?.set(unit, (sum.get(unit) ?? 0n) + sign * BigInt(quantity));
    }
  };
  for (const output of created) add(output.tx_hash, 1n, output);
  for (const output of consumed) add(output.spent_tx, -1n, output);
  return new Map([...sums].map(([hash, sum]) => {
    const lovelace = sum.get("lovelace") ?? 0n;
    sum.delete("lovelace");
    return [hash, { lovelace, assets: Object.fromEntries([...sum].filter(([, quantity]) => quantity !== 0n)) }];
  }));
}
