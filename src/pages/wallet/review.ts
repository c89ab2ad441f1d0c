/**
 * What a transaction does, read from its bytes in the browser before anything is signed; a chunk of its own.
 *
 * The ledger refuses a transaction that does not balance. So the wallet can lose no more than what the outputs, the fee,
 * the deposits and the burnt assets say, whatever the service claims about the inputs. Everything that is not described
 * here is a problem, and a transaction with problems is not signed.
 */
import { fromHex } from "#src/base/bytes.ts";
import { addressText, type Credential, parseAddress, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { as, asInt, asSet, CborError, decodeAll, entry } from "#src/cardano/cbor.ts";
import { type Certificate, type DRep } from "#src/cardano/certificates.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import type { Output } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import type { OwnKeys } from "#src/pages/wallet/ownKeys.ts";
import type { Described } from "#src/pages/wallet/described.ts";
import {
  describeDrep,
  describeVotes,
  type DrepCertificate,
  neededOf,
  type RequestedGovernance,
} from "#src/pages/wallet/reviewGovernance.ts";

/** Lovelace above which a fee is taken for a mistake. */
const GREATEST_FEE = 5_000_000n;

/** Quantities by asset: policy id and name in hexadecimal, one after the other. */
export type Quantities = ReadonlyMap<string, bigint>;

/** A payment that the user requested. */
export interface RequestedPayment {
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: Quantities;
}

/** What the user requested; what is left out must not happen. */
export interface Requested {
  readonly payments?: readonly RequestedPayment[];
  /** Quantities to mint, and negative ones to burn. */
  readonly mint?: Quantities;
  /** `pool1…` */
  readonly join?: string;
  readonly quit?: boolean;
  /** `abstain`, `no_confidence` or `drep1…`. A wallet without a vote abstains when it joins a pool. */
  readonly vote?: string;
  /** What it does as a representative. */
  readonly governance?: RequestedGovernance;
  readonly withdraw?: boolean;
  /** Lines of a message in the metadata (CIP-20). */
  readonly message?: readonly string[] | undefined;
}

/** An output, described. */
export interface ReviewedOutput {
  /** Whether it is at one of the wallet's own addresses. */
  readonly own: boolean;
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: readonly ReviewedAsset[];
}

export interface ReviewedAsset {
  readonly policy: string;
  readonly name: string;
  readonly fingerprint: string;
  readonly quantity: bigint;
}

export interface Review {
  readonly hash: string;
  /** Bytes without the signatures that are still missing. */
  readonly size: number;
  readonly fee: bigint;
  /** Outputs to others, and those to the wallet itself that were requested, in the transaction's order. */
  readonly pays: readonly ReviewedOutput[];
  /** The change: other outputs at the wallet's own addresses. */
  readonly returns: readonly ReviewedOutput[];
  readonly mints: readonly ReviewedAsset[];
  /** Sentences about the wallet's stake and vote. */
  readonly actions: readonly string[];
  readonly deposit: bigint;
  readonly refund: bigint;
  readonly withdrawn: bigint;
  /** Lovelace that leaves the wallet: payments, fee and deposit, less rewards and refunds. */
  readonly cost: bigint;
  readonly metadata: boolean;
  /** Lines of its message, where that is all of its metadata. */
  readonly message: readonly string[] | undefined;
  /** First slot in which it is valid. */
  readonly validFrom: number | undefined;
  /** First slot in which it is no longer valid. */
  readonly validTo: number | undefined;
  /** Hashes of the keys that have signed. */
  readonly signed: ReadonlySet<string>;
  /** Reasons not to sign. */
  readonly problems: readonly string[];
}

/** Members of a body that are described: what they do is shown. */
const DESCRIBED = new Set([0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 18, 19]);

/** Bytes of a transaction in base64 or hexadecimal; `undefined` for other text. */
export function transactionBytes(text: string): Uint8Array | undefined {
  const given = text.replaceAll(/\s/g, "");
  if (/^([0-9a-fA-F]{2})+$/.test(given)) return fromHex(given.toLowerCase());
  if (given === "" || !/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(given)) return undefined;
  return Uint8Array.from(atob(given), (character) => character.charCodeAt(0));
}

/**
 * Reads a transaction from a wallet's side. `paths` are the derivation paths that the service claims for the wallet's
 * addresses; each is derived here and counts only if it gives the address. Without `requested`, nothing is compared.
 *
 * @throws {CborError} for bytes that are no transaction
 */
export function reviewTransaction(
  bytes: Uint8Array,
  { own, paths, requested }: {
    readonly own: OwnKeys;
    readonly paths: ReadonlyMap<string, readonly string[]>;
    readonly requested?: Requested | undefined;
  },
): Review {
  const scanned = scanTransaction(bytes);
  const outputs = scanned.outputs.map((output) => {
    const address = textOf(output.address);
    return { output, shown: { ...outputOf(output), address, own: own.isOwn(address, paths.get(address)) } };
  });
  const wanted = matched(outputs.map(({ shown }) => shown), requested?.payments ?? []);
  const pays = outputs.filter(({ shown }) => !shown.own || wanted.found.has(shown));
  const returns = outputs.filter(({ shown }) => shown.own && !wanted.found.has(shown)).map(({ shown }) => shown);
  const stake = own.stake();
  const certificates = [
    ...scanned.certificates.map((one) => isOfDrep(one) ? describeDrep(one, own.drep()) : describe(one, stake)),
    ...describeVotes(scanned, own.drep()),
  ];
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n);
  const deposit = sum(certificates.map((one) => one.deposit ?? 0n));
  const refund = sum(certificates.map((one) => one.refund ?? 0n));
  const withdrawn = sum([...scanned.withdrawals.values()]);
  const mints = [...scanned.mint].map(assetOf);
  const metadata = scanned.auxiliaryData !== undefined;
  const paid = sum(pays.filter(({ shown }) => !shown.own).map(({ shown }) => shown.lovelace));
  const review = {
    hash: scanned.hash,
    size: bytes.length,
    fee: scanned.fee,
    pays: pays.map(({ shown }) => shown),
    returns,
    mints,
    actions: certificates.flatMap(({ text }) => text),
    deposit,
    refund,
    withdrawn,
    cost: paid + scanned.fee + deposit - refund - withdrawn,
    metadata,
    message: messageIn(scanned.auxiliaryData),
    validFrom: scanned.validFrom,
    validTo: scanned.validTo,
    signed: signaturesIn(scanned.witnesses),
  };
  const account = stake && rewardAddress(own.network, stake).hex;
  const problems = [
    ...certificates.flatMap(({ problem }) => problem ?? []),
    ...[...scanned.withdrawals.keys()].filter((one) => one !== account).map((one) =>
      `It withdraws the rewards of another account, ${textOf(one)}.`
    ),
    ...unusualParts(scanned.body, scanned.valid),
    ...outputs.flatMap(({ output, shown }) =>
      output.datum !== undefined || output.script !== undefined
        ? [`The output to ${shown.address} carries data or a script.`]
        : []
    ),
    ...(scanned.fee > GREATEST_FEE ? [`Its fee of ${scanned.fee} lovelace is unusually high.`] : []),
    ...(requested ? differences(review, requested, wanted, certificates.flatMap(({ does }) => does)) : []),
  ];
  return { ...review, problems };
}

const outputOf = ({ value }: Output) => ({ lovelace: value.lovelace, assets: [...value.assets].map(assetOf) });

/** Outputs that are requested payments, each payment by one output; and the payments that no output is. */
interface Matched {
  readonly found: ReadonlySet<ReviewedOutput>;
  readonly missing: readonly RequestedPayment[];
}

function matched(outputs: readonly ReviewedOutput[], payments: readonly RequestedPayment[]): Matched {
  const found = new Set<ReviewedOutput>();
  const missing = payments.filter((payment) => {
    const key = paymentKey(payment);
    const output = outputs.find((one) => !found.has(one) && outputKey(one) === key);
    if (output) found.add(output);
    return output === undefined;
  });
  return { found, missing };
}

const assetOf = ([asset, quantity]: readonly [string, bigint]): ReviewedAsset => ({
  policy: policyOf(asset),
  name: nameOf(asset),
  fingerprint: fingerprint(asset),
  quantity,
});

/** An address as text; its bytes where it has no text form. */
function textOf(hex: string): string {
  const read = readAddressHex(hex);
  return read.ok ? addressText(read.value) : hex;
}

const isOfDrep = (certificate: Certificate): certificate is DrepCertificate =>
  ["register drep", "update drep", "unregister drep"].includes(certificate.kind);

function describe(certificate: Certificate, stake: Credential | undefined): Described {
  if (!("credential" in certificate) || !["register", "unregister", "delegate"].includes(certificate.kind)) {
    return {
      text: [],
      does: [],
      problem: `It has a certificate that this page does not describe: ${certificate.kind}.`,
    };
  }
  const { kind, hash } = certificate.credential;
  const own = stake !== undefined && stake.kind === kind && stake.hash === hash;
  const foreign = own ? {} : { problem: "It has a certificate of another account." };
  switch (certificate.kind) {
    case "unregister":
      return {
        text: ["Stops delegating, and returns the deposit"],
        does: ["quit"],
        refund: certificate.refund,
        ...foreign,
      };
    case "register":
    case "delegate": {
      const { pool, drep } = certificate.to ?? {};
      const target = pool && toBech32("pool", fromHex(pool));
      return {
        text: [
          ...(certificate.kind === "register" ? ["Registers the stake key, for a deposit"] : []),
          ...(target ? [`Delegates the stake to ${target}`] : []),
          ...(drep ? [voteText(drep)] : []),
        ],
        does: [...(target ? [`join ${target}`] : []), ...(drep ? [`vote ${drepId(drep)}`] : [])],
        deposit: certificate.kind === "register" ? certificate.deposit : undefined,
        ...foreign,
      };
    }
    default:
      return { text: [], does: [], problem: "It has a certificate that this page does not describe." };
  }
}

function voteText(drep: DRep): string {
  if (drep.kind === "abstain") return "Delegates the vote to Abstain";
  if (drep.kind === "no confidence") return "Delegates the vote to No confidence";
  return `Delegates the vote to ${drepId(drep)}`;
}

/** Members of the body that this page does not describe. */
function unusualParts(body: Uint8Array, valid: boolean): string[] {
  const unknown = as(decodeAll(body), "map").value.map(([key]) => Number(asInt(key))).filter((key) =>
    !DESCRIBED.has(key)
  );
  return [
    ...(valid ? [] : ["It is marked as failing its scripts."]),
    ...unknown.map((key) => `It has a part that this page does not describe (member ${key} of its body).`),
  ];
}

/** Hashes of the keys whose signatures are attached. The signatures are not verified here: the ledger does that. */
function signaturesIn(witnesses: Uint8Array): ReadonlySet<string> {
  const list = entry(decodeAll(witnesses), 0);
  if (list === undefined) return new Set();
  return new Set(asSet(list).map((one) => keyHash(as(as(one, "array").value[0], "bytes").value)));
}

/** Label of messages in metadata (CIP-20). */
const MESSAGE = 674n;

/** The lines of a message; undefined where there is none, or more than one. */
function messageIn(auxiliary: Uint8Array | undefined): readonly string[] | undefined {
  if (auxiliary === undefined) return undefined;
  const { metadata, native, plutus } = readAuxiliaryData(auxiliary);
  const only = metadata.get(MESSAGE);
  if (only === undefined || metadata.size + native.length + plutus.length > 1) return undefined;
  const item = decodeAll(only);
  const [member, ...others] = item.type === "map" ? item.value : [];
  if (member === undefined || others.length > 0) return undefined;
  const [key, list] = member;
  if (key.type !== "text" || key.value !== "msg" || list.type !== "array") return undefined;
  const lines = list.value.flatMap((line) => line.type === "text" ? [line.value] : []);
  return lines.length === list.value.length ? lines : undefined;
}

/** How a transaction differs from what was requested. */
function differences(
  review: Pick<Review, "pays" | "mints" | "withdrawn" | "metadata" | "message">,
  requested: Requested,
  { found, missing }: Matched,
  done: readonly string[],
): string[] {
  const { join, quit = false, vote, withdraw = false, message } = requested;
  const minted = new Map(review.mints.map(({ policy, name, quantity }) => [policy + name, quantity]));
  const wanted = requested.mint ?? new Map<string, bigint>();
  const needed = [
    ...neededOf(requested.governance ?? {}),
    ...(join ? [`join ${join}`] : []),
    ...(quit ? ["quit"] : []),
    ...(vote ? [`vote ${vote}`] : []),
  ];
  // without a vote, rewards could not be withdrawn
  const allowed = new Set([...needed, ...(join ? ["vote abstain"] : [])]);
  return [
    ...missing.map(({ address }) => `It does not pay what you entered to ${address}.`),
    ...review.pays.filter((output) => !found.has(output)).map(({ address }) =>
      `It pays ${address}, which you did not enter and which is not this wallet's.`
    ),
    ...[...new Set([...minted.keys(), ...wanted.keys()])]
      .filter((asset) => (minted.get(asset) ?? 0n) !== (wanted.get(asset) ?? 0n))
      .map((asset) =>
        `It mints or burns ${minted.get(asset) ?? 0n} of ${fingerprint(asset)}, not ${wanted.get(asset) ?? 0n}.`
      ),
    ...done.filter((one) => !allowed.has(one)).map((one) => `It would ${one}, which you did not request.`),
    ...needed.filter((one) => !done.includes(one)).map((one) => `It would not ${one}.`),
    ...(review.withdrawn > 0n && !withdraw && !quit ? ["It withdraws rewards, which you did not request."] : []),
    ...(review.metadata && message === undefined ? ["It carries metadata that you did not enter."] : []),
    ...(message !== undefined && review.message?.join("\n") !== message.join("\n")
      ? ["Its message is not the one that you entered."]
      : []),
  ];
}

/** An output as a text that is equal for equal outputs, whatever the case of the address. */
function outputKey({ address, lovelace, assets }: ReviewedOutput): string {
  return keyOf(address, lovelace, new Map(assets.map(({ policy, name, quantity }) => [policy + name, quantity])));
}

const paymentKey = ({ address, lovelace, assets }: RequestedPayment) => keyOf(address, lovelace, assets);

function keyOf(address: string, lovelace: bigint, assets: Quantities): string {
  const read = parseAddress(address.trim());
  const list = [...assets].filter(([, quantity]) => quantity !== 0n).map(([asset, quantity]) => `${asset}:${quantity}`);
  return [read.ok ? read.value.hex : address, lovelace, ...list.sort()].join(" ");
}

export { CborError };
