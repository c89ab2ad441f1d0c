/**
 * A wallet's stake and vote: joining, when it takes effect, rewards over epochs and back over their boundary, votes of
 * every kind, withdrawing, other pools, quitting. Expected values are the devnet's own account of the stake key; it
 * makes blocks only on request, so its state stays until then.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { toHex } from "#src/base/bytes.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { ApiError } from "#src/client/http.ts";
import { type FeeEstimate, lovelace, type Transaction } from "#src/client/wallets.ts";
import { Paced } from "../../support/service/pacedScenario.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { Stranger } from "../../support/service/externalUser.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

/** Five seconds: a withdrawal is built, signed and in a block within them, on any machine. */
const EPOCH_SLOTS = 100;
const DEPOSIT = 2n * ADA;
/** Mnemonic of the staker, whose rewards another wallet redeems. */
const words = newMnemonic(24);
const NONE = { active: { status: "not_delegating" }, next: [] };
const account = ["1852H", "1815H", "0H", "2", "0"];

describe.skipIf(!ANSWERS_POOLS)("a wallet's stake", () => {
  let scenario: Scenario;
  let paced: Paced;
  /** Joins without a vote; earns. */
  let staker: string;
  /** Abstains, then votes. */
  let voter: string;
  let pools: readonly string[];

  const join = (pool: string) => ({ delegations: [{ join: { pool, stake_key_index: "0H" } }] });
  const quit = { delegations: [{ quit: { stake_key_index: "0H" } }] };
  const ask = (id: string, body: object) => scenario.client.construct(id, body as never);
  const stakeAddress = async (id: string) => (await scenario.client.stakeKeys(id)).ours[0]!.key;
  /** The ledger's state of a wallet's stake key. */
  const ledger = async (id: string) =>
    (await http(scenario.devnet, "GET", `/accounts/${await stakeAddress(id)}`)).body as {
      registered: boolean;
      rewards: number;
      deposit?: number;
      pool?: string;
      drep?: string;
    };
  const delegation = async (id: string) => (await scenario.client.wallet(id)).delegation;
  /** The wallet's rewards, once they equal the ledger's. */
  const rewards = async (id: string): Promise<bigint> => {
    await paced.read();
    return (await until("the wallet has the ledger's rewards", async () => {
      const [{ balance }, held] = await Promise.all([scenario.client.wallet(id), ledger(id)]);
      return Number(balance.reward.quantity) === held.rewards && { quantity: BigInt(held.rewards) };
    }, 60_000)).quantity;
  };
  /**
   * Sends a withdrawal, and again at the beginning of another epoch if this one ended too soon; returns the one in the
   * ledger.
   */
  const withdrawing = async <T extends { id: string }>(id: string, send: () => Promise<T>) => {
    let tries = 0;
    return await until("a withdrawal is in the ledger", async () => {
      if (tries++ > 0) await paced.enter(await paced.epoch() + 1);
      const due = await rewards(id);
      const sent = await send().catch((error: ApiError) => {
        // the network is past the slot before which it was valid
        if (error.code !== "created_invalid_transaction") throw error;
      });
      if (sent === undefined) return;
      await paced.block();
      await paced.read();
      const listed = await scenario.client.transaction(id, sent.id);
      return listed.status === "in_ledger" && { due, sent, listed };
    }, 120_000);
  };

  beforeAll(async () => {
    scenario = await Scenario.start({
      blockMs: 0,
      env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "2" },
    });
    paced = new Paced(scenario, EPOCH_SLOTS);
    await paced.block();
    [staker, voter] = [
      (await scenario.createWallet({ name: "Staker", words })).id,
      (await scenario.createWallet({ name: "Voter" })).id,
    ];
    await scenario.fund(staker, [300_000n, 300_000n, 300_000n].map((ada) => ada * ADA));
    await scenario.fund(voter, [100n * ADA, 100n * ADA]);
    pools = (await scenario.client.stakePools(900_000n * ADA)).map(({ id }) => id);
  });
  afterAll(() => scenario?.stop());

  it("is registered with no pool at first, and joining costs a deposit", async () => {
    expect(pools).toHaveLength(2);
    expect(await delegation(staker)).toEqual(NONE);
    expect(await ledger(staker)).toMatchObject({ registered: false, rewards: 0 });
    const fees = await scenario.client.delegationFees(staker);
    expect(fees).toMatchObject({ deposit: { quantity: 2_000_000 }, estimated_min: { unit: "lovelace" } });
    expect(fees.estimated_min.quantity).toBeGreaterThan(160_000);
    expect(await scenario.client.stakeKeys(staker)).toEqual({
      ours: [{
        index: 0,
        key: expect.stringMatching(/^stake_test1/),
        stake: { quantity: 900_000_000_000, unit: "lovelace" },
        reward_balance: { quantity: 0, unit: "lovelace" },
        delegation: NONE,
      }],
      foreign: [],
      none: { stake: { quantity: 0, unit: "lovelace" } },
    });
  });

  it("refuses an unknown pool, a wrong passphrase, and quitting without a delegation", async () => {
    const { client } = scenario;
    const none = "00".repeat(28);
    const unknown = await scenario.refusal(client.joinPool(staker, none, PASSPHRASE));
    expect([unknown.status, unknown.code, unknown.details]).toEqual([404, "no_such_pool", { pool_id: none }]);
    const [first] = pools;
    const refused: (readonly [request: () => Promise<unknown>, status: number, code: string])[] = [
      [() => client.joinPool(staker, first!, "Another Passphrase"), 403, "wrong_encryption_passphrase"],
      [() => client.joinPool(staker, "pool1nonsense", PASSPHRASE), 400, "bad_request"],
      [() => client.joinPool("0".repeat(40), first!, PASSPHRASE), 404, "no_such_wallet"],
      [() => client.quitPool(staker, PASSPHRASE), 403, "not_delegating_to"],
      [
        () => client.send("DELETE", `/stake-pools/${first}/wallets/${staker}`, { passphrase: PASSPHRASE }),
        405,
        "method_not_allowed",
      ],
      [() => ask(staker, join(none)), 404, "no_such_pool"],
      [
        () => ask(staker, { delegations: [...join(none).delegations, ...quit.delegations] }),
        403,
        "created_multidelegation_transaction",
      ],
      [
        () => ask(staker, { delegations: [{ join: { pool: none, stake_key_index: "1H" } }] }),
        403,
        "created_multiaccount_transaction",
      ],
      [() => ask(staker, quit), 403, "not_delegating_to"],
      [() => ask(staker, { ...quit, withdrawal: "self" }), 403, "not_delegating_to"],
      [
        () => ask(staker, { delegations: [...join(first!).delegations, ...join(pools[1]!).delegations] }),
        403,
        "created_multidelegation_transaction",
      ],
      [
        () => ask(staker, { delegations: [{ join: { pool: first, stake_key_index: "1H" } }] }),
        403,
        "created_multiaccount_transaction",
      ],
      [() => ask(staker, { delegations: [{ join: { pool: first, stake_key_index: "0" } }] }), 400, "bad_request"],
      [() => ask(staker, { delegations: [{ join: { pool: first } }] }), 400, "bad_request"],
      [() => ask(staker, { vote: "nobody" }), 400, "bad_request"],
    ];
    for (const [request, ...answer] of refused) expect(await scenario.refused(request())).toEqual(answer);
  });

  let joinedIn: number;

  it("joins a pool, which takes effect from the second epoch on", async () => {
    const [first] = pools;
    const { built, signed, listed } = await scenario.land(staker, join(first!));
    expect(built.coin_selection).toMatchObject({
      certificates: [
        { certificate_type: "register_reward_account", reward_account_path: account },
        { certificate_type: "join_pool", pool: first, reward_account_path: account },
      ],
      deposits_taken: [{ quantity: 2_000_000 }],
    });
    const read = readByCsl(signed);
    expect(read.certificates.map((one) => Object.keys(one as object))).toEqual([
      ["StakeRegistration"],
      ["StakeDelegation"],
    ]);
    // the stake key signs in addition to those of the coins
    expect(read.signedBy).toHaveLength(new Set(built.coin_selection.inputs.map(({ address }) => address)).size + 1);
    expect(listed).toMatchObject({
      direction: "outgoing",
      deposit_taken: { quantity: 2_000_000 },
      deposit_returned: { quantity: 0 },
      certificates: [
        { certificate_type: "register_reward_account", reward_account_path: account },
        { certificate_type: "join_pool", pool: first },
      ],
    });
    expect(BigInt(listed.amount.quantity)).toBe(DEPOSIT + read.fee);
    joinedIn = listed.inserted_at!.epoch_number;
    expect(await ledger(staker)).toMatchObject({ registered: true, pool: first, deposit: 2_000_000, rewards: 0 });
    const starts = { epoch_number: joinedIn + 2, epoch_start_time: expect.stringMatching(/Z$/) };
    expect(await delegation(staker)).toEqual({
      active: { status: "not_delegating" },
      next: [{ status: "delegating", target: first, changes_at: starts }],
    });
    expect((await scenario.client.stakeKeys(staker)).ours[0]!.delegation).toEqual(await delegation(staker));
    const joined = [403, "pool_already_joined"];
    expect(await scenario.refused(ask(staker, join(first!)))).toEqual(joined);
  });

  it("abstains when it joins its pool again and has never voted, and is refused after that", async () => {
    const [first] = pools;
    const { id } = await scenario.createWallet({ coins: [100n * ADA, 100n * ADA] });
    await scenario.land(id, join(first!));
    expect((await ledger(id)).drep).toBeUndefined();
    const again = await scenario.client.joinPool(id, first!, PASSPHRASE);
    expect(again).toMatchObject({ status: "pending", deposit_taken: { quantity: 0 } });
    await paced.block();
    await scenario.untilInLedger(id, again.id);
    expect(await ledger(id)).toMatchObject({ pool: first, drep: "abstain" });
    expect(await scenario.refused(scenario.client.joinPool(id, first!, PASSPHRASE)))
      .toEqual([403, "pool_already_joined"]);
    expect(await scenario.refused(ask(id, { ...join(first!), vote: "abstain" })))
      .toEqual([403, "pool_already_joined_same_vote"]);
  });

  it("joins in one call, once for all repetitions, and abstains with it", async () => {
    const [first] = pools;
    const joined = await scenario.client.joinPool(voter, first!, PASSPHRASE, "once");
    expect(joined).toMatchObject({ status: "pending", deposit_taken: { quantity: 2_000_000 } });
    expect((await scenario.client.joinPool(voter, first!, PASSPHRASE, "once")).id).toBe(joined.id);
    const { epoch } = await paced.block();
    await scenario.untilInLedger(voter, joined.id);
    expect(await ledger(voter)).toMatchObject({ pool: first, drep: "abstain" });
    const target = { status: "delegating_and_voting", target: first, voting: "abstain" };
    expect((await delegation(voter)).next).toMatchObject([{ ...target, changes_at: { epoch_number: epoch + 2 } }]);
  });

  it("votes for existing representatives, in every form of their id, and refuses the same vote again", async () => {
    const stranger = new Stranger(scenario.devnet);
    await scenario.faucet(stranger.address, 3_000n * ADA);
    await paced.block();
    const script = csl.NativeScript.new_script_pubkey(
      csl.ScriptPubkey.new(csl.Ed25519KeyHash.from_hex(stranger.keyHash)),
    );
    const key = csl.Credential.from_keyhash(csl.Ed25519KeyHash.from_hex(stranger.keyHash));
    const [byKey, byScript] = [
      toBech32("drep_vkh", csl.Ed25519KeyHash.from_hex(stranger.keyHash).to_bytes()),
      toBech32("drep_script", script.hash().to_bytes()),
    ];
    const none = await scenario.refusal(scenario.constructSignSubmit(voter, { vote: byKey }));
    expect([none.status, none.code]).toEqual([403, "created_invalid_transaction"]);
    expect(JSON.stringify(none.details) + none.message).toContain("DRep");

    const { body: { drepDeposit } } = await http(scenario.devnet, "GET", "/parameters");
    const registered = [key, csl.Credential.from_scripthash(script.hash())].map((one) =>
      csl.Certificate.new_drep_registration(csl.DRepRegistration.new(one, csl.BigNum.from_str(String(drepDeposit))))
    );
    const made = await stranger.transaction({
      certificates: registered,
      deposit: 2n * BigInt(drepDeposit),
      scripts: [script],
    });
    await scenario.client.proxy(Uint8Array.from(csl.Transaction.from_hex(made).to_bytes()));
    await paced.block();

    const votes: (readonly [vote: string, expected: string, ledger: string])[] = [
      [byKey, "drep", `key:${stranger.keyHash}`],
      [byScript, "drep", `script:${script.hash().to_hex()}`],
      ["no_confidence", "no_confidence", "no confidence"],
    ];
    for (const [vote, expected, held] of votes) {
      const { signed, listed: { certificates, deposit_taken: taken } } = await scenario.land(voter, { vote });
      expect(readByCsl(signed).certificates.map((one) => Object.keys(one as object))).toEqual([["VoteDelegation"]]);
      expect(taken.quantity).toBe(0);
      expect(certificates).toMatchObject([{ certificate_type: "cast_vote", reward_account_path: account }]);
      expect(await ledger(voter)).toMatchObject({ pool: pools[0], drep: held });
      const { voting } = (await delegation(voter)).next.at(-1)!;
      expect(voting).toMatch(new RegExp(`^${expected}`));
      // the id that it returns is one that it accepts
      expect(await scenario.refused(ask(voter, { vote: voting }))).toEqual([403, "same_vote"]);
      if (expected === "drep") expect(toHex(fromBech32(voting!)!.bytes.subarray(1))).toBe(held.split(":")[1]);
    }
    expect(await scenario.refused(scenario.client.joinDrep(voter, "no_confidence", PASSPHRASE)))
      .toEqual([403, "same_vote"]);
    expect(await scenario.refused(ask(voter, { ...join(pools[0]!), vote: "no_confidence" })))
      .toEqual([403, "pool_already_joined_same_vote"]);
    const { id } = await scenario.client.joinDrep(voter, "abstain", PASSPHRASE);
    await paced.block();
    await scenario.untilInLedger(voter, id);
    expect((await ledger(voter)).drep).toBe("abstain");
  });

  it("earns; a forced rollback over the boundary removes the rewards, and the next boundary brings them back", async () => {
    let entered = await paced.enter(joinedIn + 2);
    await paced.read();
    expect(await delegation(staker)).toEqual({ active: { status: "delegating", target: pools[0] }, next: [] });
    let before = await rewards(staker);
    let left = entered.epoch;
    await until("there are rewards", async () => {
      left = await paced.epoch();
      entered = await paced.enter(entered.epoch + 1);
      const now = await rewards(staker);
      if (now > before) return true;
      before = now;
    }, 120_000);
    const earned = await rewards(staker);
    expect(entered.epoch).toBeGreaterThanOrEqual(joinedIn + 4);
    const { balance } = await scenario.client.wallet(staker);
    expect(BigInt(balance.total.quantity)).toBe(BigInt(balance.available.quantity) + earned);

    await scenario.rollbackTo(entered.height, true);
    expect(await paced.epoch()).toBe(left);
    expect(await rewards(staker)).toBe(before);
    expect((await scenario.client.wallet(staker)).tip.epoch_number).toBe(left);
    await paced.enter(entered.epoch);
    expect(await rewards(staker)).toBeGreaterThan(before);
    expect((await scenario.client.stakeKeys(staker)).ours[0]!.reward_balance.quantity)
      .toBe((await ledger(staker)).rewards);
  });

  it("cannot withdraw rewards before its vote is delegated: the ledger would refuse it", async () => {
    expect(await scenario.refused(ask(staker, quit))).toEqual([403, "non_null_rewards"]);
    const both = { withdrawal: "self", vote: "abstain" };
    for (const body of [{ withdrawal: "self" }, { ...quit, withdrawal: "self" }, both]) {
      expect(await scenario.refused(ask(staker, body))).toEqual([403, "withdrawal_not_possible_without_vote"]);
    }
    // only the vote, with a withdrawal inserted into it
    const { transaction } = await ask(staker, { vote: "abstain" });
    const forged = withWithdrawal(transaction, await stakeAddress(staker), await rewards(staker));
    const { transaction: signed } = await scenario.client.sign(staker, forged, PASSPHRASE);
    const refused = await scenario.refusal(scenario.client.proxy(bytesOf(signed)));
    expect([refused.status, refused.code]).toEqual([403, "created_invalid_transaction"]);
    expect(JSON.stringify(refused.details)).toContain("ConwayWdrlNotDelegatedToDRep");
  });

  it("withdraws and changes its vote in one transaction, which ends with the epoch", async () => {
    await scenario.land(staker, { vote: "abstain" });
    // a migration's balance includes the rewards that it withdraws
    const plan = await scenario.client.migrationPlan(staker, [await scenario.address(voter)]);
    const parts = plan.selections.flatMap(({ inputs, withdrawals }) => [...inputs, ...withdrawals]);
    expect(plan.selections.flatMap(({ withdrawals }) => withdrawals)).toHaveLength(1);
    expect(BigInt(plan.balance_selected.ada.quantity))
      .toBe(parts.reduce((sum, { amount }) => sum + BigInt(amount.quantity), 0n));
    const { due, sent: { built, signed }, listed } = await withdrawing(
      staker,
      () => scenario.constructSignSubmit(staker, { withdrawal: "self", vote: "no_confidence" }),
    );
    expect(due).toBeGreaterThan(0n);
    const address = await stakeAddress(staker);
    const read = readByCsl(signed);
    expect(read.withdrawals).toEqual({ [address]: due });
    expect(read.ttl! % BigInt(EPOCH_SLOTS)).toBe(0n);
    expect(listed.expires_at!.absolute_slot_number).toBe(Number(read.ttl));
    const shown = [{ stake_address: address, amount: { quantity: Number(due), unit: "lovelace" } }];
    expect(listed.withdrawals).toEqual(shown);
    expect(built.coin_selection.withdrawals).toMatchObject(shown);
    const decoded = await scenario.client.decode(staker, { transaction: signed });
    expect(decoded.withdrawals).toEqual([{ ...shown[0], context: "ours" }]);
    expect(await ledger(staker)).toMatchObject({ rewards: 0, drep: "no confidence" });
    expect(await rewards(staker)).toBe(0n);
    const withdrawals = await scenario.client.transactions(staker, { minWithdrawal: Number(due) });
    // those that came too late for their epoch are listed as expired
    expect(withdrawals.flatMap(({ id, status }) => status === "in_ledger" ? [id] : [])).toEqual([listed.id]);

    // without its block nothing is withdrawn; in the next epoch it is in the ledger again, or has expired
    await scenario.rollbackTo(listed.inserted_at!.height.quantity, true);
    expect(await rewards(staker)).toBe(due);
    expect((await scenario.client.transaction(staker, listed.id)).status).not.toBe("in_ledger");
    await paced.enter(await paced.epoch() + 1);
    await until("it is decided", async () => {
      await paced.block();
      return (await scenario.client.transaction(staker, listed.id)).status !== "pending";
    }, 60_000);
  });

  it("follows the ledger when its DRep deregisters: everything works on, without that vote", async () => {
    const { client } = scenario;
    const stranger = new Stranger(scenario.devnet);
    await scenario.faucet(stranger.address, 3_000n * ADA);
    await paced.block();
    const { body: { drepDeposit } } = await http(scenario.devnet, "GET", "/parameters");
    const key = csl.Credential.from_keyhash(csl.Ed25519KeyHash.from_hex(stranger.keyHash));
    const amount = csl.BigNum.from_str(String(drepDeposit));
    const act = async (certificate: csl.Certificate, deposit: bigint) => {
      const made = await stranger.transaction({ certificates: [certificate], deposit });
      await client.proxy(Uint8Array.from(csl.Transaction.from_hex(made).to_bytes()));
      await paced.block();
      await paced.read();
    };
    const register = () =>
      act(csl.Certificate.new_drep_registration(csl.DRepRegistration.new(key, amount)), BigInt(drepDeposit));
    const deregister = () =>
      act(csl.Certificate.new_drep_deregistration(csl.DRepDeregistration.new(key, amount)), -BigInt(drepDeposit));
    const vote = toBech32("drep_vkh", csl.Ed25519KeyHash.from_hex(stranger.keyHash).to_bytes());
    const pool = (await ledger(staker)).pool;
    const addresses = [await scenario.address(voter)];
    const newest = async () => {
      const { active, next } = await delegation(staker);
      return next.at(-1) ?? active;
    };

    await register();
    await scenario.land(staker, { vote });
    expect(await newest()).toMatchObject({ status: "delegating_and_voting", target: pool });
    await deregister();
    expect((await ledger(staker)).drep).toBeUndefined();
    expect(await newest()).toMatchObject({ status: "delegating", target: pool });
    await until("there are rewards", async () => {
      if (await rewards(staker) > 0n) return true;
      await paced.enter(await paced.epoch() + 1);
    }, 120_000);
    expect(await newest()).toMatchObject({ status: "delegating", target: pool });
    // the ledger takes no withdrawal of an account without a vote
    const refused = [403, "withdrawal_not_possible_without_vote"];
    const payments = [{ address: addresses[0]!, amount: lovelace(ADA) }];
    expect(await scenario.refused(ask(staker, { withdrawal: "self" }))).toEqual(refused);
    expect(await scenario.refused(ask(staker, { payments, withdrawal: "self" }))).toEqual(refused);
    expect(await scenario.refused(client.quitPool(staker, PASSPHRASE))).toEqual(refused);
    expect((await client.migrationPlan(staker, addresses)).selections.flatMap(({ withdrawals }) => withdrawals))
      .toEqual([]);
    // joining the same pool again abstains, and then all of it is possible
    const { id } = await client.joinPool(staker, pool!, PASSPHRASE);
    await paced.block();
    await scenario.untilInLedger(staker, id);
    expect(await newest()).toMatchObject({ status: "delegating_and_voting", voting: "abstain" });
    const plan = await client.migrationPlan(staker, addresses);
    expect(plan.selections.flatMap(({ withdrawals }) => withdrawals)).toHaveLength(1);
    await withdrawing(staker, () => scenario.constructSignSubmit(staker, { payments, withdrawal: "self" }));

    // a vote for the DRep that is registered again, and leaving the pool after its second end
    await register();
    await scenario.land(staker, { vote });
    await deregister();
    await register();
    expect((await ledger(staker)).drep).toBeUndefined();
    await scenario.land(staker, { vote });
    expect((await ledger(staker)).drep).toBe(`key:${stranger.keyHash}`);
  });

  it("changes pools without a deposit", async () => {
    const { listed } = await scenario.land(staker, join(pools[1]!));
    expect(listed).toMatchObject({ deposit_taken: { quantity: 0 }, deposit_returned: { quantity: 0 } });
    expect(listed.certificates).toMatchObject([{ certificate_type: "join_pool", pool: pools[1] }]);
    expect(await ledger(staker)).toMatchObject({ pool: pools[1], deposit: 2_000_000 });
    expect((await delegation(staker)).next.at(-1)).toMatchObject({ target: pools[1] });
  });

  it("redeems the rewards of a mnemonic into another wallet", async () => {
    const { client } = scenario;
    const [{ id }, { id: poor }] = [
      await scenario.createWallet({ coins: [100n * ADA] }),
      await scenario.createWallet(),
    ];
    const payment = { address: await scenario.address(id), amount: lovelace(ADA) };
    const body = { payments: [payment], withdrawal: [...words] };
    const due = await until("there are rewards", async () => {
      const earned = await rewards(staker);
      if (earned > 0n) return earned;
      await paced.enter(await paced.epoch() + 1);
    }, 120_000);
    expect(due).toBeGreaterThan(0n);
    // an account that the ledger does not know, a wallet without coins, too much money, and a Byron wallet
    const unknown = { ...body, withdrawal: newMnemonic(15) };
    const notBeneficial = await scenario.refusal(client.send("POST", `/wallets/${id}/payment-fees`, unknown));
    expect([notBeneficial.status, notBeneficial.code]).toEqual([403, "withdrawal_not_beneficial"]);
    expect(notBeneficial.message).toMatch(/^I've noticed that you're requesting a withdrawal from an account/);
    const pay = (wallet: string, over: object) =>
      client.send("POST", `/wallets/${wallet}/transactions`, { ...body, passphrase: PASSPHRASE, ...over });
    const tooMuch = { payments: [{ ...payment, amount: lovelace(10_000_000n * ADA) }] };
    const misspelt = { withdrawal: [...words.slice(1), "arbor"] };
    expect(await scenario.refused(pay(poor, {}))).toEqual([403, "no_utxos_available"]);
    expect(await scenario.refused(pay(id, tooMuch))).toEqual([403, "not_enough_money"]);
    expect(await scenario.refused(pay(id, misspelt))).toEqual([400, "bad_request"]);

    // an external signer gets the withdrawal with the path of its key
    const selected = await client.send<{ withdrawals: readonly object[] }>(
      "POST",
      `/wallets/${id}/coin-selections/random`,
      body,
    );
    expect(selected.withdrawals).toMatchObject([{
      stake_address: await stakeAddress(staker),
      derivation_path: account,
    }]);

    const keyed = crypto.randomUUID();
    const { due: redeemed, sent, listed } = await (async () => {
      for (;;) {
        const due = await rewards(staker);
        const fees = await client.send<FeeEstimate>("POST", `/wallets/${id}/payment-fees`, body);
        const sent = await client.send<Transaction>("POST", `/wallets/${id}/transactions`, {
          ...body,
          passphrase: PASSPHRASE,
        }, `${keyed}-${due}`).catch((error: ApiError) => {
          if (error.code !== "created_invalid_transaction") throw error;
        });
        await paced.block();
        await paced.read();
        const listed = sent && await client.transaction(id, sent.id);
        if (sent && listed?.status === "in_ledger") {
          expect(BigInt(sent.fee.quantity)).toBeGreaterThanOrEqual(BigInt(fees.estimated_min.quantity));
          expect(BigInt(sent.fee.quantity)).toBeLessThanOrEqual(BigInt(fees.estimated_max.quantity));
          return { due, sent, listed };
        }
        await paced.enter(await paced.epoch() + 1);
      }
    })();
    const shown = [{ stake_address: await stakeAddress(staker), amount: { quantity: Number(redeemed) } }];
    expect(sent).toMatchObject({ direction: "incoming", withdrawals: shown, status: "pending" });
    expect(BigInt(listed.amount.quantity)).toBe(redeemed - BigInt(sent.fee.quantity));
    // the wallet of the mnemonic lists the withdrawal as well
    expect(await client.transaction(staker, sent.id)).toMatchObject({ direction: "outgoing", withdrawals: shown });
    expect(await rewards(staker)).toBe(BigInt((await ledger(staker)).rewards));
    expect(await scenario.available(id)).toBe(100n * ADA + redeemed - BigInt(sent.fee.quantity));
    // the same key with the words of another account is another request
    expect(
      await scenario.refused(client.send("POST", `/wallets/${id}/transactions`, {
        ...body,
        withdrawal: newMnemonic(15),
        passphrase: PASSPHRASE,
      }, `${keyed}-${redeemed}`)),
    ).toEqual([409, "idempotency_key_reused"]);
  });

  it("quits with all its rewards, gets the deposit back, and pays it again when it joins again", async () => {
    const { due, sent: { built, signed }, listed } = await withdrawing(
      staker,
      () => scenario.constructSignSubmit(staker, { ...quit, withdrawal: "self" }),
    );
    expect(built.coin_selection.deposits_returned).toMatchObject([{ quantity: 2_000_000 }]);
    const read = readByCsl(signed);
    expect(read.certificates.map((one) => Object.keys(one as object))).toEqual([["StakeDeregistration"]]);
    expect(read.withdrawals).toEqual(due > 0n ? { [await stakeAddress(staker)]: due } : {});
    expect(listed).toMatchObject({
      deposit_returned: { quantity: 2_000_000 },
      deposit_taken: { quantity: 0 },
      certificates: [{ certificate_type: "quit_pool", reward_account_path: account }],
    });
    expect(await ledger(staker)).toMatchObject({ registered: false, rewards: 0 });
    expect(await rewards(staker)).toBe(0n);
    expect((await delegation(staker)).next.at(-1)).toMatchObject({ status: "not_delegating" });
    expect(await scenario.refused(ask(staker, quit))).toEqual([403, "not_delegating_to"]);
    const again = await scenario.land(staker, { ...join(pools[0]!), vote: "abstain" });
    expect(readByCsl(again.signed).certificates.map((one) => Object.keys(one as object))).toEqual([
      ["StakeRegistration"],
      ["StakeAndVoteDelegation"],
    ]);
    expect(again.listed.deposit_taken.quantity).toBe(2_000_000);
    expect(await ledger(staker)).toMatchObject({ registered: true, pool: pools[0], drep: "abstain" });

    const quitted = await withdrawing(voter, () => scenario.client.quitPool(voter, PASSPHRASE, crypto.randomUUID()));
    expect(quitted.listed.deposit_returned.quantity).toBe(2_000_000);
    expect((await delegation(voter)).next.at(-1)).toMatchObject({ status: "not_delegating" });
    const actors = await http(scenario.arbor.operator, "GET", "/actors?kind=delegation");
    expect([actors.status, JSON.stringify(actors.body)]).toEqual([200, expect.stringContaining("neither")]);
  });
});

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/**
 * A transaction (base 64) with an additional withdrawal, made by an independent library; incoming value goes to its
 * first output, less a larger fee.
 */
function withWithdrawal(transaction: string, address: string, amount: bigint): string {
  const body = csl.Transaction.from_bytes(bytesOf(transaction)).body();
  const more = csl.BigNum.from_str("10000");
  const due = csl.BigNum.from_str(String(amount));
  const outputs = csl.TransactionOutputs.new();
  for (let i = 0; i < body.outputs().len(); i++) {
    const output = body.outputs().get(i);
    const value = i > 0 ? output.amount() : output.amount().checked_add(csl.Value.new(due.checked_sub(more)));
    outputs.add(csl.TransactionOutput.new(output.address(), value));
  }
  const whole = csl.TransactionBody.new_tx_body(body.inputs(), outputs, body.fee().checked_add(more));
  whole.set_ttl(body.ttl_bignum()!);
  whole.set_certs(body.certs()!);
  const withdrawals = csl.Withdrawals.new();
  withdrawals.insert(csl.RewardAddress.from_address(csl.Address.from_bech32(address))!, due);
  whole.set_withdrawals(withdrawals);
  return csl.Transaction.new(whole, csl.TransactionWitnessSet.new()).to_hex();
}
