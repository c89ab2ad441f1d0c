/** The script context of Plutus V3 and the cage's own datums, as records. */
import { constr } from "#src/cardano/data.ts";
import { asBytes, asConstr, asData, asInt, asList, asMap, record } from "#src/contract/uplc/record.ts";
import { data } from "#src/contract/uplc/expression.ts";

export const Context = record({ transaction: asData, redeemer: asConstr, purpose: asConstr });

/** The first fields of `TxInfo`; the contract reads no others. */
export const Transaction = record({
  inputs: asList,
  referenceInputs: asList,
  outputs: asList,
  fee: asInt,
  mint: asMap,
  certificates: asList,
  withdrawals: asMap,
  validity: asData,
  signatories: asList,
  redeemers: asMap,
});

export type TransactionFields = ReturnType<typeof Transaction.open>;

export const Input = record({ reference: asData, output: asData });
export const Reference = record({ transaction: asBytes, index: asInt });
export const Output = record({ address: asData, value: asMap, datum: asConstr, script: asData });
export const Address = record({ payment: asData, stake: asConstr });
/** Credential: constructor 0 a key, 1 a script. */
export const Credential = record({ hash: asData });

/** The purpose of the run: constructor 0 minting, 1 spending. */
export const Minting = record({ policy: asData });
export const Spending = record({ reference: asData, datum: asData });
/** A constructor with one field: `Just`, or an inline datum. */
export const Just = record({ value: asData });

/** The cage's datum: constructor 0 around a request, 1 around a state. */
export const Datum = record({ content: asConstr });
export const State = record({ owner: asData, root: asBytes });
export type StateFields = ReturnType<typeof State.open>;
export const Request = record({ token: asData, refund: asData, fee: asInt, key: asBytes, operation: asConstr });
export type RequestFields = ReturnType<typeof Request.open>;
export const Token = record({ policy: asData, name: asData });

/** Redeemers. */
export const SeedToken = record({ seed: asData });
export const Seed = record({ reference: asData });
/** Modify with a crown. Without a crown, the actions are the only field. */
export const Crowned = record({ crown: asBytes, actions: asList });
export const Apply = record({ proof: asList });

/** Constructor 1 without fields: no stake part, no reference script, no datum. */
export const nothing = data(constr(1));
