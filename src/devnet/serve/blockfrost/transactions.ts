/**
 * Operations of the group Transactions.
 *
 * A transaction that failed in phase 2 has the outputs that it really spent and created, and no other effect. One that
 * stands for an output of the genesis has that output.
 */
import { isHex, toHex } from "#src/base/bytes.ts";
import { as, decodeAll, type Item } from "#src/cardano/cbor.ts";
import { type Body, readBody } from "#src/cardano/conway/body.ts";
import { referenceScriptHash } from "#src/cardano/conway/script.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { addressText, rewardAddress } from "#src/cardano/address.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import type { IndexedOutput } from "#src/devnet/index/reads/outputs.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import * as reads from "#src/devnet/index/reads/transactions.ts";
import {
  type Amount,
  amounts,
  genesisBlock,
  outputMembers,
  secondsOf,
  textOfAccount,
  textOfAddress,
  textOfPool,
} from "#src/devnet/serve/blockfrost/documents.ts";
import { notFound } from "#src/devnet/serve/blockfrost/failures.ts";
import { cborMembers, jsonOfMetadata } from "#src/devnet/serve/blockfrost/metadataValue.ts";
import { get, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import { poolMetadata, relayDocument } from "#src/devnet/serve/blockfrost/poolParts.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import type { Queries } from "#src/store/store.ts";

/** A transaction, and the outputs that it spends, refers to and creates. */
export function transactionOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  return [
    get(
      "/txs/{hash}",
      aboutTransaction(store, (transaction, sql) => summaryOf(genesis, transaction, sql)),
    ),
    get(
      "/txs/{hash}/utxos",
      aboutTransaction(store, async (transaction, sql) => {
        const body = bodyOf(transaction);
        const spent = body ? spentBy(transaction, body) : [];
        const references = transaction.valid ? body?.references ?? [] : [];
        const collateral = transaction.valid ? body?.collateral ?? [] : [];
        const [outputs, ...inputs] = await Promise.all([
          reads.readOutputsOf(sql, transaction.hash),
          ...[spent, references, collateral].map((refs: readonly OutRef[]) => reads.readOutputs(sql, refs)),
        ]);
        const unused = transaction.valid && transaction.cbor
          ? scanTransaction(new Uint8Array(transaction.cbor)).collateralReturn
          : undefined;
        return {
          hash: transaction.hash,
          inputs: inputs.flatMap((of, kind) =>
            of.map((output) => ({
              ...outputMembers(output),
              tx_hash: output.tx_hash,
              output_index: output.index,
              // where phase 2 failed, what was spent is collateral
              collateral: kind === 2 || !transaction.valid,
              reference: kind === 1,
            }))
          ),
          outputs: [
            ...outputs.map((output) => ({
              ...outputMembers(output),
              output_index: output.index,
              collateral: !transaction.valid,
              consumed_by_tx: output.spent_tx,
            })),
            ...(unused
              ? [{
                ...membersOf(unused),
                output_index: outputs.length,
                collateral: true,
                consumed_by_tx: null,
              }]
              : []),
          ],
        };
      }),
    ),
  ];
}

/** What a transaction does about stake, rewards and pools. */
export function transactionStakeOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  const account = (credential: string) => textOfAccount(genesis.network.id, credential);
  return [
    get(
      "/txs/{hash}/stakes",
      certificatesIn(store, ["register", "deregister"], ({ cert_index, kind, credential }) => ({
        cert_index,
        address: account(credential ?? ""),
        registration: kind === "register",
      })),
    ),
    get(
      "/txs/{hash}/delegations",
      certificatesIn(store, ["delegate"], ({ cert_index, credential, pool, epoch }) => ({
        index: cert_index,
        cert_index,
        address: account(credential ?? ""),
        pool_id: textOfPool(pool ?? ""),
        active_epoch: epoch,
      })),
    ),
    get(
      "/txs/{hash}/withdrawals",
      aboutTransaction(store, async (transaction) => {
        const { withdrawals = [] } = (transaction.valid ? bodyOf(transaction) : undefined) ?? {};
        return withdrawals.map(({ account: { network, credential }, amount }) => ({
          address: addressText(rewardAddress(network, credential)),
          amount: String(amount),
        }));
      }),
    ),
    // rewards were moved by certificates until Babbage only
    get("/txs/{hash}/mirs", aboutTransaction(store, async () => [])),
    get(
      "/txs/{hash}/pool_updates",
      certificatesIn(store, ["pool"], ({ cert_index, pool, epoch, cbor }) => {
        const terms = poolTerms(new Uint8Array(cbor));
        return {
          cert_index,
          pool_id: textOfPool(pool ?? ""),
          vrf_key: terms.vrf,
          pledge: String(terms.pledge),
          margin_cost: Number(terms.margin.numerator) / Number(terms.margin.denominator),
          fixed_cost: String(terms.cost),
          reward_account: addressText(rewardAddress(terms.account.network, terms.account.credential)),
          owners: terms.owners.map((owner) => account(`k${owner}`)),
          metadata: poolMetadata(genesis, terms.metadata),
          relays: terms.relays.map(relayDocument),
          active_epoch: epoch,
        };
      }),
    ),
    get(
      "/txs/{hash}/pool_retires",
      certificatesIn(store, ["retire"], ({ cert_index, pool, epoch }) => ({
        cert_index,
        pool_id: textOfPool(pool ?? ""),
        retiring_epoch: epoch,
      })),
    ),
  ];
}

/** Metadata, redeemers, required signers and bytes of a transaction. */
export function transactionContentOperations({ store }: BlockfrostService): Operation[] {
  return [
    get(
      "/txs/{hash}/metadata",
      aboutTransaction(store, async (transaction, sql) =>
        (await reads.readMetadata(sql, transaction)).map((value) => ({
          label: value.label,
          json_metadata: jsonOfMetadata(value),
        }))),
    ),
    get(
      "/txs/{hash}/metadata/cbor",
      aboutTransaction(store, async (transaction, sql) =>
        (await reads.readMetadata(sql, transaction)).map((value) => ({
          label: value.label,
          ...cborMembers(value),
        }))),
    ),
    get(
      "/txs/{hash}/redeemers",
      aboutTransaction(
        store,
        async (transaction, sql) =>
          (await reads.readRedeemers(sql, transaction)).map((redeemer) => ({
            tx_index: redeemer.index,
            purpose: redeemer.purpose,
            script_hash: redeemer.script_hash,
            redeemer_data_hash: redeemer.data_hash,
            datum_hash: redeemer.data_hash,
            unit_mem: String(redeemer.memory),
            unit_steps: String(redeemer.steps),
            fee: String(redeemer.fee),
          })),
      ),
    ),
    get(
      "/txs/{hash}/required_signers",
      aboutTransaction(store, async (transaction) => {
        const { signers = [] } = (transaction.valid ? bodyOf(transaction) : undefined) ?? {};
        return signers.map((witness_hash) => ({ witness_hash }));
      }),
    ),
    get(
      "/txs/{hash}/cbor",
      aboutTransaction(store, async ({ cbor }) => {
        if (!cbor) throw notFound();
        return { cbor: toHex(new Uint8Array(cbor)) };
      }),
    ),
  ];
}

/** Answers with what is read about a transaction, at the state of the database in which it is found. */
function aboutTransaction<T>(
  store: BlockfrostService["store"],
  read: (transaction: reads.IndexedTransaction, sql: Queries) => Promise<T>,
) {
  return ({ hash }: { readonly hash: string }): Promise<T> =>
    atOneState(store, async (sql) => {
      const transaction = isHex(hash) ? await reads.readTransaction(sql, hash.toLowerCase()) : undefined;
      if (!transaction) throw notFound();
      return await read(transaction, sql);
    });
}

/** A list of the certificates of some kinds that took effect. */
function certificatesIn<T>(
  store: BlockfrostService["store"],
  kinds: readonly string[],
  view: (certificate: reads.IndexedCertificate) => T,
) {
  return aboutTransaction(store, async (transaction, sql) => {
    const all = await reads.readCertificates(sql, transaction);
    return all.filter(({ kind }) => kinds.includes(kind)).map(view);
  });
}

async function summaryOf(genesis: Genesis, transaction: reads.IndexedTransaction, sql: Queries) {
  const [outputs, certificates, redeemers] = await Promise.all([
    reads.readOutputsOf(sql, transaction.hash),
    reads.readCertificates(sql, transaction),
    reads.readRedeemers(sql, transaction),
  ]);
  const body = bodyOf(transaction);
  const takesEffect = transaction.valid ? body : undefined;
  const count = (...kinds: string[]) => certificates.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    hash: transaction.hash,
    block: transaction.block ?? genesisBlock(genesis),
    block_height: Math.max(0, Number(transaction.height)),
    block_time: secondsOf(genesis, transaction.slot ?? 0),
    slot: Number(transaction.slot ?? 0),
    index: transaction.tx_index,
    output_amount: sumOf(outputs),
    fees: String(transaction.fee),
    deposit: String(transaction.deposit),
    size: transaction.size,
    invalid_before: body?.from === undefined ? null : String(body.from),
    invalid_hereafter: body?.before === undefined ? null : String(body.before),
    utxo_count: (body ? spentBy(transaction, body).length : 0) + outputs.length,
    withdrawal_count: takesEffect?.withdrawals.length ?? 0,
    mir_cert_count: 0,
    delegation_count: count("delegate"),
    stake_cert_count: count("register", "deregister"),
    pool_update_count: count("pool"),
    pool_retire_count: count("retire"),
    asset_mint_or_burn_count: takesEffect?.mint.size ?? 0,
    redeemer_count: redeemers.length,
    valid_contract: transaction.valid,
    treasury_donation: String(takesEffect?.donation ?? 0n),
  };
}

/** The body; undefined for the genesis. */
function bodyOf({ cbor }: reads.IndexedTransaction): Body | undefined {
  if (!cbor) return undefined;
  const [body]: readonly Item[] = as(decodeAll(new Uint8Array(cbor)), "array").value;
  return readBody(body);
}

/** What was spent: the inputs, or the collateral where phase 2 failed. */
function spentBy({ valid }: reads.IndexedTransaction, { inputs, collateral }: Body): readonly OutRef[] {
  return valid ? inputs : collateral;
}

/** The sum of outputs by unit. */
function sumOf(outputs: readonly IndexedOutput[]): Amount[] {
  const sums = new Map<string, bigint>();
  for (const { unit, quantity } of outputs.flatMap(({ assets }) => assets ?? [])) {
    sums.set(unit, (sums.get(unit) ?? 0n) + BigInt(quantity));
  }
  const assets = [...sums].sort(([a], [b]) => a < b ? -1 : 1);
  return amounts(
    outputs.reduce((sum, { lovelace }) => sum + lovelace, 0n),
    assets.map(([unit, quantity]) => ({ unit, quantity: String(quantity) })),
  );
}

/** Members of an output that is only in a transaction, not on the chain. */
export function membersOf({ address, value, datum, datumHash, script }: Output) {
  const assets = [...value.assets].sort(([a], [b]) => a < b ? -1 : 1);
  return {
    address: textOfAddress(address),
    amount: amounts(value.lovelace, assets.map(([unit, quantity]) => ({ unit, quantity: String(quantity) }))),
    data_hash: datum ? hash256(datum) : datumHash ?? null,
    inline_datum: datum ? toHex(datum) : null,
    reference_script_hash: script ? referenceScriptHash(script) : null,
  };
}
