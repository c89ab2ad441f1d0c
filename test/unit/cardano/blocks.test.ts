/** Real blocks compared with independent values: their own hashes, another library, and the sums of their values. */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { beforeAll, describe, expect, test } from "vitest";
import { concat, toHex } from "#src/base/bytes.ts";
import { readAuxiliaryData } from "#src/cardano/auxiliary.ts";
import { certified, created, paidFee, type ScannedTransaction, spent, withdrawn } from "#src/cardano/block.ts";
import { as, decodeAll, entry, type Item, raw } from "#src/cardano/cbor.ts";
import { type Certificate } from "#src/cardano/certificates.ts";
import { blake2b256, hash256, initHash } from "#src/cardano/hash.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { type Value } from "#src/cardano/value.ts";
import { blockFile, blocksOf, capturedBlocks, chunks, singles } from "../../support/chain/vectorBlocks.ts";

beforeAll(initHash);

const files = singles.map(({ file, era }) => ({ file, era, bytes: blockFile(file) }));
const captured = capturedBlocks();
const array = (item: Item | undefined) => as(item, "array").value;
/** Header and parts of a block, decoded by the other decoder. */
const partsOf = (bytes: Uint8Array) => array(array(decodeAll(bytes))[1]);

describe("captured blocks", () => {
  test("are there", () => expect(captured.length).toBe(3 + 8 * 8));

  test("are the same as those in files, if there is such a file", () => {
    const known = new Map(files.map(({ bytes }) => [hash256(bytes), scanBlock(bytes)]));
    const found = captured.map(({ bytes }) => known.get(hash256(bytes)));
    expect(found.filter((block) => block !== undefined).length).toBe(captured.length - 1);
    captured.forEach(({ bytes, name }) => {
      const block = scanBlock(bytes);
      if (name.startsWith("rollforward")) expect(name).toContain(block.hash);
    });
  });
});

describe("hashes that blocks state", () => {
  const shelley = files.filter(({ era, file }) => era >= 2 && !file.includes("golden"));

  test.each(shelley)("$file: of its body", ({ bytes, era }) => {
    const [header, ...parts] = partsOf(bytes);
    const stated = array(array(header)[0])[era < 6 ? 8 : 7];
    expect(toHex(blake2b256(concat(...parts.map((part) => blake2b256(raw(part)))))))
      .toBe(toHex(as(stated, "bytes").value));
    const block = scanBlock(bytes);
    expect(toHex(block.header)).toBe(toHex(raw(header!)));
    expect(toHex(concat(...block.transactions.map(({ body }) => body))))
      .toBe(toHex(concat(...array(parts[0]).map(raw))));
    expect(toHex(concat(...block.transactions.map(({ witnesses }) => witnesses))))
      .toBe(toHex(concat(...array(parts[1]).map(raw))));
  });

  test.each(shelley)("$file: of auxiliary data", ({ bytes }) => {
    for (const { body, auxiliaryData } of scanBlock(bytes).transactions) {
      const stated = entry(decodeAll(body), 7);
      expect(auxiliaryData && hash256(auxiliaryData)).toBe(stated && toHex(as(stated, "bytes").value));
      if (auxiliaryData) expect(() => readAuxiliaryData(auxiliaryData)).not.toThrow();
    }
  });

  test.each(files.filter(({ era }) => era === 1))("$file: the Merkle tree of its transactions", ({ bytes }) => {
    const [header, body] = partsOf(bytes);
    const [count, root, witnesses] = array(array(array(header)[2])[0]);
    const { transactions } = scanBlock(bytes);
    expect(transactions.length).toBe(Number(as(count, "int").value));
    expect(toHex(merkle(transactions.map((transaction) => transaction.body)))).toBe(toHex(as(root, "bytes").value));
    const all = concat(Uint8Array.of(0x9f), ...transactions.map((one) => one.witnesses), Uint8Array.of(0xff));
    expect(hash256(all)).toBe(toHex(as(witnesses, "bytes").value));
    expect(array(array(body)[0]).length).toBe(transactions.length);
  });

  test.each(files.filter(({ era }) => era === 0))("$file: of a boundary block's body", ({ bytes }) => {
    const [header, body] = partsOf(bytes);
    expect(hash256(raw(body!))).toBe(toHex(as(array(header)[2], "bytes").value));
  });
});

/**
 * Root of Byron's Merkle tree: leaves and nodes are hashed with a 0 and a 1 before them; the size of the left half is a
 * power of two.
 */
function merkle(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return blake2b256(new Uint8Array());
  if (leaves.length === 1) return blake2b256(concat(Uint8Array.of(0), leaves[0]!));
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return blake2b256(concat(Uint8Array.of(1), merkle(leaves.slice(0, half)), merkle(leaves.slice(half))));
}

/** Kinds of certificates in the other library's numbering, by ours. */
const KINDS: Record<Certificate["kind"], readonly csl.CertificateKind[]> = {
  register: [
    csl.CertificateKind.StakeRegistration,
    csl.CertificateKind.StakeRegistrationAndDelegation,
    csl.CertificateKind.VoteRegistrationAndDelegation,
    csl.CertificateKind.StakeVoteRegistrationAndDelegation,
  ],
  unregister: [csl.CertificateKind.StakeDeregistration],
  delegate: [
    csl.CertificateKind.StakeDelegation,
    csl.CertificateKind.VoteDelegation,
    csl.CertificateKind.StakeAndVoteDelegation,
  ],
  "register pool": [csl.CertificateKind.PoolRegistration],
  "retire pool": [csl.CertificateKind.PoolRetirement],
  "delegate genesis": [csl.CertificateKind.GenesisKeyDelegation],
  "move rewards": [csl.CertificateKind.MoveInstantaneousRewardsCert],
  authorize: [csl.CertificateKind.CommitteeHotAuth],
  resign: [csl.CertificateKind.CommitteeColdResign],
  "register drep": [csl.CertificateKind.DRepRegistration],
  "unregister drep": [csl.CertificateKind.DRepDeregistration],
  "update drep": [csl.CertificateKind.DRepUpdate],
};

/** Elements of one of the library's lists. */
function all<T>(list: { len(): number; get(index: number): T } | undefined): T[] {
  return list ? Array.from({ length: list.len() }, (_, index) => list.get(index)) : [];
}

function assetsOf(of: csl.MultiAsset | undefined): [string, bigint][] {
  const found: [string, bigint][] = [];
  for (const policy of all<csl.ScriptHash>(of?.keys())) {
    const names = of!.get(policy)!;
    for (const name of all<csl.AssetName>(names.keys())) {
      const bytes = name.name();
      found.push([policy.to_hex() + toHex(bytes), BigInt(names.get(name)!.to_str())]);
    }
  }
  return found.filter(([, quantity]) => quantity !== 0n).sort();
}

/** A transaction decoded by the other library, in our terms. */
function theirs(fixed: csl.FixedTransactionBody, era: number) {
  const body = fixed.transaction_body();
  const refs = (of: csl.TransactionInputs | undefined) =>
    all<csl.TransactionInput>(of).map((input) => `${input.transaction_id().to_hex()}#${input.index()}`).sort();
  const output = (of: csl.TransactionOutput) => ({
    address: of.address().to_hex(),
    lovelace: BigInt(of.amount().coin().to_str()),
    assets: assetsOf(of.amount().multiasset()),
    datumHash: of.data_hash()?.to_hex(),
    datum: of.plutus_data()?.to_hex(),
    script: of.script_ref() !== undefined,
  });
  const returned = body.collateral_return();
  const ttl = body.ttl_bignum();
  const withdrawals = body.withdrawals();
  return {
    hash: fixed.tx_hash().to_hex(),
    inputs: refs(body.inputs()),
    collateral: refs(body.collateral()),
    references: refs(body.reference_inputs()),
    outputs: all<csl.TransactionOutput>(body.outputs()).map(output),
    returned: returned && output(returned),
    fee: BigInt(body.fee().to_str()),
    total: body.total_collateral()?.to_str(),
    from: body.validity_start_interval_bignum()?.to_str(),
    to: ttl && String(BigInt(ttl.to_str()) + (era === 2 ? 1n : 0n)),
    mint: body.mint()?.as_positive_multiasset().len() ?? 0,
    certificates: all<csl.Certificate>(body.certs()).map((certificate) => certificate.kind()),
    withdrawals: all<csl.RewardAddress>(withdrawals?.keys())
      .map((account) => [account.to_address().to_hex(), BigInt(withdrawals!.get(account)!.to_str())]).sort(),
    signers: all<csl.Ed25519KeyHash>(body.required_signers()).map((signer) => signer.to_hex()).sort(),
  };
}

/** The same from the scanner. */
function ours(transaction: ScannedTransaction, kinds: readonly csl.CertificateKind[]) {
  const output = (of: ScannedTransaction["outputs"][number]) => ({
    address: of.address,
    lovelace: of.value.lovelace,
    assets: [...of.value.assets].sort(),
    datumHash: of.datumHash,
    datum: of.datum && toHex(of.datum),
    script: of.script !== undefined,
  });
  const { collateralReturn: returned, mint } = transaction;
  return {
    hash: transaction.hash,
    inputs: transaction.inputs.map(refKey).sort(),
    collateral: transaction.collateral.map(refKey).sort(),
    references: transaction.references.map(refKey).sort(),
    outputs: transaction.outputs.map(output),
    returned: returned && output(returned),
    fee: transaction.fee,
    total: transaction.totalCollateral?.toString(),
    from: transaction.validFrom?.toString(),
    to: transaction.validTo?.toString(),
    mint: new Set([...mint].filter(([, quantity]) => quantity > 0n).map(([asset]) => asset.slice(0, 56))).size,
    // ours has fewer kinds: theirs is used if it is one of those that ours covers
    certificates: transaction.certificates.map(({ kind }, index) =>
      KINDS[kind].includes(kinds[index]!) ? kinds[index] : kind
    ),
    withdrawals: [...transaction.withdrawals].sort(),
    signers: [...transaction.requiredSigners].sort(),
  };
}

/** How many transactions of a block were compared; undefined if the other library cannot decode it. */
function compare(bytes: Uint8Array): number | undefined {
  let fixed: csl.FixedVersionedBlock;
  try {
    fixed = csl.FixedVersionedBlock.from_bytes(bytes);
  } catch {
    return undefined;
  }
  const inner = fixed.block();
  const bodies = inner.transaction_bodies();
  const scanned = scanBlock(bytes);
  expect(scanned.hash).toBe(inner.block_hash().to_hex());
  expect(scanned.issuer).toBe(toHex(inner.header().header_body().issuer_vkey().public_key().as_bytes()));
  expect(scanned.transactions.length).toBe(bodies.len());
  scanned.transactions.forEach((transaction, index) => {
    const there = theirs(bodies.get(index), scanned.era);
    expect(ours(transaction, there.certificates)).toEqual(there);
  });
  fixed.free();
  return bodies.len();
}

describe("another library decodes the same", () => {
  const readable = files.filter(({ era, file }) => era >= 2 && !file.includes("golden"));
  // a pool hash of 56 bytes, and a proposal that it does not support
  const strange = ["single/conway8.cbor", "single/conway4.cbor"];

  test.each(readable)("$file", ({ file, bytes }) => {
    const compared = compare(bytes);
    if (strange.includes(file)) expect(compared).toBeUndefined();
    else expect(compared).toBeGreaterThan(0);
  });

  test("also in a run of blocks", () => {
    const run = blocksOf(chunks.find(({ file }) => file.includes("00299"))!);
    const compared = run.map(compare);
    expect(compared.filter((count) => count === undefined).length).toBe(0);
    expect(compared.reduce<number>((sum, count) => sum + (count ?? 0), 0)).toBe(272);
  });
});

/** Lovelace of preview's deposits before Conway. */
const KEY_DEPOSIT = 2_000_000n;
const POOL_DEPOSIT = 500_000_000n;

/** Transactions whose inputs were all created in the same run. */
const BALANCED: Readonly<Record<string, number>> = {
  "chain/preview-genesis-00000-00004.chunk": 1,
  "chain/preview-hardfork-00059-00060.chunk": 0,
  "chain/preview-babbage-00299.chunk": 226,
  "chain/preview-babbage-01836.chunk": 172,
};

function deposits(transaction: ScannedTransaction): bigint {
  return certified(transaction).reduce((sum, certificate) => {
    if (certificate.kind === "register") return sum + KEY_DEPOSIT;
    if (certificate.kind === "unregister") return sum - KEY_DEPOSIT;
    return certificate.kind === "register pool" ? sum + POOL_DEPOSIT : sum;
  }, 0n);
}

describe("values", () => {
  test.each(chunks)("$file: inputs equal outputs", (chunk) => {
    const values = new Map<string, Value>();
    let balanced = 0;
    for (const transaction of blocksOf(chunk).flatMap((bytes) => scanBlock(bytes).transactions)) {
      const taken = spent(transaction).map((ref) => values.get(refKey(ref)));
      const known = taken.filter((value) => value !== undefined);
      if (known.length === taken.length) {
        const sum = (of: Iterable<bigint>) => [...of].reduce((total, one) => total + one, 0n);
        const consumed = sum(known.map(({ lovelace }) => lovelace)) + sum(withdrawn(transaction).values());
        const produced = sum(created(transaction).map(({ output }) => output.value.lovelace));
        expect(consumed).toBe(produced + paidFee(transaction, known)! + deposits(transaction));
        for (const asset of new Set(known.flatMap(({ assets }) => [...assets.keys()]))) {
          const before = sum(known.map(({ assets }) => assets.get(asset) ?? 0n)) + (transaction.mint.get(asset) ?? 0n);
          const after = sum(created(transaction).map(({ output }) => output.value.assets.get(asset) ?? 0n));
          expect(before).toBe(after);
        }
        balanced++;
      }
      for (const { ref, output } of created(transaction)) values.set(refKey(ref), output.value);
    }
    // the others spend outputs created before the run
    expect(balanced).toBe(BALANCED[chunk.file]);
  });

  test("of Byron: the fee is inputs less outputs", () => {
    const block = scanBlock(blockFile("single/byron2.cbor"));
    const [transaction] = block.transactions;
    expect(transaction!.fee).toBeUndefined();
    expect(paidFee(transaction!)).toBeUndefined();
    const out = transaction!.outputs.reduce((sum, { value }) => sum + value.lovelace, 0n);
    const [first, ...others] = transaction!.inputs.map(() => ({ lovelace: 0n, assets: new Map() }));
    expect(paidFee(transaction!, [{ ...first!, lovelace: out + 171_246n }, ...others])).toBe(171_246n);
    expect(paidFee(transaction!, others)).toBeUndefined();
  });
});
