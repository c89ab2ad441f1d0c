/**
 * Predicates of requests: of outputs, as a filter for the database, and of transactions, judged one by one.
 *
 * An empty pattern is true. An asset's name without its policy is the whole unit, policy and name, where it is long enough: Blaze
 * sends it like that.
 */
import type { cardano, query, watch } from "@utxorpc/spec/lib/index.mjs";
import { fromUtf8, isHex, toHex } from "#src/base/bytes.ts";
import type { Certificate, Delegation, DRep } from "#src/cardano/certificates.ts";
import type { Output } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf } from "#src/cardano/value.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import type { UnspentFilter } from "#src/devnet/index/reads/unspent.ts";
import { hexOf, invalid } from "#src/devnet/serve/utxorpc/served.ts";

/** Bytes of the hash in a credential, and of a policy id. */
const HASH_BYTES = 28;
/** Most bytes of an address, and of an asset's name. */
const MOST_ADDRESS = 200;
const MOST_NAME = 32;
/** Most predicates in one, and how deeply they may be nested. */
const MOST_PREDICATES = 200;
const DEEPEST = 16;

/** A predicate with others in it. */
interface Nested<P> {
  readonly not: readonly P[];
  readonly allOf: readonly P[];
  readonly anyOf: readonly P[];
}

/** @throws {ConnectError} INVALID_ARGUMENT for a predicate with too many others in it */
function checkSize<P extends Nested<P>>(predicate: P): void {
  let count = 0;
  let level: readonly P[] = [predicate];
  for (let depth = 0; level.length > 0; depth++) {
    count += level.length;
    if (depth > DEEPEST || count > MOST_PREDICATES) {
      throw invalid(`A predicate may contain ${MOST_PREDICATES} others, nested ${DEEPEST} levels deep.`);
    }
    level = level.flatMap(({ not, allOf, anyOf }) => [...not, ...allOf, ...anyOf]);
  }
}

/** The filter of a predicate of outputs. */
export function unspentFilter(predicate: query.UtxoPredicate | undefined): UnspentFilter {
  if (!predicate) return { by: "all", of: [] };
  checkSize(predicate);
  return filterOf(predicate);
}

function filterOf({ match, not, allOf, anyOf }: query.UtxoPredicate): UnspentFilter {
  const pattern = match?.utxoPattern;
  const all: UnspentFilter[] = [
    ...(pattern?.case === "cardano" ? outputFilters(pattern.value) : []),
    ...not.map((one): UnspentFilter => ({ by: "not", of: filterOf(one) })),
    ...allOf.map(filterOf),
    ...(anyOf.length > 0 ? [{ by: "any" as const, of: anyOf.map(filterOf) }] : []),
  ];
  return all.length === 1 && all[0] ? all[0] : { by: "all", of: all };
}

/** Whether a filter reads the index of the chain. */
export function readsIndex(filter: UnspentFilter): boolean {
  switch (filter.by) {
    case "payment":
    case "unit":
    case "policy":
      return true;
    case "all":
    case "any":
      return filter.of.some(readsIndex);
    case "not":
      return readsIndex(filter.of);
    default:
      return false;
  }
}

function outputFilters({ address, asset }: cardano.TxOutputPattern): UnspentFilter[] {
  const filters: UnspentFilter[] = [];
  if (address) {
    const { exact, payment, delegation } = addressParts(address);
    if (exact !== undefined) filters.push({ by: "address", address: exact });
    if (payment !== undefined) filters.push({ by: "payment", hash: payment });
    if (delegation !== undefined) filters.push({ by: "delegation", hash: delegation });
  }
  if (asset) {
    const { policy, name, unit } = assetParts(asset);
    if (unit !== undefined) filters.push({ by: "unit", unit });
    else if (name !== undefined) throw invalid("An asset name without policy_id must be the policy id and the name.");
    else if (policy !== undefined) filters.push({ by: "policy", policy });
  }
  return filters;
}

/** Parts of an address in hexadecimal; undefined where the pattern does not say. */
function addressParts({ exactAddress, paymentPart, delegationPart }: cardano.AddressPattern) {
  if (exactAddress.length > MOST_ADDRESS) throw invalid(`An address has at most ${MOST_ADDRESS} bytes.`);
  const part = (bytes: Uint8Array, what: string) =>
    bytes.length === 0 ? undefined : hexOf(bytes, HASH_BYTES, `The ${what} of an address`);
  return {
    exact: exactAddress.length === 0 ? undefined : hexInText(exactAddress) ?? toHex(exactAddress),
    payment: part(paymentPart, "payment part"),
    delegation: part(delegationPart, "delegation part"),
  };
}

/**
 * The hexadecimal that bytes are the text of: Mesh 1.8 sends addresses like that. No address is as long as this text of one and
 * begins with such a byte.
 */
function hexInText(bytes: Uint8Array): string | undefined {
  if (bytes.length < 2 * (HASH_BYTES + 1)) return undefined;
  const text = fromUtf8(bytes)?.toLowerCase();
  return text !== undefined && isHex(text) ? text : undefined;
}

/** An asset in hexadecimal: its unit, or its policy or its name alone; all undefined where the pattern does not say. */
function assetParts({ policyId, assetName }: cardano.AssetPattern) {
  if (policyId.length === 0) {
    if (assetName.length > HASH_BYTES + MOST_NAME) throw invalid(`An asset name has at most ${MOST_NAME} bytes.`);
    if (assetName.length >= HASH_BYTES) return { unit: toHex(assetName) };
    return assetName.length === 0 ? {} : { name: toHex(assetName) };
  }
  const policy = hexOf(policyId, HASH_BYTES, "A policy id");
  if (assetName.length > MOST_NAME) throw invalid(`An asset name has at most ${MOST_NAME} bytes.`);
  return assetName.length === 0 ? { policy } : { unit: policy + toHex(assetName) };
}

/** A transaction as predicates look at it. */
export interface JudgedTransaction {
  /** What it spends, as far as it is known. */
  readonly consumed: readonly Output[];
  readonly produced: readonly Output[];
  readonly mint: Assets;
  readonly certificates: readonly Certificate[];
}

/** Whether a transaction satisfies a predicate. */
export type TransactionTest = (transaction: JudgedTransaction) => boolean;

/** The test of a predicate of transactions; true without one. */
export function transactionTest(predicate: watch.TxPredicate | undefined): TransactionTest {
  if (!predicate) return () => true;
  checkSize(predicate);
  return testOf(predicate);
}

function testOf({ match, not, allOf, anyOf }: watch.TxPredicate): TransactionTest {
  const pattern = match?.chain;
  const own = pattern?.case === "cardano" ? patternTests(pattern.value) : [];
  const none = not.map(testOf);
  const all = [...own, ...allOf.map(testOf)];
  const any = anyOf.map(testOf);
  return (transaction) =>
    all.every((test) => test(transaction)) && !none.some((test) => test(transaction)) &&
    (any.length === 0 || any.some((test) => test(transaction)));
}

function patternTests(
  { consumes, produces, hasAddress, movesAsset, mintsAsset, hasCertificate }: cardano.TxPattern,
): TransactionTest[] {
  const tests: TransactionTest[] = [];
  if (consumes) {
    const test = outputTest(consumes);
    tests.push(({ consumed }) => consumed.some(test));
  }
  if (produces) {
    const test = outputTest(produces);
    tests.push(({ produced }) => produced.some(test));
  }
  if (hasAddress) {
    const test = addressTest(hasAddress);
    tests.push(({ consumed, produced }) => consumed.some(test) || produced.some(test));
  }
  if (movesAsset) {
    const test = assetTest(movesAsset);
    const holds = ({ value }: Output) => test(value.assets);
    tests.push(({ consumed, produced }) => consumed.some(holds) || produced.some(holds));
  }
  if (mintsAsset) {
    const test = assetTest(mintsAsset);
    tests.push(({ mint }) => test(mint));
  }
  if (hasCertificate) {
    const test = certificateTest(hasCertificate);
    tests.push(({ certificates }) => certificates.some(test));
  }
  return tests;
}

function outputTest({ address, asset }: cardano.TxOutputPattern): (output: Output) => boolean {
  const at = address ? addressTest(address) : () => true;
  const holds = asset ? assetTest(asset) : () => true;
  return (output) => at(output) && holds(output.value.assets);
}

function addressTest(pattern: cardano.AddressPattern): (output: Pick<Output, "address">) => boolean {
  const { exact, payment, delegation } = addressParts(pattern);
  return ({ address }) => {
    if (exact !== undefined && address !== exact) return false;
    if (payment === undefined && delegation === undefined) return true;
    const parts = credentialsOf(address);
    return (payment === undefined || parts.payment?.slice(1) === payment) &&
      (delegation === undefined || parts.stake?.slice(1) === delegation);
  };
}

function assetTest(pattern: cardano.AssetPattern): (assets: Assets) => boolean {
  const { unit, policy, name } = assetParts(pattern);
  if (unit !== undefined) return (assets) => assets.has(unit);
  return (assets) =>
    [...assets.keys()].some((one) =>
      (policy === undefined || policyOf(one) === policy) && (name === undefined || nameOf(one) === name)
    );
}

function certificateTest({ certificateType: type }: cardano.CertificatePattern): (certificate: Certificate) => boolean {
  switch (type.case) {
    case "stakeRegistration": {
      const test = credentialTest(type.value);
      return (one) => one.kind === "register" && test(one.credential);
    }
    case "stakeDeregistration": {
      const test = credentialTest(type.value);
      return (one) => one.kind === "unregister" && test(one.credential);
    }
    case "stakeDelegation": {
      const test = credentialTest(type.value.stakeCredential);
      const pool = optionalHex(type.value.poolKeyhash);
      return (one) =>
        (one.kind === "register" || one.kind === "delegate") && test(one.credential) && one.to?.pool !== undefined &&
        matches(pool, one.to.pool);
    }
    case "poolRegistration": {
      const pool = optionalHex(type.value.operator) ?? optionalHex(type.value.poolKeyhash);
      return (one) => one.kind === "register pool" && matches(pool, one.pool);
    }
    case "poolRetirement": {
      const pool = optionalHex(type.value.poolKeyhash);
      const { epoch } = type.value;
      return (one) => one.kind === "retire pool" && matches(pool, one.pool) && (epoch === 0n || one.epoch === epoch);
    }
    case "anyStakeCredential": {
      const hash = toHex(type.value);
      return (one) => "credential" in one && one.credential.hash === hash;
    }
    case "anyPoolKeyhash": {
      const hash = toHex(type.value);
      return (one) => ("pool" in one && one.pool === hash) || targetOf(one)?.pool === hash;
    }
    case "anyDrep": {
      const hash = toHex(type.value);
      return (one) =>
        hashOf(targetOf(one)?.drep) === hash ||
        ((one.kind === "register drep" || one.kind === "unregister drep" || one.kind === "update drep") &&
          one.credential.hash === hash);
    }
    default:
      return () => true;
  }
}

function credentialTest(
  pattern: cardano.StakeCredential | undefined,
): (credential: { readonly kind: "key" | "script"; readonly hash: string }) => boolean {
  const wanted = pattern?.stakeCredential;
  if (!wanted || wanted.case === undefined) return () => true;
  const kind = wanted.case === "addrKeyHash" ? "key" : "script";
  const hash = toHex(wanted.value);
  return (credential) => credential.kind === kind && (hash === "" || credential.hash === hash);
}

/** What a certificate delegates to. */
function targetOf(certificate: Certificate): Delegation | undefined {
  return certificate.kind === "register" || certificate.kind === "delegate" ? certificate.to : undefined;
}

const optionalHex = (bytes: Uint8Array) => bytes.length === 0 ? undefined : toHex(bytes);
const matches = (wanted: string | undefined, found: string | undefined) => wanted === undefined || wanted === found;
const hashOf = (drep: DRep | undefined) => drep && "hash" in drep ? drep.hash : undefined;
