/**
 * Transaction validation of the Conway era: from a state and a transaction to its changes or its failures.
 *
 * Assumptions: protocol versions 9 to 11 (parameters). All failures of phase 1 are collected, as the Haskell ledger
 * does, and Plutus scripts run only when there are none.
 */
import { ok, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import type { Applied, RegistryChanges } from "#src/ledger/delta.ts";
import { deposits, refunds } from "#src/ledger/deposits.ts";
import { lookUp, readScripts, refScriptBytes } from "#src/ledger/inputs.ts";
import { changing, unchanged } from "#src/ledger/registry.ts";
import { applyCertificates } from "#src/ledger/rules/certs.ts";
import { forfeit } from "#src/ledger/rules/collateral.ts";
import { checkDatums } from "#src/ledger/rules/datums.ts";
import { applyGovernance } from "#src/ledger/rules/gov.ts";
import { checkKeys } from "#src/ledger/keys.ts";
import { checkLedger } from "#src/ledger/rules/ledger.ts";
import { checkSubmission, checkSubmittedVotes } from "#src/ledger/rules/mempool.ts";
import { checkMetadata } from "#src/ledger/rules/metadata.ts";
import { checkIntegrity, checkRedeemers } from "#src/ledger/rules/redeemers.ts";
import { checkScripts } from "#src/ledger/rules/scripts.ts";
import { checkUtxo, type LookedUp } from "#src/ledger/rules/utxo.ts";
import { checkPhase2 } from "#src/ledger/rules/utxos.ts";
import { scriptsOf } from "#src/ledger/scripts.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";

/** What is checked of a transaction when it is submitted, and not again when it is in the mempool or in a block. */
export interface SubmissionChecks {
  /** The first slot whose time is not known at the tip; undefined: all are. */
  readonly horizon: number | undefined;
}

/**
 * Validates a transaction (CBOR) as part of a block at a slot; with `submission` as one that comes to the mempool, where
 * `state` is that after the mempool. Resolves to its changes, to be applied with `applyDelta`;
 * does not modify the state. Undecodable bytes give the one failure `DeserialiseFailure`. The promise rejects only if
 * `evaluate` rejects.
 */
export async function validate(
  state: LedgerState,
  transaction: Uint8Array,
  slot: number,
  evaluate: Evaluate,
  slots: SlotConfig,
  submission?: SubmissionChecks,
): Promise<Result<Applied, readonly LedgerFailure[]>> {
  const read = readTransaction(transaction);
  if (!read.ok) return refuse([{ name: "DeserialiseFailure", message: read.error.message }]);
  const tx = read.value;
  const { body, witnesses } = tx;
  const { parameters } = state;
  const major = parameters.protocolVersion.major;
  const found: LookedUp = {
    inputs: lookUp(state.utxo, body.inputs),
    references: lookUp(state.utxo, body.references),
    collateral: lookUp(state.utxo, body.collateral),
  };
  const inputs = found.inputs.found;
  const spent = submission ? checkSubmission(found.inputs) : [];
  if (spent.length > 0) return refuse(spent);
  const references = found.references.found;
  const collateral = found.collateral.found;
  await readScripts([...inputs, ...references].map(({ output }) => output));
  const scriptBytes = refScriptBytes(inputs, references);
  const scripts = scriptsOf(body, witnesses.scripts, inputs, references);

  const failures: LedgerFailure[] = submission ? checkSubmittedVotes(body, state) : [];
  let changes = unchanged;
  if (tx.valid) {
    failures.push(...checkLedger(body, scriptBytes, state));
    changes = changing(state, (registry) => {
      failures.push(...applyCertificates(body, registry, state), ...applyGovernance(tx.hash, body, registry, state));
    });
  }
  failures.push(
    ...checkScripts(tx, scripts, major),
    ...checkDatums(body, witnesses.datums, inputs, references, scripts),
    ...checkRedeemers(witnesses.redeemers, scripts),
    ...await checkKeys(tx.id, body, witnesses, inputs, collateral),
    ...checkMetadata(body.auxiliaryHash, tx.auxiliary, major),
    ...checkIntegrity(body.scriptDataHash, witnesses, scripts, parameters),
    ...await checkUtxo(tx, found, state, slot),
  );
  if (failures.length > 0) return refuse(failures);

  const utxos = [...inputs, ...references, ...collateral].map(({ ref, output }) => ({ ref, output }));
  const phase2 = await checkPhase2(tx, utxos, scripts, parameters, evaluate, slots, submission?.horizon);
  if (phase2.length > 0) return refuse(phase2);
  return ok(await effects(tx, found, changes, state, scriptBytes));
}

/**
 * The changes of a transaction (CBOR) that `validate` of this or an earlier release has accepted on the same state
 * (ledger: `reapplyTx`). No rule is checked and no script runs.
 *
 * @throws {CborError} if the bytes are not a transaction
 */
export async function reapply(state: LedgerState, transaction: Uint8Array): Promise<Applied> {
  const read = readTransaction(transaction, { stored: true });
  if (!read.ok) throw new CborError(read.error.message);
  const { hash, body, valid } = read.value;
  const inputs = lookUp(state.utxo, body.inputs);
  const references = lookUp(state.utxo, body.references);
  const changes = !valid ? unchanged : changing(state, (registry) => {
    applyCertificates(body, registry, state);
    applyGovernance(hash, body, registry, state);
  });
  const found: LookedUp = { inputs, references, collateral: lookUp(state.utxo, body.collateral) };
  return await effects(read.value, found, changes, state, refScriptBytes(inputs.found, references.found));
}

function refuse(failures: readonly LedgerFailure[]) {
  return { ok: false, error: failures } as const;
}

/** What an accepted transaction changes. */
async function effects(
  tx: Transaction,
  { inputs, collateral }: LookedUp,
  changes: RegistryChanges,
  state: LedgerState,
  scriptBytes: number,
): Promise<Applied> {
  const { hash, valid, body, units } = tx;
  const { collateralReturn } = body;
  const taken = { hash, valid, size: tx.bytes.length, units, refScriptBytes: scriptBytes };
  const spent = (valid ? inputs : collateral).found.map(({ ref, output }) => ({ ref, output }));
  if (valid) {
    return {
      ...taken,
      ...changes,
      fee: body.fee,
      spent,
      created: body.outputs.map(({ output }, index) => ({ ref: { txHash: hash, index }, output })),
      deposits: deposits(state.parameters, body, state.pools) - refunds(state.parameters, body, state),
      donation: body.donation,
    };
  }
  const index = body.outputs.length;
  return {
    ...taken,
    ...unchanged,
    fee: (await forfeit(body, collateral.found)).lovelace,
    spent,
    created: collateralReturn ? [{ ref: { txHash: hash, index }, output: collateralReturn.output }] : [],
    deposits: 0n,
    donation: 0n,
  };
}

/** Maximum total bytes of the reference scripts of a block's transactions (ledger: `maxRefScriptSizePerBlock`). */
const MAX_BLOCK_REF_SCRIPT_BYTES = 1_048_576;

/** Bytes that a block's body has beside its transactions: heads of its four parts, and a transaction's place in the lists. */
const BODY_BYTES = 20;
const PLACE_BYTES = 6;

/**
 * Whether a block with the transactions `chosen` can also hold `next`: limits of body size, execution units and
 * bytes of reference scripts.
 */
export function fitsBlock(parameters: Parameters, chosen: readonly Applied[], next: Applied): boolean {
  let size = BODY_BYTES;
  let memory = 0n;
  let steps = 0n;
  let references = 0;
  for (const { size: bytes, units, refScriptBytes } of [...chosen, next]) {
    size += bytes + PLACE_BYTES;
    memory += units.memory;
    steps += units.steps;
    references += refScriptBytes;
  }
  const { maxBlockBodySize, maxBlockUnits } = parameters;
  return size <= maxBlockBodySize && memory <= maxBlockUnits.memory && steps <= maxBlockUnits.steps &&
    references <= MAX_BLOCK_REF_SCRIPT_BYTES;
}
