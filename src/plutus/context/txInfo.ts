/** `TxInfo` of each Plutus version: the part of the context that all scripts of a language share. */
import type { Body, Withdrawal } from "#src/cardano/conway/body.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import { type Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import { refKey } from "#src/cardano/output.ts";
import { REDEEMER_TAGS } from "#src/cardano/transaction.ts";
import { credentialData, stakingHash } from "#src/plutus/context/address.ts";
import { dCert, txCert } from "#src/plutus/context/certificates.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";
import { proposalData, votesData } from "#src/plutus/context/governance.ts";
import { type PosixTime, validRange } from "#src/plutus/context/interval.ts";
import {
  inputsData,
  outputV1,
  outputV2,
  plainId,
  refItem,
  type Resolved,
  type ShowOutput,
  wrappedId,
} from "#src/plutus/context/output.ts";
import { purposeV1, purposeV3, type Target, targets } from "#src/plutus/purpose.ts";
import { lovelaceValue, mintData, mintWithLovelace } from "#src/plutus/context/value.ts";

/** A transaction, and the data that its translation needs. */
export interface ContextInput {
  readonly transaction: Pick<Transaction, "hash" | "body" | "witnesses">;
  /** The outputs that its inputs and reference inputs refer to. */
  readonly resolved: Resolved;
  readonly time: PosixTime;
  readonly protocolMajor: number;
}

/**
 * `TxInfo` of a Plutus version. Parts are translated in the ledger's order, so that the first failure is the one that the
 * ledger reports.
 *
 * @throws {Untranslatable} if this version cannot represent the transaction.
 */
export const txInfo: { readonly [_ in 1 | 2 | 3]: (input: ContextInput) => Constr } = { 1: v1, 2: v2, 3: v3 };

function v1({ transaction, resolved, time }: ContextInput): Constr {
  const { hash, body, witnesses } = transaction;
  checkFields(body);
  const range = validRange(body, time);
  const inputs = inputsData(body.inputs, resolved, wrappedId, outputV1);
  // Plutus V1 does not see reference inputs, but the ledger fails if it could not translate them
  inputsData(body.references, resolved, wrappedId, outputV1);
  return constr(
    0,
    inputs,
    outputs(body, outputV1),
    lovelaceValue(body.fee),
    mintWithLovelace(body.mint),
    body.certificates.map(dCert),
    accounts(body.withdrawals).map(([account, amount]) => constr(0, account, amount)),
    range,
    body.signers.map(bytes),
    datums(witnesses).map(([hash, datum]) => constr(0, hash, datum)),
    wrappedId(hash),
  );
}

function v2({ transaction, resolved, time }: ContextInput): Constr {
  const { hash, body, witnesses } = transaction;
  checkFields(body);
  const range = validRange(body, time);
  return constr(
    0,
    inputsData(body.inputs, resolved, wrappedId, outputV2),
    inputsData(body.references, resolved, wrappedId, outputV2),
    outputs(body, outputV2),
    lovelaceValue(body.fee),
    mintWithLovelace(body.mint),
    body.certificates.map(dCert),
    new DataMap(accounts(body.withdrawals)),
    range,
    body.signers.map(bytes),
    redeemers(transaction, purposeV1),
    new DataMap(datums(witnesses)),
    wrappedId(hash),
  );
}

function v3({ transaction, resolved, time, protocolMajor }: ContextInput): Constr {
  const { hash, body, witnesses } = transaction;
  const range = validRange(body, time);
  const inputs = inputsData(body.inputs, resolved, plainId, outputV2);
  const references = inputsData(body.references, resolved, plainId, outputV2);
  if (protocolMajor >= 11) checkDisjoint(body);
  return constr(
    0,
    inputs,
    references,
    outputs(body, outputV2),
    body.fee,
    mintData(body.mint),
    body.certificates.map((certificate) => txCert(certificate, protocolMajor)),
    new DataMap(body.withdrawals.map(({ account, amount }) => [credentialData(account.credential), amount])),
    range,
    body.signers.map(bytes),
    redeemers(transaction, (target) => purposeV3(target, protocolMajor)),
    new DataMap(datums(witnesses)),
    plainId(hash),
    votesData(body.voters),
    body.proposals.map(proposalData),
    maybe(body.treasury),
    maybe(body.donation === 0n ? undefined : body.donation),
  );
}

/** Refuses fields of Conway that Plutus V1 and V2 do not have. */
function checkFields({ voters, proposals, donation, treasury }: Body): void {
  if (voters.length > 0) throw new Untranslatable("VotingProceduresFieldNotSupported", "the votes");
  if (proposals.length > 0) throw new Untranslatable("ProposalProceduresFieldNotSupported", "the proposals");
  if (donation !== 0n) {
    throw new Untranslatable("TreasuryDonationFieldNotSupported", "the donation to the treasury", donation);
  }
  if (treasury !== undefined) {
    throw new Untranslatable("CurrentTreasuryFieldNotSupported", "the amount that is stated of the treasury", treasury);
  }
}

/** From protocol version 11 on an output may be both an input and a reference input; Plutus V3 cannot represent that. */
function checkDisjoint({ inputs, references }: Body): void {
  const spent = new Set(inputs.map(refKey));
  const both = references.filter((ref) => spent.has(refKey(ref)));
  if (both.length === 0) return;
  throw new Untranslatable(
    "ReferenceInputsNotDisjointFromInputs",
    `input ${both.map(refKey).join(", ")}`,
    both.map(refItem),
  );
}

function outputs(body: Body, show: ShowOutput): Constr[] {
  return body.outputs.map(({ output }, index) => show(output, { output: index }));
}

/** Withdrawals in Plutus V1 and V2: keys before scripts. The ledger's own order is the opposite. */
function accounts(withdrawals: readonly Withdrawal[]): [Data, Data][] {
  const rank = ({ account: { credential: { kind, hash } } }: Withdrawal) => `${kind === "key" ? 0 : 1}${hash}`;
  const byRank = (a: Withdrawal, b: Withdrawal) => rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0;
  return [...withdrawals].sort(byRank).map(({ account, amount }) => [stakingHash(account.credential), amount]);
}

/** Datums of the witness set, ordered by hash; inline datums are not included. */
function datums({ datums }: Transaction["witnesses"]): [Data, Data][] {
  return [...datums].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([hash, datum]) => [bytes(hash), datum]);
}

/** `Map ScriptPurpose Redeemer`, ordered by the purpose's tag in the witness set, then by index. */
function redeemers({ body, witnesses }: ContextInput["transaction"], purpose: (target: Target) => Constr): DataMap {
  const targetOf = targets(body);
  const order = (a: Redeemer, b: Redeemer) => REDEEMER_TAGS[a.purpose] - REDEEMER_TAGS[b.purpose] || a.index - b.index;
  return new DataMap(
    [...witnesses.redeemers].sort(order).map((redeemer) => [purpose(targetOf(redeemer)), redeemer.data]),
  );
}
