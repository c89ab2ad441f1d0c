/** DecodedTransaction transactions as the API shows them. */
import { fromHex } from "#src/base/bytes.ts";
import { jsonInteger, type Messaged } from "#src/base/json.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { knownNative, nativeHash } from "#src/cardano/nativeScript.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { addressView, lovelace } from "#src/wallets/http/amountViews.ts";
import { poolText } from "#src/wallets/http/delegationView.ts";
import { builtCertificateView, outputView } from "#src/wallets/http/builtViews.ts";
import { proposalsView, votesView } from "#src/wallets/http/governanceViews.ts";
import type {
  DecodedCertificate,
  DecodedInput,
  DecodedOutput,
  DecodedPolicy,
  DecodedScript,
  DecodedTransaction,
} from "#src/wallets/builds/types.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import { pathText } from "#src/cardano/keys/paths.ts";
import { fromNative } from "#src/wallets/shared/script.ts";
import { type MetadataForm, metadataJson } from "#src/cardano/metadata/json.ts";
import { decodeMetadata, type Metadata } from "#src/cardano/metadata/metadatum.ts";

/** The slot that stands for no end of a validity interval: the largest number of 64 bits. */
const NO_END = (1n << 64n) - 1n;

/** Metadata of a decoded transaction; undefined where it has none. */
export function metadataIn({ metadata }: Pick<Messaged<DecodedTransaction>, "metadata">): Metadata | undefined {
  return metadata === undefined ? undefined : decodeMetadata(fromHex(metadata));
}

/**
 * The members that decoded transactions and histories share. `metadata` may be the decrypted form of that in the
 * transaction.
 */
export function partsView(
  decoded: Omit<Messaged<DecodedTransaction>, "inputs" | "outputs" | "witnesses">,
  metadata: Metadata | undefined,
  form: MetadataForm,
) {
  const { validity, scriptIntegrity, policyKey } = decoded;
  return {
    collateral: decoded.collateral.map(inputView),
    collateral_outputs: decoded.collateralOutputs.map(pathOutputView),
    certificates: decoded.certificates.map(anyCertificateView),
    votes: votesView(decoded.votes),
    proposals: proposalsView(decoded.proposals),
    mint: mintView(decoded.mint, policyKey),
    burn: mintView(decoded.burn, policyKey),
    metadata: metadata && metadataJson(metadata, form),
    script_validity: decoded.scriptValidity ?? null,
    validity_interval: {
      invalid_before: { quantity: jsonInteger(validity.from ?? 0), unit: "slot" },
      invalid_hereafter: { quantity: jsonInteger(validity.before ?? NO_END), unit: "slot" },
    },
    script_integrity: scriptIntegrity && toBech32("script_data", fromHex(scriptIntegrity)),
    extra_signatures: decoded.extraSigners.map((hash) => toBech32("req_signer_vkh", fromHex(hash))),
  };
}

/**
 * A transaction at any stage of signing. Only a shared wallet (`shared`) knows what the keys of native scripts are for;
 * for others their hashes are hexadecimal.
 */
export function decodedView(decoded: Messaged<DecodedTransaction>, metadata: Metadata | undefined, shared = false) {
  return {
    ...partsView(decoded, metadata, "tagged"),
    id: decoded.id,
    fee: lovelace(decoded.fee),
    inputs: decoded.inputs.map(inputView),
    outputs: decoded.outputs.map(pathOutputView),
    withdrawals: decoded.withdrawals.map(({ account, lovelace: coin, path }) => ({
      stake_address: addressView(account),
      amount: lovelace(coin),
      context: path === undefined ? "external" : "ours",
    })),
    deposits_taken: decoded.depositsTaken.map(lovelace),
    deposits_returned: decoded.depositsReturned.map(lovelace),
    witness_count: {
      verification_key: Number(decoded.witnesses.keys),
      scripts: decoded.witnesses.scripts.map((script) =>
        scriptView(script, shared ? roleIn(decoded, script) : undefined)
      ),
      bootstrap: Number(decoded.witnesses.bootstrap),
    },
  };
}

export const refView = ({ txHash, index }: Messaged<OutRef>) => ({ id: txHash, index: Number(index) });

/** An input, with its output where that is the wallet's. */
export function inputView({ ref, own }: Messaged<DecodedInput>) {
  return { ...refView(ref), ...(own && pathOutputView(own)) };
}

/** An output, with its path where it is the wallet's. */
export function pathOutputView(output: Messaged<DecodedOutput>) {
  return { ...outputView(output), derivation_path: output.path && pathText(output.path.map(Number)) };
}

function mintView(policies: readonly Messaged<DecodedPolicy>[], policyKey: string | undefined) {
  return {
    tokens: policies.map(({ policy, script, assets }) => ({
      policy_id: policy,
      policy_script: script && scriptView(script, "policy"),
      assets: assets.map(({ name, quantity, fingerprint }) => ({
        asset_name: name,
        quantity: jsonInteger(quantity),
        fingerprint,
      })),
    })),
    ...(policyKey === undefined || policies.length === 0 ? {} : {
      wallet_policy_key_hash: toBech32("policy_vkh", fromHex(policyKey)),
      wallet_policy_key_index: pathText([HARD])[0],
    }),
  };
}

/** The role of a script's keys, as the bech32 prefix of their hashes. */
type KeyRole = "addr_shared" | "stake_shared" | "policy";

/** The role of a script in a transaction: a policy, to act for a stake account, otherwise to spend. */
function roleIn(decoded: Messaged<DecodedTransaction>, script: Messaged<DecodedScript>): KeyRole {
  if (script.kind !== "native") return "addr_shared";
  const hash = nativeHash(fromHex(script.native));
  if ([...decoded.mint, ...decoded.burn].some(({ policy }) => policy === hash)) return "policy";
  const accounts = [...decoded.withdrawals, ...decoded.certificates.filter((one) => "account" in one)];
  return accounts.some(({ account }) => account.slice(2) === hash) ? "stake_shared" : "addr_shared";
}

/** A script of a transaction; without a role the hashes of its keys are hexadecimal. */
function scriptView(script: Messaged<DecodedScript>, role: KeyRole | undefined) {
  const reference = "reference" in script && script.reference !== undefined ? refView(script.reference) : undefined;
  switch (script.kind) {
    case "native": {
      const native = knownNative(fromHex(script.native));
      const leaf = (hash: string) => role === undefined ? hash : toBech32(`${role}_vkh`, fromHex(hash));
      // an unreadable script is shown as its CBOR
      return { script_type: "native", script: native ? fromNative(native, leaf) : script.native, reference };
    }
    case "plutus":
      return {
        script_type: "plutus",
        script_info: { language_version: `v${script.language}`, script_hash: script.hash },
        reference,
      };
    case "reference":
      return { script_type: "reference script", script_hash: script.hash, references: script.references.map(refView) };
  }
}

/** A certificate of any kind. */
function anyCertificateView(shown: Messaged<DecodedCertificate>): Record<string, unknown> {
  if (shown.type !== "other") return builtCertificateView(shown);
  const { certificate } = shown;
  switch (certificate.kind) {
    case "register pool": {
      const { margin: { numerator, denominator }, metadata } = certificate;
      return {
        certificate_type: "register_pool",
        pool_id: poolText(certificate.pool),
        pool_owners: certificate.owners.map((owner) => toBech32("stake_vkh", fromHex(owner))),
        pool_margin: { quantity: Number(numerator) * 100 / Number(denominator), unit: "percent" },
        pool_cost: lovelace(certificate.cost),
        pool_pledge: lovelace(certificate.pledge),
        pool_metadata: metadata && { url: metadata.url, hash: metadata.hash },
      };
    }
    case "retire pool":
      return {
        certificate_type: "deregister_pool",
        pool_id: poolText(certificate.pool),
        retirement_epoch: BigInt(certificate.epoch),
      };
    case "delegate genesis":
      return { certificate_type: "genesis" };
    case "move rewards":
      return { certificate_type: "mir" };
    default:
      return { certificate_type: certificate.kind.replaceAll(" ", "_") };
  }
}
