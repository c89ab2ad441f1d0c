/** Rows of the genesis, with height -1: its outputs, its pools and their owners, its representatives, its first epoch. */
import { fromHex } from "#src/base/bytes.ts";
import { finish } from "#src/base/steps.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { Delegation } from "#src/cardano/certificates.ts";
import { encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { type Genesis, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { addEpoch, addStake } from "#src/devnet/index/epochRows.ts";
import { addOutput } from "#src/devnet/index/outputRows.ts";
import { type CertificateRow, type IndexChanges, noChanges } from "#src/devnet/index/rows.ts";
import { snapshotOf } from "#src/ledger/epoch/snapshot.ts";
import { credentialKey, drepKey, type LedgerState, parseCredentialKey } from "#src/ledger/state.ts";

const GENESIS = -1;

/** What a certificate of the genesis does. */
type GenesisCertificate = Omit<CertificateRow, "height" | "tx_index" | "tx_hash" | "part" | "cert_index">;

/** What the genesis adds to the index; `state` is the ledger before the first block. */
export function foldGenesis(genesis: Genesis, state: LedgerState): IndexChanges {
  const changes = noChanges();
  const outputs = genesisOutputs(genesis);
  outputs.forEach((utxo, tx_index) =>
    addOutput(changes, { height: GENESIS, tx_index, tx_hash: utxo.ref.txHash }, utxo)
  );
  for (const { registered: { id, pool, owner } } of genesis.pools) {
    const tx_index = outputs.findIndex(({ output }) => output.address === owner.address);
    const place = { height: GENESIS, tx_index, tx_hash: outputs[tx_index]?.ref.txHash ?? "", part: 0 };
    const { kind, hash } = parseCredentialKey(owner.key);
    const credential = [kind === "key" ? 0 : 1, fromHex(hash)];
    const certificates: GenesisCertificate[] = [
      { kind: "register", credential: owner.key, deposit: owner.account.deposit, cbor: encode([0, credential]) },
      { kind: "pool", pool: id, epoch: 0, deposit: pool.deposit, cbor: pool.certificate },
      { kind: "delegate", credential: owner.key, pool: id, epoch: 0, cbor: encode([2, credential, fromHex(id)]) },
    ];
    certificates.forEach((certificate, cert_index) =>
      changes.rows.certificate.push({ ...place, ...certificate, cert_index })
    );
  }
  const first = { height: GENESIS, tx_index: 0, tx_hash: outputs[0]?.ref.txHash ?? "", part: 0 };
  governanceCertificates(genesis).forEach((certificate, cert_index) =>
    changes.rows.certificate.push({ ...first, ...certificate, cert_index })
  );
  const { epoch, parameters, pots } = state;
  addEpoch(changes, GENESIS, { epoch, parameters, pots, leaders: snapshotOf(state, epoch - 1) });
  for (const active of [epoch, epoch + 1]) finish(addStake(changes, GENESIS, active, snapshotOf(state, active - 1)));
  return changes;
}

/** Representatives, then the accounts that delegate to them, as if certificates had registered them. */
function governanceCertificates({ governance, parameters: { keyDeposit } }: Genesis): GenesisCertificate[] {
  const { dreps = [], delegations = [] } = governance ?? {};
  return [
    ...dreps.map(({ credential, deposit, anchor }): GenesisCertificate => ({
      kind: "drep_register",
      drep: credentialKey(credential),
      deposit,
      cbor: encodeCertificate({ kind: "register drep", credential, deposit, ...(anchor ? { anchor } : {}) }),
    })),
    ...delegations.flatMap(({ credential, pool, drep }): GenesisCertificate[] => {
      const key = { credential: credentialKey(credential) };
      const delegate = (to: Delegation) => encodeCertificate({ kind: "delegate", credential, to });
      return [
        { kind: "register", ...key, deposit: keyDeposit, cbor: encodeCertificate({ kind: "register", credential }) },
        ...(pool === undefined
          ? []
          : [{ kind: "delegate", ...key, pool, epoch: 0, cbor: delegate({ pool }) } as const]),
        ...(drep === undefined
          ? []
          : [{ kind: "vote", ...key, drep: drepKey(drep), cbor: delegate({ drep }) } as const]),
      ];
    }),
  ];
}
