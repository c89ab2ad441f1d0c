/** Rows of a transaction in a block. */
import { present } from "#src/base/present.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { type ScannedTransaction, withdrawn } from "#src/cardano/block.ts";
import { as, asInt, asSet, decode, decodeAll, entry, type Item, raw } from "#src/cardano/cbor.ts";
import { readBody } from "#src/cardano/conway/body.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { refKey } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { certificateRows } from "#src/devnet/index/certificateRows.ts";
import { addDatum, addOutput, addScript, credentialsOf } from "#src/devnet/index/outputRows.ts";
import type { IndexChanges, TransactionPlace } from "#src/devnet/index/rows.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { credentialKey } from "#src/ledger/state.ts";
import { allTargets, scriptHashOf } from "#src/plutus/purpose.ts";
import { unitsFee } from "#src/transaction/fee.ts";

/** A transaction of a block, with its effect. */
export interface IndexedTransaction {
  readonly transaction: ScannedTransaction;
  readonly applied: Applied;
}

/** Where and under which parameters a transaction is in a block. */
interface TransactionTerms {
  readonly height: number;
  readonly tx_index: number;
  readonly epoch: number;
  readonly parameters: Parameters;
}

/** Fields of the witness set (native scripts, Plutus scripts by language, datums, redeemers) and of the body. */
const FIELD = { scripts: [1, 3, 6, 7], datums: 4, redeemers: 5, proposals: 20 } as const;
/** Purposes of redeemers by their tags. */
const PURPOSES = ["spend", "mint", "cert", "reward", "vote", "propose"] as const;

/** Adds a transaction. One that failed in phase 2 has only its effect: outputs that are spent and created. */
export function addTransaction(
  changes: IndexChanges,
  { transaction, applied }: IndexedTransaction,
  { height, tx_index, ...terms }: TransactionTerms,
): void {
  const { rows } = changes;
  const { body, witnesses, auxiliaryData, valid } = transaction;
  const place: TransactionPlace = { height, tx_index, tx_hash: applied.hash };
  const { fee, deposits: deposit, created, spent } = applied;
  // without the flag of validity, as the ledger counts
  const size = 1 + body.length + witnesses.length + (auxiliaryData?.length ?? 1);
  const cbor = transactionCbor(transaction);
  rows.tx.push({ height, tx_index, hash: applied.hash, fee, deposit, size, valid, cbor });
  for (const utxo of created) addOutput(changes, place, utxo);
  for (const { ref } of spent) {
    changes.spent.push({
      tx_hash: ref.txHash,
      index: ref.index,
      spent_height: height,
      spent_index: tx_index,
      spent_tx: applied.hash,
    });
  }
  const outputs = [...spent, ...created].map(({ output }) => output);
  for (const address of new Set(outputs.map(({ address }) => address))) {
    rows.address.push({ ...place, address, ...credentialsOf(address) });
  }
  for (const unit of new Set(created.flatMap(({ output }) => [...output.value.assets.keys()]))) {
    rows.asset_tx.push({ ...place, unit });
  }
  if (!valid) return;
  for (const [unit, quantity] of transaction.mint) {
    rows.mint.push({ ...place, unit, quantity, fingerprint: fingerprint(unit) });
  }
  for (const [account, amount] of withdrawn(transaction)) {
    // a reward address: bit 4 of its header says that the credential is a script
    const credential = (account.startsWith("f") ? "s" : "k") + account.slice(2);
    rows.withdrawal.push({ ...place, credential, amount });
  }
  rows.certificate.push(...certificateRows(body, transaction.certificates, applied, place, terms));
  if (transaction.governs) addGovernance(changes, place, body, terms);
  if (auxiliaryData) addAuxiliaryData(changes, place, auxiliaryData);
  addWitnesses(changes, place, { transaction, applied }, terms.parameters);
}

/** Adds the proposals and the votes of a body. */
function addGovernance(
  { rows }: IndexChanges,
  place: TransactionPlace,
  bytes: Uint8Array,
  { epoch }: Pick<TransactionTerms, "epoch">,
): void {
  const body = decode(bytes);
  const { voters, proposals } = readBody(body);
  const listed = entry(as(body, "map"), FIELD.proposals);
  const cbor = listed ? asSet(listed).map(raw) : [];
  proposals.forEach(({ action: { kind } }, index) =>
    rows.proposal.push({
      ...place,
      index,
      kind,
      epoch,
      cbor: present(cbor[index], "the bytes of a proposal"),
    })
  );
  voters.flatMap(({ role, credential, votes }) => votes.map((vote) => ({ role, credential, ...vote })))
    .forEach(({ role, credential, action, vote, anchor }, vote_index) =>
      rows.vote.push({
        ...place,
        vote_index,
        role,
        voter: credentialKey(credential),
        action_tx: action.txHash,
        action_index: action.index,
        vote,
        ...(anchor ? { url: anchor.url, url_hash: anchor.hash } : {}),
      })
    );
}

function addAuxiliaryData(changes: IndexChanges, place: TransactionPlace, bytes: Uint8Array): void {
  const { metadata, native, plutus } = readAuxiliaryData(bytes);
  for (const [label, cbor] of metadata) changes.rows.metadata.push({ ...place, label, cbor });
  for (const script of native) addScript(changes, place, 0, script);
  for (const { language, bytes } of plutus) addScript(changes, place, language, bytes);
}

/** Adds scripts, datums and redeemers of the witness set. */
function addWitnesses(
  changes: IndexChanges,
  place: TransactionPlace,
  { transaction, applied }: IndexedTransaction,
  parameters: Parameters,
): void {
  const witnesses = as(decodeAll(transaction.witnesses), "map");
  FIELD.scripts.forEach((field, language) => {
    const scripts = entry(witnesses, field);
    if (!scripts) return;
    for (const script of asSet(scripts)) {
      addScript(changes, place, language, language === 0 ? raw(script) : as(script, "bytes").value);
    }
  });
  const datums = entry(witnesses, FIELD.datums);
  if (datums) { for (const datum of asSet(datums)) addDatum(changes, place, raw(datum)); }
  const redeemers = entry(witnesses, FIELD.redeemers);
  if (!redeemers) return;
  const spent = new Map(applied.spent.map(({ ref, output }) => [refKey(ref), output]));
  const targets = new Map(
    allTargets(readBody(decode(transaction.body))).map((
      [{ purpose, index }, target],
    ) => [`${purpose} ${index}`, target]),
  );
  for (const [pointer, { purpose, index, data, units }] of redeemersOf(redeemers)) {
    const target = present(targets.get(pointer), `the target of redeemer ${pointer}`);
    changes.rows.redeemer.push({
      ...place,
      purpose,
      index,
      script_hash: present(scriptHashOf(target, spent), `the script of redeemer ${pointer}`),
      data_hash: addDatum(changes, place, raw(data)),
      ...units,
      fee: unitsFee(parameters, units),
    });
  }
}

interface RedeemerItem extends RedeemerPointer {
  readonly data: Item;
  readonly units: { readonly memory: bigint; readonly steps: bigint };
}

/** Redeemers by purpose and index: a map, or until Babbage a list, of which the last for the same target counts. */
function redeemersOf(item: Item): Map<string, RedeemerItem> {
  const parts = item.type === "map"
    ? item.value.map(([key, value]) => [...as(key, "array").value, ...as(value, "array").value])
    : as(item, "array").value.map((redeemer) => as(redeemer, "array").value);
  return new Map(parts.map(([tag, position, data, units]) => {
    const purpose = present(PURPOSES[Number(asInt(tag))], "the purpose of a redeemer");
    const index = Number(asInt(position));
    const [memory, steps] = as(units, "array").value.map(asInt);
    const redeemer = {
      purpose,
      index,
      data: present(data, "the data of a redeemer"),
      units: { memory: present(memory, "memory"), steps: present(steps, "steps") },
    };
    return [`${purpose} ${index}`, redeemer];
  }));
}
