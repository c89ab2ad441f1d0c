/** Messages of certificates. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import type { Delegation, Relay } from "#src/cardano/certificates.ts";
import type { Certificate, CertificateOf } from "#src/cardano/conway/certificate.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import {
  anchorMessage,
  credentialMessage,
  drepMessage,
  ratioMessage,
} from "#src/devnet/serve/utxorpc/messages/values.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

type CertificateMessage = NonNullable<Draft<cardano.Certificate>["certificate"]>;

/** A certificate. */
export function certificateMessage(certificate: Certificate, form: Form): CertificateMessage {
  switch (certificate.kind) {
    case "register":
      return registration(certificate, form);
    case "unregister": {
      const stakeCredential = credentialMessage(certificate.credential);
      if (certificate.refund === undefined) return { case: "stakeDeregistration", value: stakeCredential };
      return { case: "unregCert", value: { stakeCredential, coin: form.quantity(certificate.refund) } };
    }
    case "delegate": {
      const { pool, drep } = targets(certificate.to);
      const stakeCredential = credentialMessage(certificate.credential);
      if (!drep) return { case: "stakeDelegation", value: { stakeCredential, ...pool } };
      if (!pool) return { case: "voteDelegCert", value: { stakeCredential, ...drep } };
      return { case: "stakeVoteDelegCert", value: { stakeCredential, ...pool, ...drep } };
    }
    case "register pool":
      return { case: "poolRegistration", value: poolMessage(certificate, form) };
    case "retire pool":
      return {
        case: "poolRetirement",
        value: { poolKeyhash: fromHex(certificate.pool), epoch: certificate.epoch },
      };
    case "authorize":
      return {
        case: "authCommitteeHotCert",
        value: {
          committeeColdCredential: credentialMessage(certificate.cold),
          committeeHotCredential: credentialMessage(certificate.hot),
        },
      };
    case "resign":
      return {
        case: "resignCommitteeColdCert",
        value: { committeeColdCredential: credentialMessage(certificate.cold), ...anchorOf(certificate) },
      };
    case "register drep":
      return {
        case: "regDrepCert",
        value: {
          drepCredential: credentialMessage(certificate.credential),
          coin: form.quantity(certificate.deposit),
          ...anchorOf(certificate),
        },
      };
    case "unregister drep":
      return {
        case: "unregDrepCert",
        value: {
          drepCredential: credentialMessage(certificate.credential),
          coin: form.quantity(certificate.refund),
        },
      };
    case "update drep":
      return {
        case: "updateDrepCert",
        value: { drepCredential: credentialMessage(certificate.credential), ...anchorOf(certificate) },
      };
  }
}

function registration({ credential, deposit, to }: CertificateOf<"register">, form: Form): CertificateMessage {
  const stakeCredential = credentialMessage(credential);
  if (deposit === undefined) return { case: "stakeRegistration", value: stakeCredential };
  const coin = form.quantity(deposit);
  const { pool, drep } = targets(to ?? {});
  if (pool && drep) return { case: "stakeVoteRegDelegCert", value: { stakeCredential, coin, ...pool, ...drep } };
  if (pool) return { case: "stakeRegDelegCert", value: { stakeCredential, coin, ...pool } };
  if (drep) return { case: "voteRegDelegCert", value: { stakeCredential, coin, ...drep } };
  return { case: "regCert", value: { stakeCredential, coin } };
}

function targets({ pool, drep }: Delegation) {
  return {
    pool: pool === undefined ? undefined : { poolKeyhash: fromHex(pool) },
    drep: drep && { drep: drepMessage(drep) },
  };
}

function anchorOf({ anchor }: Pick<CertificateOf<"resign">, "anchor">) {
  return anchor ? { anchor: anchorMessage(anchor) } : {};
}

function poolMessage(
  { pool, vrf, pledge, cost, margin, account, owners, relays, metadata }: CertificateOf<"register pool">,
  form: Form,
): Draft<cardano.PoolRegistrationCert> {
  return {
    operator: fromHex(pool),
    vrfKeyhash: fromHex(vrf),
    pledge: form.quantity(pledge),
    cost: form.quantity(cost),
    margin: ratioMessage(margin),
    rewardAccount: fromHex(account.hex),
    poolOwners: owners.map(fromHex),
    relays: relays.map(relayMessage),
    ...(metadata ? { poolMetadata: { url: metadata.url, hash: fromHex(metadata.hash) } } : {}),
  };
}

function relayMessage(relay: Relay): Draft<cardano.Relay> {
  if (relay.kind === "service") return { dnsName: relay.name };
  const port = relay.port === undefined ? {} : { port: relay.port };
  if (relay.kind === "host") return { dnsName: relay.name, ...port };
  return {
    ...(relay.ipv4 === undefined ? {} : { ipV4: fromHex(relay.ipv4) }),
    ...(relay.ipv6 === undefined ? {} : { ipV6: fromHex(relay.ipv6) }),
    ...port,
  };
}
