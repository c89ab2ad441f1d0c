/** Certificates of every era in Ogmios' JSON. */
import { fromHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import { type Encodable, Encoded, Tagged } from "#src/cardano/cbor.ts";
import type { Certificate, DRep, PoolParameters, Relay } from "#src/cardano/certificates.ts";
import { encodableAnchor, encodableCredential, encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { ipv4Bytes, ipv4Text, ipv6Bytes, ipv6Text } from "#src/cardano/ipAddress.ts";
import {
  amountOf,
  bytesOf,
  countOf,
  hexOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
  textOf,
} from "#src/ogmios/form.ts";
import {
  adaJson,
  addressJson,
  anchorJson,
  credentialJson,
  idJson,
  poolJson,
  ratioText,
  readAda,
  readAddressJson,
  readAnchor,
  readCredential,
  readId,
  readPool,
  readPoolId,
  readRatio,
} from "#src/ogmios/values.ts";

/** A representative, or one of the two that are always there. */
export function drepJson(drep: DRep): JsonObject {
  if (drep.kind === "abstain") return { type: "abstain" };
  return drep.kind === "no confidence" ? { type: "noConfidence" } : { type: "registered", ...idJson(drep) };
}

/** The inverse of `drepJson`. @throws OgmiosFormError */
export function readDrep(json: Json | undefined): DRep {
  const drep = objectOf(json, "the representative");
  if (drep.type === "abstain") return { kind: "abstain" };
  return drep.type === "noConfidence" ? { kind: "no confidence" } : readId(drep);
}

/** Adds what a certificate says to the certificates of a transaction, or, where it moves rewards, to its actions. */
export function addCertificate(certificate: Certificate, certificates: JsonObject[], actions: JsonObject[]): void {
  switch (certificate.kind) {
    case "register": {
      const { credential, deposit, to } = certificate;
      certificates.push({
        type: "stakeCredentialRegistration",
        ...credentialJson(credential),
        ...(deposit === undefined ? {} : { deposit: adaJson(deposit) }),
      });
      if (to) certificates.push(delegationJson(credential, to));
      break;
    }
    case "unregister":
      certificates.push({
        type: "stakeCredentialDeregistration",
        ...credentialJson(certificate.credential),
        ...(certificate.refund === undefined ? {} : { deposit: adaJson(certificate.refund) }),
      });
      break;
    case "delegate":
      certificates.push(delegationJson(certificate.credential, certificate.to));
      break;
    case "register pool":
      certificates.push({ type: "stakePoolRegistration", stakePool: poolParametersJson(certificate) });
      break;
    case "retire pool":
      certificates.push({
        type: "stakePoolRetirement",
        stakePool: { ...poolJson(certificate.pool), retirementEpoch: jsonInteger(certificate.epoch) },
      });
      break;
    case "delegate genesis":
      certificates.push({
        type: "genesisDelegation",
        delegate: { id: certificate.delegate, vrfVerificationKeyHash: certificate.vrf },
        issuer: { id: certificate.genesis },
      });
      break;
    case "move rewards":
      actions.push(moveJson(certificate));
      break;
    case "authorize":
      certificates.push({
        type: "constitutionalCommitteeDelegation",
        member: idJson(certificate.cold),
        delegate: { status: "authorized", ...idJson(certificate.hot) },
      });
      break;
    case "resign":
      certificates.push({
        type: "constitutionalCommitteeRetirement",
        member: idJson(certificate.cold),
        ...(certificate.anchor ? { metadata: anchorJson(certificate.anchor) } : {}),
      });
      break;
    case "register drep":
      certificates.push({
        type: "delegateRepresentativeRegistration",
        delegateRepresentative: drepJson(certificate.credential),
        deposit: adaJson(certificate.deposit),
        ...(certificate.anchor ? { metadata: anchorJson(certificate.anchor) } : {}),
      });
      break;
    case "unregister drep":
      certificates.push({
        type: "delegateRepresentativeRetirement",
        delegateRepresentative: drepJson(certificate.credential),
        deposit: adaJson(certificate.refund),
      });
      break;
    case "update drep":
      certificates.push({
        type: "delegateRepresentativeUpdate",
        delegateRepresentative: drepJson(certificate.credential),
        metadata: certificate.anchor ? anchorJson(certificate.anchor) : null,
      });
  }
}

function delegationJson(
  credential: Credential,
  { pool, drep }: { readonly pool?: string; readonly drep?: DRep },
): JsonObject {
  return {
    type: "stakeDelegation",
    ...credentialJson(credential),
    ...(pool === undefined ? {} : { stakePool: poolJson(pool) }),
    ...(drep ? { delegateRepresentative: drepJson(drep) } : {}),
  };
}

/** A move of rewards stands among the proposals. */
function moveJson({ from, to }: Extract<Certificate, { kind: "move rewards" }>): JsonObject {
  if (typeof to === "bigint") {
    return {
      type: "treasuryTransfer",
      source: from,
      target: from === "reserves" ? "treasury" : "reserves",
      value: adaJson(to),
    };
  }
  return {
    type: "treasuryWithdrawals",
    withdrawals: Object.fromEntries(to.map(({ credential, amount }) => [credential.hash, adaJson(amount)])),
    guardrails: null,
  };
}

/** Parameters of a pool. */
export function poolParametersJson(
  pool: Omit<PoolParameters, "pool"> & { readonly pool: string },
): { [name: string]: Json } {
  return {
    ...poolJson(pool.pool),
    vrfVerificationKeyHash: pool.vrf,
    pledge: adaJson(pool.pledge),
    cost: adaJson(pool.cost),
    margin: ratioText(pool.margin),
    rewardAccount: addressJson(pool.account),
    owners: [...pool.owners],
    relays: pool.relays.map(relayJson),
    ...(pool.metadata ? { metadata: anchorJson(pool.metadata) } : {}),
  };
}

/** The inverse of `poolParametersJson`. @throws OgmiosFormError */
export function readPoolParameters(json: Json | undefined): PoolParameters {
  const pool = objectOf(json, "the stake pool");
  const metadata = readAnchor(pool.metadata);
  return {
    pool: readPoolId(pool.id),
    vrf: hexOf(pool.vrfVerificationKeyHash, "the hash of the VRF key"),
    pledge: readAda(pool.pledge),
    cost: readAda(pool.cost),
    margin: readRatio(pool.margin),
    account: readAddressJson(pool.rewardAccount),
    owners: listOf(pool.owners, "owners").map((owner) => hexOf(owner, "an owner")),
    relays: listOf(pool.relays, "relays").map(readRelay),
    ...(metadata ? { metadata } : {}),
  };
}

function relayJson(relay: Relay): JsonObject {
  if (relay.kind === "service") return { type: "hostname", hostname: relay.name };
  const port = relay.port === undefined ? {} : { port: relay.port };
  if (relay.kind === "host") return { type: "hostname", hostname: relay.name, ...port };
  return {
    type: "ipAddress",
    ...(relay.ipv4 === undefined ? {} : { ipv4: ipv4Text(relay.ipv4) }),
    ...(relay.ipv6 === undefined ? {} : { ipv6: ipv6Text(relay.ipv6) }),
    ...port,
  };
}

/** The JSON does not tell a name with SRV records from one without a port: it is read as the former. */
function readRelay(json: Json): Relay {
  const relay = objectOf(json, "a relay");
  const port = isGiven(relay.port) ? { port: countOf(relay.port, "port") } : {};
  if (relay.type === "ipAddress") {
    return {
      kind: "address",
      ...(isGiven(relay.ipv4) ? { ipv4: addressOf(relay.ipv4, ipv4Bytes) } : {}),
      ...(isGiven(relay.ipv6) ? { ipv6: addressOf(relay.ipv6, ipv6Bytes) } : {}),
      ...port,
    };
  }
  const name = textOf(relay.hostname, "hostname");
  return "port" in port ? { kind: "host", name, ...port } : { kind: "service", name };
}

function addressOf(json: Json, read: (text: string) => string | undefined): string {
  const bytes = read(textOf(json, "the address"));
  if (bytes === undefined) throw new OgmiosFormError("no IP address of a relay");
  return bytes;
}

/**
 * The certificate of a JSON object, to be encoded. A registration that delegates stands in the JSON as two certificates, and is read as two.
 *
 * @throws OgmiosFormError
 */
export function readCertificate(json: Json): Encodable {
  const one = objectOf(json, "a certificate");
  switch (one.type) {
    case "stakeCredentialRegistration":
      return new Encoded(
        encodeCertificate({ kind: "register", credential: readCredential(one), ...given("deposit", one) }),
      );
    case "stakeCredentialDeregistration":
      return new Encoded(
        encodeCertificate({ kind: "unregister", credential: readCredential(one), ...given("refund", one) }),
      );
    case "stakeDelegation": {
      const to = {
        ...(isGiven(one.stakePool) ? { pool: readPool(one.stakePool) } : {}),
        ...(isGiven(one.delegateRepresentative) ? { drep: readDrep(one.delegateRepresentative) } : {}),
      };
      if (Object.keys(to).length === 0) throw new OgmiosFormError("a delegation to nothing");
      return new Encoded(encodeCertificate({ kind: "delegate", credential: readCredential(one), to }));
    }
    case "stakePoolRegistration":
      return encodablePool(readPoolParameters(one.stakePool));
    case "stakePoolRetirement": {
      const { id, retirementEpoch } = objectOf(one.stakePool, "the stake pool");
      return [4, fromHex(readPoolId(id)), amountOf(retirementEpoch, "retirementEpoch")];
    }
    case "genesisDelegation": {
      const { id, vrfVerificationKeyHash } = objectOf(one.delegate, "delegate");
      const hashes = [objectOf(one.issuer, "issuer").id, id, vrfVerificationKeyHash];
      return [5, ...hashes.map((hash) => bytesOf(hash, "a hash"))];
    }
    case "constitutionalCommitteeDelegation":
      return [
        14,
        encodableCredential(readId(objectOf(one.member, "member"))),
        encodableCredential(readId(objectOf(one.delegate, "delegate"))),
      ];
    case "constitutionalCommitteeRetirement":
      return [
        15,
        encodableCredential(readId(objectOf(one.member, "member"))),
        encodableAnchor(readAnchor(one.metadata)),
      ];
    case "delegateRepresentativeRegistration":
      return [16, drepCredential(one), readAda(one.deposit), encodableAnchor(readAnchor(one.metadata))];
    case "delegateRepresentativeRetirement":
      return [17, drepCredential(one), readAda(one.deposit)];
    case "delegateRepresentativeUpdate":
      return [18, drepCredential(one), encodableAnchor(readAnchor(one.metadata))];
    default:
      throw new OgmiosFormError("no type of a certificate");
  }
}

function drepCredential({ delegateRepresentative }: JsonObject): Encodable {
  return encodableCredential(readId(objectOf(delegateRepresentative, "the representative")));
}

/** The deposit, under the name that the certificate has for it. */
function given<K extends "deposit" | "refund">(name: K, { deposit }: JsonObject): { readonly [_ in K]?: bigint } {
  return isGiven(deposit) ? { [name]: readAda(deposit) } as { [_ in K]: bigint } : {};
}

function encodablePool(pool: PoolParameters): Encodable {
  const { numerator, denominator } = pool.margin;
  return [
    3,
    fromHex(pool.pool),
    fromHex(pool.vrf),
    pool.pledge,
    pool.cost,
    new Tagged(30, [numerator, denominator]),
    fromHex(pool.account),
    pool.owners.map(fromHex),
    pool.relays.map(encodableRelay),
    encodableAnchor(pool.metadata),
  ];
}

const bytesOrNull = (hex: string | undefined): Encodable => hex === undefined ? null : fromHex(hex);

function encodableRelay(relay: Relay): Encodable {
  switch (relay.kind) {
    case "address":
      return [0, relay.port ?? null, bytesOrNull(relay.ipv4), bytesOrNull(relay.ipv6)];
    case "host":
      return [1, relay.port ?? null, relay.name];
    case "service":
      return [2, relay.name];
  }
}

/**
 * The certificate of a move of rewards out of the action that it stands as; undefined for other actions. The JSON does not tell from which
 * pot accounts are paid, nor of which kind they are: they are read as keys that the reserves pay.
 *
 * @throws OgmiosFormError
 */
export function readMove(action: JsonObject): Encodable | undefined {
  if (action.type === "treasuryTransfer") {
    return [6, [action.source === "treasury" ? 1 : 0, readAda(action.value)]];
  }
  if (action.type !== "treasuryWithdrawals") return undefined;
  const payments = Object.entries(objectOf(action.withdrawals, "withdrawals"));
  return [
    6,
    [0, new Map(payments.map(([hash, amount]) => [[0, fromHex(hexOf(hash, "a credential"))], readAda(amount)]))],
  ];
}
