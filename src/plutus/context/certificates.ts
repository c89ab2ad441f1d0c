/** Certificates. Anchors and the relays and terms of pools are left out. */
import type { Delegation, DRep } from "#src/cardano/certificates.ts";
import type { Certificate } from "#src/cardano/conway/certificate.ts";
import { type Constr, constr } from "#src/cardano/data.ts";
import { credentialData, stakingHash } from "#src/plutus/context/address.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";

/** `DCert` of Plutus V1 and V2: the certificates of Shelley, without deposits. */
export function dCert(certificate: Certificate): Constr {
  switch (certificate.kind) {
    case "register":
      if (certificate.to) break;
      return constr(0, stakingHash(certificate.credential));
    case "unregister":
      return constr(1, stakingHash(certificate.credential));
    case "delegate": {
      const { credential, to: { pool, drep } } = certificate;
      if (pool === undefined || drep) break;
      return constr(2, stakingHash(credential), bytes(pool));
    }
    case "register pool":
      return constr(3, bytes(certificate.pool), bytes(certificate.vrf));
    case "retire pool":
      return constr(4, bytes(certificate.pool), certificate.epoch);
  }
  throw new Untranslatable("CertificateNotSupported", `a certificate that ${SAYS[certificate.kind]}`);
}

const SAYS: { readonly [_ in Certificate["kind"]]: string } = {
  "register": "registers and delegates an account",
  "unregister": "ends an account",
  "delegate": "delegates votes",
  "register pool": "registers a pool",
  "retire pool": "retires a pool",
  "authorize": "authorizes a committee member's key",
  "resign": "resigns a committee member's seat",
  "register drep": "registers a DRep",
  "unregister drep": "ends a DRep",
  "update drep": "updates a DRep",
};

/** Major protocol version whose ledger omits the deposits of some certificates. */
const WITHOUT_DEPOSITS = 9;

/**
 * `TxCert` of Plutus V3. In protocol version 9, registrations and deregistrations are shown without the deposit they state
 * (cardano-ledger #4863); a registration that also delegates is shown with it.
 */
export function txCert(certificate: Certificate, protocolMajor: number): Constr {
  const stated = (deposit: bigint | undefined) => maybe(protocolMajor === WITHOUT_DEPOSITS ? undefined : deposit);
  switch (certificate.kind) {
    case "register": {
      const { credential, deposit, to } = certificate;
      if (!to) return constr(0, credentialData(credential), stated(deposit));
      if (deposit === undefined) throw new TypeError("a registration that delegates states no deposit");
      return constr(3, credentialData(credential), delegatee(to), deposit);
    }
    case "unregister":
      return constr(1, credentialData(certificate.credential), stated(certificate.refund));
    case "delegate":
      return constr(2, credentialData(certificate.credential), delegatee(certificate.to));
    case "register drep":
      return constr(4, credentialData(certificate.credential), certificate.deposit);
    case "update drep":
      return constr(5, credentialData(certificate.credential));
    case "unregister drep":
      return constr(6, credentialData(certificate.credential), certificate.refund);
    case "register pool":
      return constr(7, bytes(certificate.pool), bytes(certificate.vrf));
    case "retire pool":
      return constr(8, bytes(certificate.pool), certificate.epoch);
    case "authorize":
      return constr(9, credentialData(certificate.cold), credentialData(certificate.hot));
    case "resign":
      return constr(10, credentialData(certificate.cold));
  }
}

/** `Delegatee`. */
function delegatee({ pool, drep }: Delegation): Constr {
  if (pool !== undefined) return drep ? constr(2, bytes(pool), drepData(drep)) : constr(0, bytes(pool));
  if (!drep) throw new TypeError("a delegation has neither a pool nor a representative");
  return constr(1, drepData(drep));
}

/** `DRep`. */
function drepData(drep: DRep): Constr {
  if ("hash" in drep) return constr(0, credentialData(drep));
  return constr(drep.kind === "abstain" ? 1 : 2);
}
