/**
 * A wallet as a representative: registration, metadata, end and votes, built, signed by the keys that the wallet lists as
 * signers, judged by the ledger's rules and decoded.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { encodeTransaction } from "#src/cardano/transaction.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { credentialKey, newState } from "#src/ledger/state.ts";
import { validate } from "#src/ledger/validate.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { construct, estimateFees } from "#src/wallets/builds/construct.ts";
import { decodeTransaction } from "#src/wallets/builds/decode.ts";
import { drepAfter } from "#src/wallets/dreps/pending.ts";
import { signingOf } from "#src/wallets/vault/walletSigning.ts";
import type { ConstructInput, GovernanceIntent, OwnDrep, PaymentIntent } from "#src/wallets/builds/types.ts";
import { slots } from "../../../support/contract/contractLedger.ts";
import {
  accountOf,
  keyNamed,
  ownCoin,
  pathAt,
  setting,
  signedFor,
  stakeKey,
  walletFunds,
} from "../../../support/wallets/fundedWallet.ts";
import { newRef } from "../../../support/wallets/person.ts";

const ada = 1_000_000n;
const DEPOSIT = mainnetParameters.drepDeposit;
const hash = keyNamed("the wallet's DRep");
const credential = { kind: "key", hash } as const;
const path = pathAt(0, 3);
const anchor = { url: "https://example.org/drep.jsonld", hash: "17".repeat(32) };
const action: ActionId = { txHash: "ab".repeat(32), index: 1 };
const yes: GovernanceIntent = { votes: [{ action, vote: "yes", anchor }] };

const coins = () => [ownCoin(0, 700n * ada), ownCoin(1, 30n * ada)];
const fundsOf = (drep: Partial<OwnDrep> = {}) =>
  walletFunds(coins(), { account: accountOf(), drep: { hash, path, ...drep } });
const input = (intent: PaymentIntent, drep?: Partial<OwnDrep>, more: Partial<ConstructInput> = {}): ConstructInput => ({
  ...setting,
  intent,
  funds: fundsOf(drep),
  seed: 3,
  ...more,
});
const codeOf = (...of: Parameters<typeof input>) => {
  const built = construct(input(...of));
  return built.ok ? "built" : built.error.code;
};

/** A treasury withdrawal, which an open action proposes. */
const proposal = encode([
  100_000n * ada,
  fromHex(`e0${stakeKey}`),
  [2, new Map([[fromHex(`e0${stakeKey}`), 1n]]), null],
  [anchor.url, fromHex(anchor.hash)],
]);

/** The ledger's failures for a transaction, whose voter is registered or not. */
async function judged(transaction: Uint8Array, of: ConstructInput, registered: bigint | undefined) {
  const state = newState({
    parameters: { ...mainnetParameters, protocolVersion: { major: 10, minor: 0 } },
    outputs: new Map(of.funds.coins.map(({ utxo: { ref, output } }) => [refKey(ref), output])),
  });
  if (registered !== undefined) {
    state.dreps.set(credentialKey(credential), { deposit: registered, anchor: undefined, expiry: 20 });
  }
  state.proposals.set(refKey(action), { cbor: proposal, order: 0, proposedIn: 0, expiresAfter: 6 });
  const result = await validate(state, transaction, setting.slot, async (run) => evaluateScripts(run), slots);
  return result.ok ? [] : result.error;
}

/** Builds, signs with the keys that the wallet names, has the ledger judge, and decodes. */
async function live(intent: PaymentIntent, drep: Partial<OwnDrep>) {
  const of = input(intent, drep);
  const built = construct(of);
  if (!built.ok) throw new Error(`${built.error.code}: ${built.error.message}`);
  const { account, drep: own } = of.funds;
  const signing = signingOf(built.value.transaction, { coins: of.funds.coins, account, drep: own });
  if (!signing.ok) throw new Error(signing.error.message);
  const paths = signing.value.paths.map(String);
  const signs = (one: readonly number[], key: string) => paths.includes(String(one)) ? [key] : [];
  const signed = signedFor(built.value, ...signs(path, hash), ...signs(pathAt(0, 2), stakeKey));
  expect(signed.length).toBe(built.value.size);
  expect(await judged(signed, of, drep.registered ? drep.deposit ?? DEPOSIT : undefined)).toEqual([]);
  csl.Transaction.from_bytes(signed);
  const decoded = decodeTransaction({
    transaction: signed,
    network: 0,
    keyDeposit: mainnetParameters.keyDeposit,
    owns: { addresses: of.funds.change, coins: of.funds.coins, account, drep: own },
  });
  if (!decoded.ok) throw new Error(decoded.error.message);
  const { depositsTaken, depositsReturned, certificates } = built.value.selection;
  expect(decoded.value).toMatchObject({ depositsTaken, depositsReturned, certificates });
  return { built: built.value, decoded: decoded.value, paths };
}

describe("a wallet as a representative", () => {
  it("registers for a deposit, signed by its DRep key", async () => {
    const { built, decoded, paths } = await live({ governance: { drep: { does: "register", anchor } } }, {
      registered: false,
    });
    expect(built.selection.depositsTaken).toEqual([DEPOSIT]);
    expect(decoded.certificates).toEqual([
      { type: "governance", certificate: { kind: "register drep", credential, deposit: DEPOSIT, anchor }, path },
    ]);
    expect(paths).toContain(String(path));
    const fees = estimateFees(input({ governance: { drep: { does: "register", anchor } } }));
    expect(fees).toMatchObject({ ok: true, value: { deposit: DEPOSIT } });
  });

  it("registers and delegates to itself in one transaction: the registration comes first", async () => {
    const { decoded } = await live({ governance: { drep: { does: "register" } }, vote: credential }, {
      registered: false,
    });
    expect(decoded.certificates.map(({ type }) => type)).toEqual([
      "governance",
      "register_reward_account",
      "cast_vote",
    ]);
  });

  it("registers and votes in one transaction", async () => {
    const { decoded } = await live({ governance: { drep: { does: "register" }, ...yes } }, { registered: false });
    expect(decoded.votes).toHaveLength(1);
  });

  it("replaces its metadata, and removes it", async () => {
    for (const link of [{ anchor }, {}]) {
      const { decoded } = await live({ governance: { drep: { does: "update", ...link } } }, { registered: true });
      expect(decoded).toMatchObject({ depositsTaken: [], depositsReturned: [] });
      expect(decoded.certificates).toEqual([
        { type: "governance", certificate: { kind: "update drep", credential, ...link }, path },
      ]);
    }
  });

  it("gets back the deposit that the ledger has, whatever the parameters say now", async () => {
    const { built } = await live({ governance: { drep: { does: "deregister" } } }, {
      registered: true,
      deposit: 7n * ada,
    });
    expect(built.selection.depositsReturned).toEqual([7n * ada]);
    // where the provider does not report it, it is the one of today
    const { built: usual } = await live({ governance: { drep: { does: "deregister" } } }, { registered: true });
    expect(usual.selection.depositsReturned).toEqual([DEPOSIT]);
  });

  it("votes, with reasons", async () => {
    const { built, decoded, paths } = await live({ governance: yes }, { registered: true });
    const voter = { role: "drep", credential, path, votes: [{ action, vote: "yes", anchor }] };
    expect(built.selection.votes).toEqual([voter]);
    expect(decoded.votes).toEqual([voter]);
    expect(paths).toContain(String(path));
  });

  it("refuses what the ledger would refuse", () => {
    const drep = (does: "register" | "update" | "deregister") => ({ governance: { drep: { does } } });
    expect(codeOf(drep("register"), { registered: true })).toBe("drep_already_registered");
    for (const intent of [drep("update"), drep("deregister"), { governance: yes }]) {
      expect(codeOf(intent, { registered: false })).toBe("drep_not_registered");
      expect(codeOf(intent, { registered: true })).toBe("built");
      // a provider that does not report representatives leaves it to the ledger
      expect(codeOf(intent, {})).toBe("built");
    }
    const both = { governance: { drep: { does: "deregister" as const }, ...yes } };
    expect(codeOf(both, { registered: true })).toBe("created_invalid_transaction");
    for (
      const [state, code] of [["unknown", "no_such_action"], ["ended", "action_expired"], ["open", "built"]] as const
    ) {
      expect(codeOf({ governance: yes }, { registered: true }, { actions: [{ id: action, state }] })).toBe(code);
    }
    const poor = { funds: walletFunds([ownCoin(0, 400n * ada)], { drep: { hash, path, registered: false } }) };
    expect(codeOf(drep("register"), {}, poor)).toBe("not_enough_money");
    const keyless = { funds: walletFunds(coins()) };
    expect(codeOf(drep("register"), {}, keyless)).toBe("invalid_wallet_type");
    expect(codeOf({ governance: {} }, { registered: true })).toBe("created_invalid_transaction");
  });
});

describe("the signature of a DRep key", () => {
  const pathsOf = (parts: Partial<Parameters<typeof encodeTransaction>[0]>) => {
    const transaction = encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, ...parts });
    const signing = signingOf(transaction, { coins: [], account: accountOf(), drep: { hash, path } });
    return signing.ok ? signing.value.paths.map(String) : signing.error;
  };
  const votesOf = (role: "committee" | "drep" | "pool", kind: "key" | "script", of = hash) => ({
    votes: encodeVotes([{ role, credential: { kind, hash: of }, votes: [{ action, vote: "no" }] }]),
  });

  it("is for its own votes, certificates, and where it is named", () => {
    const own = [String(path)];
    expect(pathsOf(votesOf("drep", "key"))).toEqual(own);
    expect(pathsOf({ certificates: [encodeCertificate({ kind: "update drep", credential })] })).toEqual(own);
    expect(pathsOf({ requiredSigners: [hash] })).toEqual(own);
    for (
      const parts of [
        {},
        votesOf("drep", "script"),
        votesOf("drep", "key", "00".repeat(28)),
        votesOf("pool", "key"),
        votesOf("committee", "key"),
        { certificates: [encodeCertificate({ kind: "update drep", credential: { kind: "script", hash } })] },
      ]
    ) expect(pathsOf(parts)).toEqual([]);
  });
});

describe("pending transactions", () => {
  const pending = (...certificates: Parameters<typeof encodeCertificate>[0][]) =>
    certificates.map((one) =>
      scanTransaction(
        encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, certificates: [encodeCertificate(one)] }),
      )
    );
  const begin = { kind: "register drep", credential, deposit: 9n } as const;
  const end = { kind: "unregister drep", credential, refund: 5n } as const;
  const none = { hash, path, registered: false } as const;
  const there = { hash, path, registered: true, deposit: 5n } as const;

  it("register and end a representative, in the order that the ledger can take", () => {
    expect(drepAfter(none, [])).toEqual(none);
    expect(drepAfter(none, pending(begin))).toEqual({ ...there, deposit: 9n });
    expect(drepAfter(there, pending(end))).toEqual({ ...none, deposit: undefined });
    for (const order of [[begin, end], [end, begin]] as const) {
      expect(drepAfter(there, pending(...order))).toEqual({ ...there, deposit: 9n });
      expect(drepAfter(none, pending(...order))).toMatchObject({ registered: false });
    }
    // what a provider that does not report representatives leaves open
    expect(drepAfter({ hash, path }, pending(begin))).toMatchObject({ registered: true, deposit: 9n });
    const other = { ...begin, credential: { kind: "key", hash: "00".repeat(28) } } as const;
    expect(drepAfter(none, pending(other))).toEqual(none);
  });
});

describe("a proposal", () => {
  it("is decoded with the account that its deposit returns to; the deposit counts where the wallet pays", () => {
    const [own] = coins();
    const decode = (ref: { readonly txHash: string; readonly index: number }) => {
      const body = new Map<Encodable, Encodable>([
        [0, new Tagged(258, [[fromHex(ref.txHash), ref.index]])],
        [1, []],
        [2, 0],
        [20, new Tagged(258, [new Encoded(proposal)])],
      ]);
      const { account } = fundsOf();
      const owns = { addresses: [], coins: [own!], account };
      return decodeTransaction({
        transaction: encode([body, new Map(), true, null]),
        network: 0,
        keyDeposit: mainnetParameters.keyDeposit,
        owns,
      });
    };
    const paying = decode(own!.utxo.ref);
    expect(paying).toMatchObject({ ok: true, value: { depositsTaken: [100_000n * ada], votes: [] } });
    if (!paying.ok) return;
    expect(paying.value.proposals).toEqual([{
      id: { txHash: paying.value.id, index: 0 },
      kind: "treasury",
      deposit: 100_000n * ada,
      account: `e0${stakeKey}`,
      path: pathAt(0, 2),
      anchor,
    }]);
    expect(decode(newRef())).toMatchObject({
      ok: true,
      value: { depositsTaken: [], proposals: [{ kind: "treasury" }] },
    });
  });
});
