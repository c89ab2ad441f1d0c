/** Rows of a block in the index, from transactions with everything that a body and a witness set can hold. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { scriptHash } from "#src/cardano/conway/script.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { unchanged } from "#src/ledger/registry.ts";
import { foldBlock, type IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { noChanges } from "#src/devnet/index/rows.ts";
import type { IndexedTransaction } from "#src/devnet/index/transactionRows.ts";
import type { EpochBoundary } from "#src/devnet/ledger/epoch.ts";
import type { Applied } from "#src/ledger/delta.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { created } from "#src/cardano/block.ts";
import { certificates } from "../../../support/devnet/devnet.ts";
import { agrees, agreesWithThree, agreesWithTwo } from "../../../support/plutus/scripts.ts";
import { coin, person } from "../../../support/wallets/person.ts";

const alice = person("alice");
const bob = person("bob");
const account = "k" + alice.stake;
const pool = "aa".repeat(28);
const otherPool = "bb".repeat(28);

const block = (transactions: readonly IndexedTransaction[], more: Partial<IndexedBlock> = {}): IndexedBlock => ({
  height: 7,
  hash: "00".repeat(32),
  epoch: 3,
  parameters,
  size: 4,
  pool,
  boundaries: [],
  transactions,
  ...more,
});

/** A transaction of these fields with its effect; `effect` overrides what it does not check itself. */
function transaction(
  fields: readonly (readonly [number, Encodable])[],
  { witnesses = [], auxiliary = null, valid = true, inputs, ...effect }:
    & { witnesses?: readonly (readonly [number, Encodable])[]; auxiliary?: Encodable; valid?: boolean }
    & { readonly inputs: readonly Utxo[] }
    & Partial<Applied>,
): IndexedTransaction {
  const body = new Map<number, Encodable>([
    [0, new Tagged(258, inputs.map(({ ref }) => [fromHex(ref.txHash), ref.index]))],
    ...fields,
  ]);
  const scanned = scanTransaction(encode([body, new Map(witnesses), valid, auxiliary]));
  return {
    transaction: scanned,
    applied: {
      hash: scanned.hash,
      valid,
      fee: 200_000n,
      spent: inputs,
      created: created(scanned),
      deposits: 0n,
      donation: 0n,
      size: 1,
      units: { memory: 0n, steps: 0n },
      refScriptBytes: 0,
      ...unchanged,
      ...effect,
    },
  };
}

const output = (address: string, value: Encodable, more: readonly (readonly [number, Encodable])[] = []) =>
  new Map<number, Encodable>([[0, fromHex(address)], [1, value], ...more]);

describe("foldBlock", () => {
  it("gives an empty block one row", () => {
    const changes = foldBlock(block([]));
    const none = noChanges();
    none.rows.block.push({ height: 7, epoch: 3, size: 4, pool });
    expect(changes).toEqual(none);
    expect(foldBlock(block([], { pool: undefined })).rows.block).toEqual([{ height: 7, epoch: 3, size: 4 }]);
  });

  it("gives a payment its outputs, the addresses on both sides, and the spend", () => {
    const unit = "cc".repeat(28) + "4d";
    const script = scriptAddress(0, "dd".repeat(28)).hex;
    const byron = "82d818582183581cba970ad36654d8dd8f74274b733452ddeab9a62a397746be3c42ccdda0001a9026da5b";
    const from = coin(alice.base, 9_000_000n);
    const one = transaction([
      [1, [
        output(bob.enterprise, [2_000_000, new Map([[fromHex(unit.slice(0, 56)), new Map([[fromHex("4d"), 5]])]])]),
        output(script, 3_000_000),
        output(byron, 1_000_000),
      ]],
      [2, 200_000],
    ], { inputs: [from] });
    const { rows, spent } = foldBlock(block([one]));
    const { hash, body, witnesses } = one.transaction;
    const place = { height: 7, tx_index: 0, tx_hash: hash };
    expect(rows.block).toEqual([{ height: 7, epoch: 3, size: 4, pool, output: 6_000_000n, fees: 200_000n }]);
    expect(rows.tx).toMatchObject([
      {
        height: 7,
        tx_index: 0,
        hash,
        fee: 200_000n,
        deposit: 0n,
        valid: true,
        size: body.length + witnesses.length + 2,
      },
    ]);
    // the parts of the transaction, with the flag of validity that its size does not count
    expect(rows.tx[0]!.cbor).toEqual(encode([new Encoded(body), new Encoded(witnesses), true, null]));
    expect(rows.tx[0]!.size).toBe(rows.tx[0]!.cbor.length - 1);
    expect(rows.output).toEqual([
      { ...place, index: 0, address: bob.enterprise, payment: "k" + bob.key, lovelace: 2_000_000n },
      { ...place, index: 1, address: script, payment: "s" + "dd".repeat(28), lovelace: 3_000_000n },
      { ...place, index: 2, address: byron, lovelace: 1_000_000n },
    ]);
    expect(rows.asset).toEqual([{ tx_hash: hash, index: 0, unit, quantity: 5n, height: 7 }]);
    expect(rows.asset_tx).toEqual([{ ...place, unit }]);
    expect(rows.address).toEqual([
      { ...place, address: alice.base, payment: "k" + alice.key, stake: account },
      { ...place, address: bob.enterprise, payment: "k" + bob.key },
      { ...place, address: script, payment: "s" + "dd".repeat(28) },
      { ...place, address: byron },
    ]);
    expect(spent).toEqual([
      { tx_hash: from.ref.txHash, index: 0, spent_height: 7, spent_index: 0, spent_tx: hash },
    ]);
  });

  it("gives each address and asset of a transaction one row, and a second transaction the next position", () => {
    const unit = "cc".repeat(28);
    const from = coin(alice.base, 9_000_000n, new Map([[unit, 3n]]));
    const value = (
      quantity: number,
    ) => [2_000_000, new Map([[fromHex(unit), new Map([[new Uint8Array(), quantity]])]])];
    const first = transaction([[1, [output(alice.base, value(1)), output(alice.base, value(2))]], [2, 1]], {
      inputs: [from],
    });
    const second = transaction([[1, [output(bob.base, 2_000_000)]], [2, 2]], {
      inputs: first.applied.created.slice(1),
    });
    const { rows, spent } = foldBlock(block([first, second]));
    expect(rows.address.map(({ address, tx_index }) => [address, tx_index])).toEqual([
      [alice.base, 0],
      [alice.base, 1],
      [bob.base, 1],
    ]);
    // spent without a new output that holds it: the second transaction is none of the asset's
    expect(rows.asset_tx.map(({ tx_index }) => tx_index)).toEqual([0]);
    expect(spent[1]).toEqual({
      tx_hash: first.applied.hash,
      index: 1,
      spent_height: 7,
      spent_index: 1,
      spent_tx: second.applied.hash,
    });
  });

  it("gives scripts, datums and redeemers of every source with their hashes", () => {
    const native = encode([0, fromHex(alice.key)]);
    const inline = encode(new Tagged(121, []));
    const witnessed = encode(42);
    const spendData = encode(new Tagged(122, []));
    const v3 = scriptHash(3, agrees);
    const locked = coin(scriptAddress(0, v3).hex, 5_000_000n);
    const policy = scriptHash(2, agreesWithTwo);
    const pointed = [
      [[0, 0], [new Encoded(spendData), [1_000, 2_000]]],
      [[1, 0], [new Encoded(witnessed), [10, 20]]],
      [[3, 0], [new Encoded(witnessed), [1, 1]]],
      [[2, 0], [new Encoded(witnessed), [0, 0]]],
    ] as const;
    const asMap = new Map<Encodable, Encodable>(pointed);
    const asList = pointed.map(([[tag, index], [data, units]]) => [tag, index, data, units]);
    for (const redeemers of [asMap, asList]) {
      const one = transaction([
        [1, [
          output(bob.base, 2_000_000, [
            [2, [1, new Tagged(24, inline)]],
            [3, new Tagged(24, encode([1, agreesWithThree]))],
          ]),
          output(bob.base, 2_000_000, [
            [2, [0, fromHex(hash256(witnessed))]],
            [3, new Tagged(24, encode([0, new Encoded(native)]))],
          ]),
        ]],
        [2, 200_000],
        [4, new Tagged(258, [[8, [1, fromHex(v3)], 2_000_000]])],
        [5, new Map([[fromHex("f0" + policy), 7]])],
        [9, new Map([[fromHex(policy), new Map([[fromHex("01"), -2]])]])],
      ], {
        inputs: [locked],
        witnesses: [
          [1, new Tagged(258, [new Encoded(native)])],
          [6, new Tagged(258, [agreesWithTwo])],
          [7, new Tagged(258, [agrees])],
          [4, new Tagged(258, [new Encoded(witnessed)])],
          [5, redeemers],
        ],
        auxiliary: new Tagged(
          259,
          new Map<number, Encodable>([[0, new Map<number, Encodable>([[721, "x"], [1, [1, 2]]])], [2, [agrees]]]),
        ),
      });
      const { rows } = foldBlock(block([one]));
      const place = { height: 7, tx_index: 0, tx_hash: one.transaction.hash };
      const script = (language: 0 | 1 | 2 | 3, kind: string, bytes: Uint8Array) => [
        scriptHash(language, bytes),
        kind,
        toHex(bytes),
      ];
      expect(rows.script.map(({ hash, kind, bytes }) => [hash, kind, toHex(bytes)])).toEqual([
        script(1, "plutusV1", agreesWithThree),
        script(0, "timelock", native),
        // of the auxiliary data, then of the witness set
        script(1, "plutusV1", agrees),
        script(0, "timelock", native),
        script(2, "plutusV2", agreesWithTwo),
        script(3, "plutusV3", agrees),
      ]);
      expect(rows.output).toMatchObject([
        { datum_hash: hash256(inline), datum: inline, script_hash: scriptHash(1, agreesWithThree) },
        { datum_hash: hash256(witnessed), script_hash: scriptHash(0, native) },
      ]);
      expect(rows.output[1]).not.toHaveProperty("datum");
      expect(new Map(rows.datum.map(({ hash, cbor }) => [hash, toHex(cbor)]))).toEqual(
        new Map([inline, witnessed, spendData].map((datum) => [hash256(datum), toHex(datum)])),
      );
      const argument = hash256(witnessed);
      // prices: 0.0577 a unit of memory, 0.0000721 a step, rounded up for each redeemer
      expect(rows.redeemer).toEqual([
        { purpose: "spend", script_hash: v3, data_hash: hash256(spendData), memory: 1_000n, steps: 2_000n, fee: 58n },
        { purpose: "mint", script_hash: policy, data_hash: argument, memory: 10n, steps: 20n, fee: 1n },
        { purpose: "reward", script_hash: policy, data_hash: argument, memory: 1n, steps: 1n, fee: 1n },
        { purpose: "cert", script_hash: v3, data_hash: argument, memory: 0n, steps: 0n, fee: 0n },
      ].map((row) => ({ ...place, index: 0, ...row })));
      expect(rows.mint).toEqual([{
        ...place,
        unit: policy + "01",
        quantity: -2n,
        fingerprint: fingerprint(policy + "01"),
      }]);
      expect(rows.metadata).toEqual([
        { ...place, label: 721n, cbor: encode("x") },
        { ...place, label: 1n, cbor: encode([1, 2]) },
      ]);
      expect(rows.withdrawal).toEqual([{ ...place, credential: "s" + policy, amount: 7n }]);
    }
  });

  it("splits certificates into what each of them does, with deposits and the epochs in which they count", () => {
    const credential = [0, fromHex(alice.stake)];
    const drep = "ee".repeat(28);
    const list: Encodable[] = [
      [13, credential, fromHex(pool), [1, fromHex(drep)], 2_000_000],
      [1, credential],
      [0, credential],
      [10, credential, fromHex(otherPool), [2]],
      certificates.pool(alice, pool, 5n),
      certificates.pool(alice, pool, 6n),
      certificates.pool(alice, otherPool, 7n),
      certificates.retire(otherPool, 9),
      [16, [1, fromHex(drep)], 500_000_000, null],
      [17, [1, fromHex(drep)], 500_000_000],
      [18, [1, fromHex(drep)], null],
    ];
    const known = { certificate: new Uint8Array(), deposit: 500_000_000n };
    const one = transaction([[1, [output(bob.base, 2_000_000)]], [2, 1], [4, list]], {
      inputs: [coin(alice.base, 9_000_000n)],
      pools: [{ key: pool, after: known }, { key: otherPool, before: known, after: known }],
      accounts: [{ key: account, before: { deposit: 1_500_000n, balance: 0n } }],
    });
    const { rows } = foldBlock(block([one]));
    expect(
      rows.certificate.map(({ height: _, tx_index: __, tx_hash: ___, cbor, ...row }) => {
        expect(toHex(cbor)).toBe(toHex(encode(list[row.cert_index]!)));
        return row;
      }),
    ).toEqual([
      { cert_index: 0, part: 0, kind: "register", credential: account, deposit: 2_000_000n },
      { cert_index: 0, part: 1, kind: "delegate", credential: account, pool, epoch: 5 },
      { cert_index: 0, part: 2, kind: "vote", credential: account, drep: "s" + drep },
      // kinds of Shelley state no deposit: the account has paid 1.5 ada, the parameters ask for 2
      { cert_index: 1, part: 0, kind: "deregister", credential: account, deposit: -1_500_000n },
      { cert_index: 2, part: 0, kind: "register", credential: account, deposit: 2_000_000n },
      { cert_index: 3, part: 0, kind: "delegate", credential: account, pool: otherPool, epoch: 5 },
      { cert_index: 3, part: 1, kind: "vote", credential: account, drep: "abstain" },
      // a new pool, then changes of registered ones
      { cert_index: 4, part: 0, kind: "pool", pool, epoch: 5, deposit: 500_000_000n },
      { cert_index: 5, part: 0, kind: "pool", pool, epoch: 6 },
      { cert_index: 6, part: 0, kind: "pool", pool: otherPool, epoch: 6 },
      { cert_index: 7, part: 0, kind: "retire", pool: otherPool, epoch: 9 },
      { cert_index: 8, part: 0, kind: "drep_register", drep: "s" + drep, deposit: 500_000_000n },
      { cert_index: 9, part: 0, kind: "drep_deregister", drep: "s" + drep, deposit: -500_000_000n },
      { cert_index: 10, part: 0, kind: "drep_update", drep: "s" + drep },
    ]);
  });

  it("reads a witness set with data nested more deeply than a recursive decoder goes", () => {
    const deep = new Uint8Array([...new Uint8Array(10_000).fill(0x81), 1]);
    const { rows } = foldBlock(block([
      transaction([[1, [output(bob.base, 2_000_000)]], [2, 1]], {
        inputs: [coin(alice.base, 9_000_000n)],
        witnesses: [[4, new Tagged(258, [new Encoded(deep)])]],
      }),
    ]));
    expect(rows.datum).toEqual([{ hash: hash256(deep), height: 7, cbor: deep }]);
  });

  it("gives proposals and votes rows of their own", () => {
    const anchor = ["https://example.com", new Uint8Array(32)];
    const info = [100_000_000_000n, fromHex("e0" + alice.stake), [6], anchor];
    const payments = [2, new Map([[fromHex("e0" + bob.stake), 7]]), null];
    const action = [fromHex("ab".repeat(32)), 3];
    const other = [fromHex("ac".repeat(32)), 0];
    const governs = (valid: boolean) =>
      foldBlock(block([
        transaction([
          [1, [output(bob.base, 2_000_000)]],
          [2, 1],
          [13, new Tagged(258, [[fromHex("cd".repeat(32)), 0]])],
          [
            19,
            new Map<Encodable, Encodable>([
              [[4, fromHex(pool)], new Map([[action, [0, null]]])],
              [[2, fromHex(alice.stake)], new Map([[other, [2, anchor]], [action, [1, null]]])],
            ]),
          ],
          [20, new Tagged(258, [info, [100_000_000_000n, fromHex("e0" + alice.stake), payments, anchor]])],
        ], { inputs: [coin(alice.base, 9_000_000n)], valid }),
      ])).rows;
    const { proposal, vote } = governs(true);
    const place = { height: 7, tx_index: 0, tx_hash: proposal[0]!.tx_hash };
    expect(proposal).toEqual([
      { ...place, index: 0, kind: "info", epoch: 3, cbor: encode(info) },
      { ...place, index: 1, kind: "treasury", epoch: 3, cbor: encode([...info.slice(0, 2), payments, anchor]) },
    ]);
    // in the ledger's order: representatives before pools, actions by their ids
    const cast = { ...place, action_tx: "ab".repeat(32), action_index: 3 };
    expect(vote).toEqual([
      { ...cast, vote_index: 0, role: "drep", voter: account, vote: "yes" },
      {
        ...cast,
        vote_index: 1,
        role: "drep",
        voter: account,
        action_tx: "ac".repeat(32),
        action_index: 0,
        vote: "abstain",
        url: "https://example.com",
        url_hash: "00".repeat(32),
      },
      { ...cast, vote_index: 2, role: "pool", voter: "k" + pool, vote: "no" },
    ]);
    expect(governs(false)).toMatchObject({ proposal: [], vote: [] });
  });

  it("gives a transaction that failed in phase 2 only what its collateral did", () => {
    const collateral = coin(alice.enterprise, 5_000_000n);
    const datum = encode(1);
    const one = transaction([
      [1, [output(bob.base, 2_000_000)]],
      [2, 200_000],
      [4, [[0, [0, fromHex(alice.stake)]]]],
      [5, new Map([[fromHex("e0" + alice.stake), 7]])],
      [9, new Map([[fromHex("cc".repeat(28)), new Map([[fromHex("01"), 1]])]])],
      [13, new Tagged(258, [[fromHex(collateral.ref.txHash), 0]])],
      [16, output(alice.base, 4_500_000, [[2, [1, new Tagged(24, datum)]]])],
    ], {
      inputs: [coin(alice.base, 9_000_000n)],
      spent: [collateral],
      fee: 500_000n,
      valid: false,
      auxiliary: new Map([[1, "x"]]),
      witnesses: [[7, new Tagged(258, [agrees])], [5, new Map([[[0, 0], [1, [1, 1]]]])]],
    });
    const { rows, spent } = foldBlock(block([one]));
    const place = { height: 7, tx_index: 0, tx_hash: one.transaction.hash };
    const none = noChanges().rows;
    expect(rows).toEqual({
      ...none,
      block: [{ height: 7, epoch: 3, size: 4, pool, output: 4_500_000n, fees: 500_000n }],
      tx: [{ ...rows.tx[0], valid: false, fee: 500_000n, deposit: 0n }],
      output: [{
        ...place,
        index: 1,
        address: alice.base,
        payment: "k" + alice.key,
        stake: account,
        lovelace: 4_500_000n,
        datum_hash: hash256(datum),
        datum,
      }],
      datum: [{ hash: hash256(datum), height: 7, cbor: datum }],
      address: [
        { ...place, address: alice.enterprise, payment: "k" + alice.key },
        { ...place, address: alice.base, payment: "k" + alice.key, stake: account },
      ],
    });
    expect(spent.map(({ tx_hash }) => tx_hash)).toEqual([collateral.ref.txHash]);
  });

  it("gives a boundary its epoch, the stake of the next one, the rewards and the deposits of retired pools", () => {
    const certificate = encode(certificates.pool(bob, otherPool, 1n));
    const pots = { treasury: 1n, reserves: 2n ** 60n, fees: 3n, deposits: 4n, donations: 5n };
    const members = new Map([[account, 10n], ["k" + bob.stake, 0n]]);
    const leaders = { pools: new Map([[pool, { certificate, members: new Map([[account, 6n]]) }]]), fees: 0n };
    const boundary: EpochBoundary = {
      parameters,
      leaders,
      delta: {
        epoch: 4,
        snapshots: [{ key: "4", after: { pools: new Map([[pool, { certificate, members }]]), fees: 0n } }],
        blocks: [],
        ranking: [],
        ...unchanged,
        pots: { before: pots, after: pots },
        accounts: [{ key: account, before: { deposit: 0n, balance: 0n }, after: { deposit: 0n, balance: 8n } }],
        pools: [
          // retired: its account is not registered
          { key: otherPool, before: { certificate, deposit: 500n } },
          // changed
          { key: pool, before: { certificate, deposit: 500n }, after: { certificate, deposit: 500n } },
        ],
        rewards: [
          { account, pool, kind: "leader", amount: 8n },
          { account: "k" + bob.stake, pool, kind: "member", amount: 9n },
          { account: "k" + bob.stake, pool: otherPool, kind: "leader", amount: 0n },
        ],
      },
    };
    const { rows } = foldBlock(block([], { boundaries: [boundary], epoch: 4 }));
    expect(rows.epoch).toMatchObject([{ epoch: 4, height: 7, pots, active_stake: 6n }]);
    expect(rows.epoch[0]!.parameters).toMatchObject({ keyDeposit: 2_000_000n });
    expect(rows.stake).toEqual([
      { epoch: 5, pool, credential: account, lovelace: 10n, height: 7 },
      { epoch: 5, pool, credential: "k" + bob.stake, lovelace: 0n, height: 7 },
    ]);
    expect(rows.reward).toEqual([
      { earned: 2, spendable: 4, credential: account, pool, kind: "leader", amount: 8n, paid: true, height: 7 },
      {
        earned: 2,
        spendable: 4,
        credential: "k" + bob.stake,
        pool,
        kind: "member",
        amount: 9n,
        paid: false,
        height: 7,
      },
      {
        earned: 4,
        spendable: 4,
        credential: "k" + bob.stake,
        pool: otherPool,
        kind: "pool_deposit_refund",
        amount: 500n,
        paid: false,
        height: 7,
      },
    ]);
  });
});
