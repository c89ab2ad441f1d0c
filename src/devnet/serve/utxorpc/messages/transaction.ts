/**
 * Messages of transactions and blocks.
 *
 * What the messages have no place for: votes, required signers, the treasury's sum and donations, and signatures of Byron.
 * It is in the native bytes. Inputs are in the ledger's order, as redeemers count them.
 */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { as, asInt, decodeAll, encode, Encoded, type Item, raw } from "#src/cardano/cbor.ts";
import { plutusScript } from "#src/cardano/conway/script.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import type { Redeemer } from "#src/cardano/conway/witnesses.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { decodeMetadata } from "#src/cardano/metadata/metadatum.ts";
import { knownNative } from "#src/cardano/nativeScript.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { REDEEMER_TAGS } from "#src/cardano/transaction.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { certificateMessage } from "#src/devnet/serve/utxorpc/messages/certificate.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { dataMessage, metadatumMessage, nativeMessage } from "#src/devnet/serve/utxorpc/messages/nested.ts";
import { assetMessages, outputMessage, scriptMessage } from "#src/devnet/serve/utxorpc/messages/output.ts";
import { proposalMessage } from "#src/devnet/serve/utxorpc/messages/proposal.ts";
import { REDEEMER_PURPOSES, unitsMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

/** The outputs that transactions spend or refer to, by reference; those that are not known are left out of messages. */
export type Resolved = ReadonlyMap<string, Output>;

/** The message of a transaction by its CBOR; undefined for bytes that are none. */
export function transactionMessageOf(
  cbor: Uint8Array,
  resolved: Resolved,
  form: Form,
): Draft<cardano.Tx> | undefined {
  const read = readTransaction(cbor, { stored: true });
  return read.ok ? transactionMessage(read.value, resolved, form) : undefined;
}

/** A block with its transactions. `timestamp` is the time of its slot, in ms since 1970. */
export function blockMessage(
  { slot, hash, height, transactions }: ScannedBlock,
  timestamp: number,
  resolved: Resolved,
  form: Form,
): Draft<cardano.Block> {
  return {
    header: { slot: BigInt(slot), hash: fromHex(hash), height: BigInt(height) },
    body: {
      tx: transactions.flatMap((transaction) => {
        const message = transactionMessageOf(transactionCbor(transaction), resolved, form);
        return message ? [message] : [];
      }),
    },
    timestamp: BigInt(timestamp),
  };
}

function transactionMessage(
  { id, valid, body, witnesses, bytes }: Transaction,
  resolved: Resolved,
  form: Form,
): Draft<cardano.Tx> {
  const redeemers = redeemerMessages(witnesses.redeemers, witnesses.rawRedeemers);
  const redeemerOf = (purpose: RedeemerPointer["purpose"], index: number) => {
    const redeemer = redeemers.get(`${REDEEMER_TAGS[purpose]} ${index}`);
    return redeemer ? { redeemer } : {};
  };
  const input = (ref: OutRef): Draft<cardano.TxInput> => {
    const output = resolved.get(refKey(ref));
    return {
      txHash: fromHex(ref.txHash),
      outputIndex: ref.index,
      ...(output ? { asOutput: outputMessage(output, form) } : {}),
    };
  };
  const { collateral, collateralReturn, totalCollateral } = body;
  const hasCollateral = collateral.length > 0 || collateralReturn !== undefined || totalCollateral !== undefined;
  return {
    hash: id,
    inputs: body.inputs.map((ref, index) => ({ ...input(ref), ...redeemerOf("spend", index) })),
    outputs: body.outputs.map(({ output }) => outputMessage(output, form)),
    certificates: body.certificates.map((certificate, index) => ({
      certificate: certificateMessage(certificate, form),
      ...redeemerOf("cert", index),
    })),
    withdrawals: body.withdrawals.map(({ account, amount }, index) => ({
      rewardAccount: fromHex(account.hex),
      coin: form.quantity(amount),
      ...redeemerOf("reward", index),
    })),
    mint: assetMessages(body.mint, form, "minted").map((policy, index) => ({
      ...policy,
      ...redeemerOf("mint", index),
    })),
    referenceInputs: body.references.map(input),
    witnesses: {
      vkeywitness: witnesses.keys.map(({ key, signature }) => ({ vkey: key, signature })),
      script: [...witnesses.scripts.values()].flatMap((script) => scriptMessage(script) ?? []),
      plutusDatums: [...witnesses.datums.values()].flatMap((datum) => dataMessage(datum) ?? []),
    },
    ...(hasCollateral
      ? {
        collateral: {
          collateral: collateral.map(input),
          ...(collateralReturn ? { collateralReturn: outputMessage(collateralReturn.output, form) } : {}),
          ...(totalCollateral === undefined ? {} : { totalCollateral: form.quantity(totalCollateral) }),
        },
      }
      : {}),
    fee: form.quantity(body.fee),
    validity: { start: body.from ?? 0n, ttl: body.before ?? 0n },
    successful: valid,
    ...auxiliaryMessage(bytes),
    proposals: body.proposals.map((proposal) => proposalMessage(proposal, form)),
  };
}

/** Redeemers by the number of their purpose, and index. */
function redeemerMessages(
  redeemers: readonly Redeemer[],
  cbor: Uint8Array | undefined,
): ReadonlyMap<string, Draft<cardano.Redeemer>> {
  const original = cbor ? rawArguments(decodeAll(cbor)) : new Map<string, Uint8Array>();
  return new Map(redeemers.map((redeemer) => {
    const key = `${REDEEMER_TAGS[redeemer.purpose]} ${redeemer.index}`;
    const originalCbor = original.get(key);
    return [key, { ...redeemerMessage(redeemer), ...(originalCbor ? { originalCbor } : {}) }];
  }));
}

/** A redeemer with the units that it states. */
export function redeemerMessage(redeemer: Redeemer): Draft<cardano.Redeemer> {
  const payload = dataMessage(redeemer.data);
  return {
    purpose: REDEEMER_PURPOSES[redeemer.purpose],
    index: redeemer.index,
    exUnits: unitsMessage(redeemer.units),
    ...(payload ? { payload } : {}),
  };
}

/** CBOR of the arguments in redeemers, which are a map or a list. */
function rawArguments(redeemers: Item): Map<string, Uint8Array> {
  const key = (tag: Item | undefined, index: Item | undefined) => `${asInt(tag)} ${asInt(index)}`;
  if (redeemers.type === "map") {
    return new Map(redeemers.value.flatMap(([pointer, content]) => {
      const [tag, index] = as(pointer, "array").value;
      const [data] = as(content, "array").value;
      return data ? [[key(tag, index), raw(data)] as const] : [];
    }));
  }
  return new Map(
    as(redeemers, "array").value.flatMap((element) => {
      const [tag, index, data] = as(element, "array").value;
      return data ? [[key(tag, index), raw(data)] as const] : [];
    }),
  );
}

/** Metadata and scripts that travel with a transaction, by its CBOR. */
function auxiliaryMessage(transaction: Uint8Array): { auxiliary?: Draft<cardano.AuxData> } {
  const item = as(decodeAll(transaction), "array").value[3];
  if (!item || item.type === "null") return {};
  const { metadata, native, plutus } = readAuxiliaryData(raw(item));
  const values = decodeMetadata(encode(new Map([...metadata].map(([label, cbor]) => [label, new Encoded(cbor)]))));
  return {
    auxiliary: {
      metadata: [...values].flatMap(([label, value]) => {
        const message = metadatumMessage(value);
        return message ? [{ label, value: message }] : [];
      }),
      scripts: [
        ...native.flatMap((bytes) => {
          const script = knownNative(bytes);
          const message = script && nativeMessage(script);
          return message ? [{ script: { case: "native" as const, value: message } }] : [];
        }),
        ...plutus.flatMap(({ language, bytes }) => scriptMessage(plutusScript(language, bytes)) ?? []),
      ],
    },
  };
}
