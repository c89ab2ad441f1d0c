/** Resolves what a partial transaction refers to, or says why it cannot be balanced. */
import { elementAt } from "#src/base/present.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { certificateWitness, poolKeys } from "#src/cardano/conway/certificate.ts";
import { isData } from "#src/cardano/data.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { type Redeemer, type RedeemerFor, subjectOf } from "#src/cardano/transaction.ts";
import { policyOf, sameValue } from "#src/cardano/value.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";
import { attempted } from "#src/wallets/builds/decode.ts";
import { ada, TOO_LITTLE_ADA } from "#src/wallets/builds/failures.ts";
import { mapOf, type PartialTransaction, readPartial } from "#src/wallets/builds/partial.ts";
import { paymentScriptHash } from "#src/transaction/signers.ts";
import type { BalanceInput, BalanceTxFailure, GivenRedeemer, OwnCoin } from "#src/wallets/builds/types.ts";
import { votersOf } from "#src/wallets/builds/governance.ts";
import { scriptIn, witnessesOf } from "#src/wallets/builds/witnesses.ts";

/** A partial transaction with the outputs that it refers to. */
export interface ResolvedTransaction {
  readonly partial: PartialTransaction;
  /** Its inputs, and the wallet's own among them. */
  readonly inputs: readonly Utxo[];
  readonly own: readonly OwnCoin[];
  readonly references: readonly Utxo[];
  readonly redeemers: readonly Omit<Redeemer, "units">[];
  /** Languages of the Plutus scripts that run: 0 Plutus V1, 1 V2, 2 V3. */
  readonly languages: ReadonlySet<number>;
}

/** Reads a partial transaction and finds the outputs that it refers to. */
export function resolve(input: BalanceInput): Result<ResolvedTransaction, BalanceTxFailure> {
  const read = tryReadPartial(input.transaction);
  if (!read.ok) return read;
  const partial = read.value;
  const { scanned } = partial;
  const refused = existing(partial) ?? tooSmall(input, partial);
  if (refused) return refused;
  const own = new Map(input.funds.coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const given = new Map<string, Utxo>();
  for (const utxo of input.inputs) {
    const key = refKey(utxo.ref);
    const other = given.get(key) ?? own.get(key)?.utxo;
    if (other && !sameOutput(other, utxo)) {
      return fail(
        "input_resolution_conflicts",
        "At least one of the inputs you've told me about has an asset quantity or address that is different from that recorded in the wallet's " +
          `UTxO set.\nThe conflict(s) are:\n- ${key}`,
      );
    }
    given.set(key, utxo);
  }
  const find = (refs: ScannedTransaction["inputs"]) =>
    refs.flatMap((ref) => own.get(refKey(ref))?.utxo ?? given.get(refKey(ref)) ?? []);
  const inputs = find(scanned.inputs);
  const references = find(scanned.references);
  const found = new Set([...inputs, ...references].map(({ ref }) => refKey(ref)));
  const unknown = [...scanned.inputs, ...scanned.references].filter((ref) => !found.has(refKey(ref)));
  if (unknown.length > 0) {
    return fail(
      "unresolved_inputs",
      `There are inputs in the transaction for which corresponding outputs could not be found:\n ${
        unknown.map(refKey).join(", ")
      }`,
      {
        unresolved: unknown.map(({ txHash, index }) => ({ id: txHash, index })),
      },
    );
  }
  const redeemers = redeemersOf(input.redeemers, partial);
  if (!redeemers.ok) return redeemers;
  return ok({
    partial,
    inputs,
    own: inputs.flatMap(({ ref }) => own.get(refKey(ref)) ?? []),
    references,
    redeemers: redeemers.value,
    languages: languagesOf(partial, inputs, references),
  });
}

/** A partial transaction; `bad_request` where the bytes are not one. */
export function tryReadPartial(transaction: Uint8Array): Result<PartialTransaction, BalanceTxFailure> {
  return attempted(() => readPartial(transaction));
}

function sameOutput({ output: a }: Utxo, { output: b }: Utxo): boolean {
  return a.address === b.address && sameValue(a.value, b.value);
}

/** Refuses parts that balancing would invalidate, signatures and collateral, and rewards of several networks. */
function existing(
  { scanned, isSigned }: PartialTransaction,
): { readonly ok: false; readonly error: BalanceTxFailure } | undefined {
  if (isSigned) {
    return fail(
      "balance_tx_existing_key_witnesses",
      "The transaction could not be balanced, because it contains existing key-witnesses which would be invalid after the transaction body " +
        "is modified. Please sign the transaction after it is balanced instead.",
    );
  }
  // the last digit of an account's first byte is its network
  if (new Set([...scanned.withdrawals.keys()].map((account) => account[1])).size > 1) {
    return fail(
      "balance_tx_conflicting_networks",
      "There are withdrawals for multiple networks (e.g. both mainnet and testnet) in the provided transaction. This makes no sense, and " +
        "I'm confused.",
    );
  }
  if (scanned.collateral.length > 0) {
    return fail("balance_tx_existing_collateral", "I cannot balance transactions with pre-defined collateral.");
  }
  if (scanned.collateralReturn) {
    return fail(
      "balance_tx_existing_return_collateral",
      "Balancing transactions with pre-defined collateral return outputs is not yet supported.",
    );
  }
  if (scanned.totalCollateral !== undefined) {
    return fail(
      "balance_tx_existing_total_collateral",
      "I cannot balance transactions with pre-defined total collateral.",
    );
  }
  return undefined;
}

function tooSmall({ parameters }: BalanceInput, { scanned, outputs }: PartialTransaction) {
  for (const [index, { value: { lovelace } }] of scanned.outputs.entries()) {
    const least = minUtxo(parameters, elementAt(outputs, index).length);
    if (lovelace >= least) continue;
    return fail("utxo_too_small", TOO_LITTLE_ADA, {
      tx_output_index: index,
      tx_output_lovelace_specified: ada(lovelace),
      tx_output_lovelace_required_minimum: ada(least),
    });
  }
  return undefined;
}

function redeemersOf(
  given: readonly GivenRedeemer[],
  { scanned, redeemers }: PartialTransaction,
): Result<readonly Omit<Redeemer, "units">[], BalanceTxFailure> {
  const all = new Map<string, Omit<Redeemer, "units">>(redeemers.map((one) => [subjectOf(one.for), one]));
  const inputs = new Set(scanned.inputs.map(refKey));
  const policies = new Set([...scanned.mint.keys()].map(policyOf));
  for (const redeemer of given) {
    const target = targetOf(redeemer);
    const subject = subjectOf(target);
    const isThere = target.purpose === "spend"
      ? inputs.has(subject)
      : target.purpose === "mint"
      ? policies.has(subject)
      : scanned.withdrawals.has(subject);
    if (!isThere) {
      return fail(
        "redeemer_target_not_found",
        `I was unable to resolve one of your redeemers to the location indicated in the request payload: ${subject}; Please double-check both ` +
          "your serialised transaction and the provided redeemers.",
      );
    }
    if (!isData(redeemer.data)) {
      return fail(
        "redeemer_invalid_data",
        "It looks like you have provided an invalid 'data' payload for one of your redeemers since I am unable to decode it into a valid " +
          `Plutus data: ${subject}.`,
      );
    }
    all.set(subject, { for: target, data: redeemer.data });
  }
  return ok([...all.values()]);
}

function targetOf(redeemer: GivenRedeemer): RedeemerFor {
  switch (redeemer.purpose) {
    case "spending":
      return { purpose: "spend", ref: redeemer.ref };
    case "minting":
      return { purpose: "mint", policy: redeemer.policy };
    case "rewarding":
      return { purpose: "reward", account: redeemer.account };
  }
}

/** Languages of the Plutus scripts that the transaction runs, from its witness set or from outputs. */
function languagesOf(
  { scanned, witnesses }: PartialTransaction,
  inputs: readonly Utxo[],
  references: readonly Utxo[],
): Set<number> {
  const needed = new Set([
    ...inputs.map(({ output }) => paymentScriptHash(output.address)),
    ...[...scanned.mint.keys()].map(policyOf),
    ...[...scanned.withdrawals.keys()].filter((account) => account.startsWith("f")).map((account) => account.slice(2)),
    ...scanned.certificates.map((certificate) => {
      const credential = "credential" in certificate ? certificate.credential : undefined;
      return credential?.kind === "script" ? credential.hash : undefined;
    }),
  ]);
  const carried = witnessesOf(mapOf(witnesses)).scripts;
  const referred = [...inputs, ...references].flatMap(({ output }) => output.script ? [scriptIn(output.script)] : []);
  return new Set(
    [...carried, ...referred].filter(({ hash, language }) => language > 0 && needed.has(hash))
      .map(({ language }) => language - 1),
  );
}

/** Hashes of keys that sign beside those of inputs: for certificates, withdrawals, votes and required signers. */
export function keysFor(
  scanned: ScannedTransaction,
  account: { readonly kind: string; readonly hash: string } | undefined,
): Set<string> {
  const keys = new Set(scanned.requiredSigners);
  for (const address of scanned.withdrawals.keys()) if (address.startsWith("e")) keys.add(address.slice(2));
  for (const certificate of scanned.certificates) {
    for (const key of keysOfCertificate(certificate, account)) keys.add(key);
  }
  for (const { credential } of votersOf(scanned)) if (credential.kind === "key") keys.add(credential.hash);
  return keys;
}

/**
 * Keys of a certificate. A registration without deposit needs no signature, but the wallet signs for its own account.
 */
function keysOfCertificate(
  certificate: Certificate,
  account: { readonly hash: string } | undefined,
): readonly string[] {
  const isOwn = certificate.kind === "register" && certificate.credential.hash === account?.hash;
  const credential = isOwn ? certificate.credential : certificateWitness(certificate);
  return credential?.kind === "key" ? [credential.hash] : poolKeys(certificate);
}
