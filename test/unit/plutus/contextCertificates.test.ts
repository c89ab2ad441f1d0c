/**
 * Certificates in script contexts: `transTxCertV1V2` and `transTxCert` of cardano-ledger's `Conway/TxInfo.hs`,
 * `transTxCertCommon` of `Alonzo/Plutus/TxInfo.hs`; constructors' numbers from plutus-ledger-api `V1/DCert.hs` and
 * `V3/Contexts.hs`.
 */
import { describe, expect, it } from "vitest";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { type Constr, constr } from "#src/cardano/data.ts";
import { tagged, World } from "../../support/ledger/draft.ts";
import { field, hash, just, key, nothing, script, shown } from "../../support/plutus/draftContexts.ts";

const K = "0a".repeat(28);
const S = "0b".repeat(28);
const POOL = "0c".repeat(28);
const VRF = "0d".repeat(32);
const byKey: Encodable = [0, hash(K)];
const byScript: Encodable = [1, hash(S)];
const anchor: Encodable = ["https://example.org", hash("0e".repeat(32))];
const account = Uint8Array.of(0xe0, ...hash(K));
const pool: Encodable = [3, hash(POOL), hash(VRF), 5, 6, tagged(30, [1, 2]), account, [hash(K)], [], null];

const seen = (language: 1 | 2 | 3, certificate: Encodable, major = 10) => {
  const all = field(language, "certificates", new World(), { certificates: [certificate] }, { major });
  return typeof all === "string" ? all : (all as Constr[])[0];
};
const staking = (of: Constr) => constr(0, of);

describe("under Plutus V1 and V2", () => {
  it.each<[string, Encodable, Constr]>([
    ["a registration", [0, byKey], constr(0, staking(key(K)))],
    ["a registration with a deposit, which is not shown", [7, byScript, 2], constr(0, staking(script(S)))],
    ["its end", [1, byScript], constr(1, staking(script(S)))],
    ["its end with a refund, which is not shown", [8, byKey, 2], constr(1, staking(key(K)))],
    ["a delegation to a pool", [2, byKey, hash(POOL)], constr(2, staking(key(K)), hash(POOL))],
    ["a pool, of which id and VRF key are shown", pool, constr(3, hash(POOL), hash(VRF))],
    ["its retirement", [4, hash(POOL), 77], constr(4, hash(POOL), 77n)],
  ])("%s", (_, certificate, expected) => {
    expect(seen(1, certificate)).toEqual(expected);
    expect(seen(2, certificate)).toEqual(expected);
    expect(seen(2, certificate, 9)).toEqual(expected);
  });

  it.each<[string, Encodable]>([
    ["a delegation of the vote", [9, byKey, [2]]],
    ["a delegation of stake and vote", [10, byKey, hash(POOL), [3]]],
    ["a registration with a pool", [11, byKey, hash(POOL), 2]],
    ["a registration with a vote", [12, byKey, [2], 2]],
    ["a registration with both", [13, byKey, hash(POOL), [2], 2]],
    ["a committee member's key", [14, byKey, byKey]],
    ["a committee member who leaves", [15, byKey, null]],
    ["a DRep", [16, byKey, 2, null]],
    ["the end of a DRep", [17, byKey, 2]],
    ["an update of a DRep", [18, byKey, null]],
  ])("%s is not supported", (_, certificate) => {
    expect(seen(1, certificate)).toBe("CertificateNotSupported");
    expect(seen(2, certificate)).toBe("CertificateNotSupported");
  });
});

describe("under Plutus V3", () => {
  const drep = (of: Constr) => constr(0, of);
  it.each<[string, Encodable, Constr]>([
    ["a registration", [0, byKey], constr(0, key(K), nothing)],
    ["a registration with a deposit", [7, byScript, 2], constr(0, script(S), just(2n))],
    ["its end", [1, byScript], constr(1, script(S), nothing)],
    ["its end with a refund", [8, byKey, 2], constr(1, key(K), just(2n))],
    ["a delegation to a pool", [2, byKey, hash(POOL)], constr(2, key(K), constr(0, hash(POOL)))],
    ["to a DRep by key", [9, byKey, [0, hash(K)]], constr(2, key(K), constr(1, drep(key(K))))],
    ["to a DRep by script", [9, byKey, [1, hash(S)]], constr(2, key(K), constr(1, drep(script(S))))],
    ["to abstaining", [9, byKey, [2]], constr(2, key(K), constr(1, constr(1)))],
    ["to no confidence", [9, byKey, [3]], constr(2, key(K), constr(1, constr(2)))],
    ["to both", [10, byKey, hash(POOL), [2]], constr(2, key(K), constr(2, hash(POOL), constr(1)))],
    ["a registration with a pool", [11, byKey, hash(POOL), 2], constr(3, key(K), constr(0, hash(POOL)), 2n)],
    ["a registration with a vote", [12, byKey, [2], 2], constr(3, key(K), constr(1, constr(1)), 2n)],
    ["one with both", [13, byKey, hash(POOL), [3], 2], constr(3, key(K), constr(2, hash(POOL), constr(2)), 2n)],
    ["a DRep, its anchor not shown", [16, byScript, 2, anchor], constr(4, script(S), 2n)],
    ["an update of a DRep", [18, byScript, anchor], constr(5, script(S))],
    ["the end of a DRep", [17, byKey, 2], constr(6, key(K), 2n)],
    ["a pool", pool, constr(7, hash(POOL), hash(VRF))],
    ["its retirement", [4, hash(POOL), 77], constr(8, hash(POOL), 77n)],
    ["a committee member's key", [14, byKey, byScript], constr(9, key(K), script(S))],
    ["a committee member who leaves", [15, byKey, anchor], constr(10, key(K))],
  ])("%s", (_, certificate, expected) => {
    expect(seen(3, certificate)).toEqual(expected);
    expect(seen(3, certificate, 11)).toEqual(expected);
  });

  it("deposits of registrations and deregistrations are omitted in protocol version 9, except with a delegation (#4863)", () => {
    expect(seen(3, [7, byKey, 2], 9)).toEqual(constr(0, key(K), nothing));
    expect(seen(3, [8, byKey, 2], 9)).toEqual(constr(1, key(K), nothing));
    expect(seen(3, [11, byKey, hash(POOL), 2], 9)).toEqual(constr(3, key(K), constr(0, hash(POOL)), 2n));
    expect(seen(3, [17, byKey, 2], 9)).toEqual(constr(6, key(K), 2n));
    const draft = { certificates: [[7, byScript, 2]] as Encodable[], redeemers: [[2, 0]] as const };
    const [context] = shown(3, new World(), draft, { purpose: "cert", index: 0 }, { major: 9 }) as [Constr];
    expect(context.fields[2]).toEqual(constr(3, 0n, constr(0, script(S), nothing)));
  });

  it("are in the body's order; a purpose includes the index, since two may be equal without their anchors", () => {
    const other: Encodable = [18, byScript, ["https://example.com", hash("0e".repeat(32))]];
    const draft = {
      certificates: [[18, byScript, anchor], other] as Encodable[],
      redeemers: [[2, 0], [2, 1]] as const,
    };
    const [context] = shown(3, new World(), draft, { purpose: "cert", index: 1 }) as [Constr];
    expect(context.fields[2]).toEqual(constr(3, 1n, constr(5, script(S))));
  });

  it("have a purpose without an index in Plutus V2", () => {
    const draft = { certificates: [[0, byKey], [1, byScript]] as Encodable[], redeemers: [[2, 1]] as const };
    const [, context] = shown(2, new World(), draft, { purpose: "cert", index: 1 }) as [unknown, Constr];
    expect(context.fields[1]).toEqual(constr(3, constr(1, staking(script(S)))));
  });

  it("are those of the decoder, in any encoding", () => {
    const indefinite = new Encoded(Uint8Array.of(0x9f, 0x00, 0x9f, 0x00, ...encode(hash(K)), 0xff, 0xff));
    expect(seen(3, indefinite)).toEqual(constr(0, key(K), nothing));
  });
});
