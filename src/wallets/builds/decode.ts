/** Decoding of a transaction, with what in it belongs to a wallet. */
import { toHex } from "#src/base/bytes.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import { type Credential, rewardAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { as, CborError, decodeAll, encode, Encoded, entry } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { proposalsOf, votersOf } from "#src/wallets/builds/governance.ts";
import { shownOutput } from "#src/wallets/builds/shown.ts";
import { scriptIn, type TransactionScript, witnessesOf, type WitnessSummary } from "#src/wallets/builds/witnesses.ts";
import type {
  DecodedCertificate,
  DecodedInput,
  DecodedOutput,
  DecodedPolicy,
  DecodedScript,
  DecodedTransaction,
  DecodeFailure,
  DecodeInput,
  ShownCertificate,
  TransactionLookups,
} from "#src/wallets/builds/types.ts";

/** The result of a reader; `bad_request` where the bytes are not a transaction. */
export function attempted<T>(read: () => T): Result<T, DecodeFailure> {
  try {
    return ok(read());
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("bad_request", `Error in $.transaction: these bytes are no transaction: ${error.message}.`);
  }
}

/** What must be looked up before a transaction is decoded or balanced. */
export function lookupsOf(transaction: Uint8Array): Result<TransactionLookups, DecodeFailure> {
  return attempted(() => {
    const { inputs, collateral, references, outputs, collateralReturn, certificates } = scanTransaction(transaction);
    const made = collateralReturn ? [...outputs, collateralReturn] : outputs;
    const pools = certificates.flatMap((one) => one.kind === "register pool" ? [one.pool] : []);
    return { inputs, collateral, references, addresses: [...new Set(made.map(({ address }) => address))], pools };
  });
}

/** Decodes a transaction at any stage of signing. */
export function decodeTransaction(input: DecodeInput): Result<DecodedTransaction, DecodeFailure> {
  return attempted(() => decodeScanned(scanTransaction(input.transaction), input));
}

/** What decoding needs beside the transaction. */
type DecodeContext = Omit<DecodeInput, "transaction">;

/** Byron transactions: their signatures are not counted, and they have no scripts. */
const NO_WITNESSES: WitnessSummary = { keys: 0, bootstraps: 0, scripts: [] };

/**
 * Decodes a scanned transaction of any era.
 *
 * @throws CborError where its parts are malformed.
 */
export function decodeScanned(scanned: ScannedTransaction, input: DecodeContext): DecodedTransaction {
  const { owns } = input;
  const { policyKey } = owns;
  const body = decodeAll(scanned.body);
  const isByron = body.type === "array";
  const witnesses = isByron ? NO_WITNESSES : witnessesOf(scanned.witnesses);
  const scripts = scriptsOf(scanned, witnesses.scripts, input);
  const coins = new Map(owns.coins.map((coin) => [refKey(coin.utxo.ref), coin]));
  const paths = new Map(owns.addresses.map(({ address, path }) => [address, path]));
  const ownInput = (ref: OutRef): DecodedInput => {
    const coin = coins.get(refKey(ref));
    return coin ? { ref, own: { ...shownOutput(coin.utxo.output), path: coin.path } } : { ref };
  };
  const ownOutput = (output: { address: string; value: Parameters<typeof shownOutput>[0]["value"] }): DecodedOutput => {
    const path = paths.get(output.address);
    return { ...shownOutput(output), ...(path ? { path } : {}) };
  };
  const account = owns.account && rewardAddress(input.network, owns.account.credential).hex;
  const certificates = scanned.certificates.flatMap((certificate) => shownCertificates(certificate, input, account));
  const proposals = proposalsOf(scanned, owns.account);
  const policies = policiesOf(scanned, scripts);
  const listed = listedScripts(scanned, witnesses.scripts);
  const integrity = isByron ? undefined : entry(body, 11);
  const metadata = scanned.auxiliaryData && readAuxiliaryData(scanned.auxiliaryData).metadata;
  return {
    id: scanned.hash,
    fee: scanned.fee ?? 0n,
    inputs: scanned.inputs.map(ownInput),
    outputs: scanned.outputs.map(ownOutput),
    collateral: scanned.collateral.map(ownInput),
    collateralOutputs: scanned.collateralReturn ? [ownOutput(scanned.collateralReturn)] : [],
    withdrawals: [...scanned.withdrawals].map(([address, lovelace]) => ({
      account: address,
      lovelace,
      ...(owns.account && address === account ? { path: owns.account.path } : {}),
    })),
    ...policies,
    ...(policyKey === undefined ? {} : { policyKey }),
    certificates,
    votes: votersOf(scanned, owns.drep),
    proposals,
    ...depositsOf(scanned, input, account),
    ...(metadata && metadata.size > 0
      ? { metadata: toHex(encode(new Map([...metadata].map(([label, value]) => [label, new Encoded(value)])))) }
      : {}),
    ...(isByron ? {} : { scriptValidity: scanned.valid ? "valid" as const : "invalid" as const }),
    validity: {
      ...(scanned.validFrom === undefined ? {} : { from: BigInt(scanned.validFrom) }),
      ...(scanned.validTo === undefined ? {} : { before: BigInt(scanned.validTo) }),
    },
    ...(integrity ? { scriptIntegrity: toHex(as(integrity, "bytes").value) } : {}),
    extraSigners: scanned.requiredSigners,
    witnesses: {
      keys: witnesses.keys,
      bootstrap: witnesses.bootstraps,
      scripts: listed,
    },
  };
}

function decodedScript(script: TransactionScript, reference?: OutRef): DecodedScript {
  const place = reference ? { reference } : {};
  return script.language === 0
    ? { kind: "native", native: toHex(script.bytes), ...place }
    : { kind: "plutus", language: script.language, hash: script.hash, ...place };
}

/**
 * Scripts that the transaction carries: of its witness set, and of its outputs, where later transactions can refer to
 * them. By hash in order, each once, as cardano-wallet's `getWitnessCount` has them.
 */
function listedScripts(
  { hash: txHash, outputs }: ScannedTransaction,
  carried: readonly TransactionScript[],
): DecodedScript[] {
  const scripts = new Map(carried.map((script) => [script.hash, decodedScript(script)]));
  for (const [index, output] of outputs.entries()) {
    const script = output.script && scriptIn(output.script);
    if (script && !scripts.has(script.hash)) scripts.set(script.hash, decodedScript(script, { txHash, index }));
  }
  return [...scripts].sort(([a], [b]) => a < b ? -1 : 1).map(([, script]) => script);
}

/** Scripts of the witness set and of inputs and reference inputs, by hash. */
function scriptsOf(
  { inputs, references }: ScannedTransaction,
  carried: readonly TransactionScript[],
  { references: known = [], owns }: DecodeContext,
): Map<string, DecodedScript> {
  const scripts = new Map(carried.map((script) => [script.hash, decodedScript(script)]));
  const looked = new Set([...inputs, ...references].map(refKey));
  for (const { ref, output } of [...known, ...owns.coins.map(({ utxo }) => utxo)]) {
    if (!output.script || !looked.has(refKey(ref))) continue;
    const script = scriptIn(output.script);
    if (!scripts.has(script.hash)) scripts.set(script.hash, decodedScript(script, ref));
  }
  return scripts;
}

function policiesOf(scanned: ScannedTransaction, scripts: ReadonlyMap<string, DecodedScript>) {
  const side = (sign: 1n | -1n): DecodedPolicy[] => {
    const policies = new Map<string, DecodedPolicy["assets"][number][]>();
    for (const [asset, quantity] of scanned.mint) {
      if (quantity * sign <= 0n) continue;
      const policy = policyOf(asset);
      const assets = policies.get(policy) ?? [];
      assets.push({ name: nameOf(asset), quantity: quantity * sign, fingerprint: fingerprint(asset) });
      policies.set(policy, assets);
    }
    return [...policies].map(([policy, assets]) => {
      const script = scripts.get(policy) ??
        (scanned.references.length > 0
          ? { kind: "reference" as const, hash: policy, references: scanned.references }
          : undefined);
      return { policy, assets, ...(script ? { script } : {}) };
    });
  };
  return { mint: side(1n), burn: side(-1n) };
}

function shownCertificates(
  certificate: Certificate,
  { network, owns }: DecodeContext,
  account?: string,
): DecodedCertificate[] {
  const { kind } = certificate;
  switch (certificate.kind) {
    case "register drep":
    case "update drep":
    case "unregister drep":
    case "authorize":
    case "resign": {
      const own = owns.drep && "credential" in certificate && certificate.credential.kind === "key" &&
        certificate.credential.hash === owns.drep.hash;
      return [{ type: "governance", certificate, ...(own && owns.drep ? { path: owns.drep.path } : {}) }];
    }
    case "register":
    case "unregister":
    case "delegate":
      break;
    default:
      return [{ type: "other", certificate }];
  }
  const address = accountOf(network, certificate.credential);
  const about = { account: address, ...(owns.account && address === account ? { path: owns.account.path } : {}) };
  const shown: ShownCertificate[] = [];
  if (kind === "register") shown.push({ type: "register_reward_account", ...about });
  if (kind === "unregister") shown.push({ type: "quit_pool", ...about });
  const to = kind === "unregister" ? undefined : certificate.to;
  if (to?.pool !== undefined) shown.push({ type: "join_pool", pool: to.pool, ...about });
  if (to?.drep) shown.push({ type: "cast_vote", drep: to.drep, ...about });
  return shown;
}

function accountOf(network: DecodeInput["network"], credential: Credential): string {
  return rewardAddress(network, credential).hex;
}

/** Deposits that the wallet's own certificates pay and return, and those of proposals if it has an input. */
function depositsOf(
  scanned: ScannedTransaction,
  { network, keyDeposit, deposits, owns }: DecodeContext,
  account: string | undefined,
): Pick<DecodedTransaction, "depositsTaken" | "depositsReturned"> {
  const depositsTaken: bigint[] = [];
  const depositsReturned: bigint[] = [];
  for (const certificate of scanned.certificates) {
    const { kind } = certificate;
    if (kind === "register drep" || kind === "unregister drep") {
      if (certificate.credential.hash !== owns.drep?.hash) continue;
      if (kind === "register drep") depositsTaken.push(certificate.deposit);
      else depositsReturned.push(certificate.refund);
      continue;
    }
    if (certificate.kind !== "register" && certificate.kind !== "unregister") continue;
    const address = accountOf(network, certificate.credential);
    if (address !== account) continue;
    if (certificate.kind === "register") depositsTaken.push(certificate.deposit ?? keyDeposit);
    else depositsReturned.push(certificate.refund ?? deposits?.get(address) ?? keyDeposit);
  }
  const spends = new Set(scanned.inputs.map(refKey));
  const pays = owns.coins.some(({ utxo }) => spends.has(refKey(utxo.ref)));
  return { depositsTaken: pays ? [...depositsTaken, ...scanned.proposals ?? []] : depositsTaken, depositsReturned };
}
