/** The stake account of a wallet after pending transactions, in whatever order they are read. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rewardAddress } from "#src/cardano/address.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { parentsOf, withDependents } from "#src/cardano/dependents.ts";
import { accountAfter } from "#src/wallets/delegation/pending.ts";

const credential = { kind: "key", hash: "a1".repeat(28) } as const;
const other = { kind: "key", hash: "b2".repeat(28) } as const;
const pool = "11".repeat(28);
const abstain = { kind: "abstain" } as const;
const none = { wallet: "w", credential, registered: false, rewards: 0n, history: [] };

const pending = (certificates: readonly Certificate[], withdraws = false, valid = true) =>
  ({
    valid,
    certificates,
    withdrawals: new Map(withdraws ? [[rewardAddress(0, credential).hex, 5n]] : []),
  }) as unknown as ScannedTransaction;

describe("an account after pending transactions", () => {
  it("is the same for every order in which they are read", () => {
    const story = [
      pending([{ kind: "register", credential, deposit: 2n, to: { pool } }]),
      pending([{ kind: "delegate", credential, to: { drep: abstain } }]),
      pending([{ kind: "unregister", credential: other }, { kind: "unregister", credential: other }]),
    ];
    const after = { ...none, registered: true, deposit: 2n, pool, drep: abstain };
    fc.assert(
      fc.property(fc.shuffledSubarray(story, { minLength: story.length }), (order) => {
        expect(accountAfter(none, order, 0)).toEqual(after);
      }),
    );
  });

  it("is without pool and representative once its registration ends", () => {
    const joined = { ...none, registered: true, deposit: 2n, pool, drep: abstain };
    const [withdrawing, leaving] = [pending([], true), pending([{ kind: "unregister", credential }])];
    expect(accountAfter({ ...joined, rewards: 5n }, [withdrawing], 0)).toEqual({ ...joined, rewards: 0n });
    expect(accountAfter({ ...joined, rewards: 5n }, [leaving, withdrawing], 0)).toEqual(none);
  });

  it("does not change by a transaction whose scripts fail, nor by certificates that the ledger refuses", () => {
    const join: Certificate = { kind: "delegate", credential, to: { pool } };
    expect(accountAfter(none, [pending([join])], 0)).toEqual(none);
    expect(accountAfter(none, [pending([{ kind: "register", credential }], false, false)], 0)).toEqual(none);
  });
});

describe("transactions that depend on lost ones", () => {
  it("are those that need their outputs in any way, directly or through others", () => {
    const ref = (txHash: string) => ({ txHash, index: 0 });
    const of = (hash: string, inputs: string[], collateral: string[] = [], references: string[] = []) => ({
      hash,
      parents: parentsOf({
        inputs: inputs.map(ref),
        collateral: collateral.map(ref),
        references: references.map(ref),
      }),
    });
    const chain = [of("d", ["c"]), of("c", ["x"], ["b"]), of("b", ["a"]), of("e", ["y"], [], ["d"]), of("f", ["y"])];
    expect([...withDependents(chain, ["a"])].sort()).toEqual(["a", "b", "c", "d", "e"]);
    expect([...withDependents(chain, [])]).toEqual([]);
  });
});
