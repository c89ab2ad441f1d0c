/**
 * Operations of the group Mempool: transactions that wait for a block. They are those of this process, in the order in which
 * they were accepted; outputs that they refer to are in other transactions of the mempool, or in the index.
 */
import type { Certificate } from "#src/cardano/certificates.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { REDEEMER_TAGS } from "#src/cardano/transaction.ts";
import { sumValues } from "#src/cardano/value.ts";
import type { PendingTransaction } from "#src/devnet/blocks/mempool.ts";
import { readOutputs } from "#src/devnet/index/reads/transactions.ts";
import { type NamedHolder, readHolder } from "#src/devnet/serve/blockfrost/addresses.ts";
import { amounts, textOfAddress } from "#src/devnet/serve/blockfrost/documents.ts";
import { get, list, type ListQuery, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { membersOf } from "#src/devnet/serve/blockfrost/transactions.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";

/** The operations. */
export function mempoolOperations({ devnet, store: { sql } }: BlockfrostService): Operation[] {
  /** Addresses (bytes in hexadecimal) of outputs by their references. */
  const addressesOf = async (refs: readonly OutRef[], waiting: readonly PendingTransaction[]) => {
    const addresses = new Map(
      waiting.flatMap(({ applied }) =>
        [...applied.created, ...applied.spent].map(({ ref, output }) => [refKey(ref), output.address] as const)
      ),
    );
    const unknown = refs.filter((ref) => !addresses.has(refKey(ref)));
    for (const { tx_hash: txHash, index, address } of await readOutputs(sql, unknown)) {
      addresses.set(refKey({ txHash, index }), address);
    }
    return addresses;
  };
  return [
    list(
      "/mempool",
      "ordered",
      async (_, { page }) => pageOf(devnet.mempool(), page).map(({ transaction }) => ({ tx_hash: transaction.hash })),
    ),
    get("/mempool/{hash}", async ({ hash }) => {
      const waiting = devnet.mempool();
      const found = waiting.find(({ transaction }) => transaction.hash === hash.toLowerCase());
      if (!found) return undefined;
      const { inputs, references, collateral } = found.transaction;
      return mempoolDocument(found, await addressesOf([...inputs, ...references, ...collateral], waiting));
    }),
    list("/mempool/addresses/{address}", "ordered", async ({ address }, { page }) => {
      const { holder } = readHolder(address, devnet.network.id);
      const touching = devnet.mempool().filter(({ applied }) =>
        [...applied.spent, ...applied.created].some(({ output }) => isHeld(output.address, holder))
      );
      return pageOf(touching, page).map(({ transaction }) => ({ tx_hash: transaction.hash }));
    }),
  ];
}

function isHeld(address: string, holder: NamedHolder["holder"]): boolean {
  return "address" in holder ? address === holder.address : credentialsOf(address).payment === holder.payment;
}

function pageOf<T>(all: readonly T[], { order, offset, limit }: ListQuery): readonly T[] {
  return (order === "desc" ? [...all].reverse() : all).slice(offset, offset + limit);
}

/** Whether a certificate delegates stake to a pool. */
function delegates(certificate: Certificate): boolean {
  return (certificate.kind === "delegate" || certificate.kind === "register") && certificate.to?.pool !== undefined;
}

function mempoolDocument(
  { transaction, applied, cbor }: PendingTransaction,
  addresses: ReadonlyMap<string, string>,
): object {
  const read = readTransaction(cbor);
  if (!read.ok) throw new Error(`a transaction of the mempool is not read: ${read.error.message}`);
  const { size, body, witnesses: { redeemers } } = read.value;
  const { valid } = transaction;
  // as it will stand in its block: where a script fails, only the collateral moves
  const running = valid ? redeemers : [];
  const certificates = valid ? transaction.certificates : [];
  const count = (...kinds: string[]) => certificates.filter(({ kind }) => kinds.includes(kind)).length;
  const { lovelace, assets } = sumValues(applied.created.map(({ output }) => output.value));
  const units = [...assets].sort(([a], [b]) => a < b ? -1 : 1);
  const input = (collateral: boolean, reference: boolean) => (ref: OutRef) => ({
    address: textOfAddress(addresses.get(refKey(ref)) ?? ""),
    tx_hash: ref.txHash,
    output_index: ref.index,
    collateral,
    reference,
  });
  return {
    tx: {
      hash: transaction.hash,
      output_amount: amounts(lovelace, units.map(([unit, quantity]) => ({ unit, quantity: String(quantity) }))),
      fees: String(applied.fee),
      deposit: String(applied.deposits),
      size,
      invalid_before: body.from === undefined ? null : String(body.from),
      invalid_hereafter: body.before === undefined ? null : String(body.before),
      utxo_count: applied.spent.length + applied.created.length,
      withdrawal_count: valid ? body.withdrawals.length : 0,
      mir_cert_count: 0,
      delegation_count: certificates.filter(delegates).length,
      stake_cert_count: count("register", "unregister"),
      pool_update_count: count("register pool"),
      pool_retire_count: count("retire pool"),
      asset_mint_or_burn_count: valid ? body.mint.size : 0,
      redeemer_count: running.length,
      valid_contract: valid,
    },
    inputs: valid
      ? [
        ...transaction.inputs.map(input(false, false)),
        ...transaction.references.map(input(false, true)),
        ...transaction.collateral.map(input(true, false)),
      ]
      : transaction.collateral.map(input(true, false)),
    outputs: [
      ...applied.created.map(({ ref: { index }, output }) => ({
        ...membersOf(output),
        output_index: index,
        collateral: !valid,
      })),
      ...(valid && transaction.collateralReturn
        ? [{
          ...membersOf(transaction.collateralReturn),
          output_index: transaction.outputs.length,
          collateral: true,
        }]
        : []),
    ],
    redeemers: [...running]
      .sort((a, b) => REDEEMER_TAGS[a.purpose] - REDEEMER_TAGS[b.purpose] || a.index - b.index)
      .map(({ purpose, index, units }) => ({
        tx_index: index,
        purpose,
        unit_mem: String(units.memory),
        unit_steps: String(units.steps),
      })),
  };
}
