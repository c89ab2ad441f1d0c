/** API/Shelley/StakePools.hs, API/Shelley/Transactions/JoinPool.hs, API/Voting.hs and API/Conway.hs */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { expect } from "vitest";
import type { Transaction, Wallet } from "#src/client/wallets.ts";
import { flow, type Row, row, type Table } from "../table.ts";
import { noSuchWallet, WRONG_PASSPHRASE } from "../words.ts";
import { ADA, lovelace, MIN_UTXO, PASSPHRASE, payment, type World } from "../world.ts";

const ABSENT = "pool1mgjlw24rg8sp4vrzctqxtf2nn29rjhtkq2kdzvf4tcjd5pl547k";
const ABSENT_HEX = "da25f72aa341e01ab062c2c065a5539a8a395d7602acd131355e24da";
const PATH = ["1852H", "1815H", "0H", "2", "0"];
const noSuchPool = { status: 404, code: "no_such_pool", message: "I couldn't find any stake pool with the given id: " };
const NOT_DELEGATING = {
  status: 403,
  code: "not_delegating_to",
  message:
    "It seems that you're trying to retire from delegation although you're not even delegating, nor won't be in " +
    "an immediate future",
};

const joining = (world: World, id: string, pool: string, passphrase = PASSPHRASE) =>
  world.call("PUT", `/stake-pools/${pool}/wallets/${id}`, { passphrase });
const voting = (world: World, id: string, drep: string) =>
  world.call("PUT", `/dreps/${drep}/wallets/${id}`, { passphrase: PASSPHRASE });
const quitting = (world: World, id: string, passphrase = PASSPHRASE) =>
  world.call("DELETE", `/stake-pools/*/wallets/${id}`, { passphrase });
const construct = (world: World, id: string, body: unknown) =>
  world.call("POST", `/wallets/${id}/transactions-construct`, body);
const unsigned = (world: World, id: string, delegation_action: unknown) =>
  world.call("POST", `/wallets/${id}/coin-selections/random`, { delegation_action });
const join = (pool: string, stake_key_index = "0H") => ({ join: { pool, stake_key_index } });
const QUIT = { quit: { stake_key_index: "0H" } };
const deposit = (world: World) =>
  world.once("deposit", async () => {
    const { id } = await world.sharedFixture();
    const { deposit: amount } = await world.ok(200, "GET", `/wallets/${id}/delegation-fees`);
    return amount as { quantity: number; unit: "lovelace" };
  });

/** Waits until a wallet delegates and votes so, now or in the next epochs. */
const becomes = (world: World, id: string, target: string | undefined, vote: string | undefined) =>
  world.eventually(`${id} delegates to ${target} and votes ${vote}`, async () => {
    const { delegation } = await world.wallet(id);
    const last = delegation.next.at(-1) ?? delegation.active;
    expect([last.target, last.voting]).toEqual([target, vote]);
  });
const joined = async (world: World, id: string, pool: string) => {
  const sent: Transaction = world.check(await joining(world, id, pool), {
    status: 202,
    body: { status: "pending", direction: "outgoing" },
  });
  return await world.untilInLedger(id, sent.id);
};
const voted = async (world: World, id: string, drep: string) => {
  const sent: Transaction = world.check(await voting(world, id, drep), { status: 202 });
  await world.untilInLedger(id, sent.id);
};
/** A delegation in the newer workflow, and the certificates that decoding shows. */
const delegates = async (world: World, id: string, body: unknown, expected: readonly object[], taken = true) => {
  const amount = await deposit(world);
  const { id: hash, built, signed } = await world.send(id, body);
  expect([built.coin_selection.deposits_taken, built.coin_selection.deposits_returned]).toEqual([
    taken ? [amount] : [],
    [],
  ]);
  const decoded = await world.ok(202, "POST", `/wallets/${id}/transactions-decode`, { transaction: signed });
  expect(decoded).toMatchObject({
    certificates: expected.map((one) => ({ ...one, reward_account_path: PATH })),
    deposits_taken: taken ? [amount] : [],
    deposits_returned: [],
  });
  const listed = await world.untilInLedger(id, hash);
  expect(listed).toMatchObject({
    direction: "outgoing",
    deposit_taken: taken ? amount : lovelace(0),
    deposit_returned: lovelace(0),
  });
};
const REGISTER = { certificate_type: "register_reward_account" };
const joinsPool = (pool: string) => ({ certificate_type: "join_pool", pool });
const casts = (vote: string) => ({ certificate_type: "cast_vote", vote });
const small = (world: World) => world.walletWith([10n * ADA]);
const pools = async (world: World): Promise<[string, string]> => {
  const [first, second] = await world.pools();
  return [first!, second!];
};
const fee = (sent: Pick<Transaction, "fee">) => BigInt(sent.fee.quantity);
const kindsOf = (found: { certificates?: readonly { certificate_type: string }[] }) =>
  (found.certificates ?? []).map(({ certificate_type: kind }) => kind);
/** The cost of joining with this coin: fee and deposit. */
const costOfJoining = (world: World) =>
  world.once("cost of joining", async () => {
    const { id } = await world.walletWith([10n * ADA]);
    const sent: Transaction = world.check(await joining(world, id, (await pools(world))[0]), { status: 202 });
    return fee(sent) + BigInt((await deposit(world)).quantity);
  });
const poolRows: readonly Row[] = [
  flow("STAKE_POOLS_JOIN_01", async (world) => {
    const { id } = await world.deleted();
    world.check(await joining(world, id, ABSENT), noSuchWallet(id));
  }),
  flow("STAKE_POOLS_JOIN_01 (2)", async (world) => {
    world.check(await joining(world, (await world.sharedFixture()).id, ABSENT), {
      ...noSuchPool,
      body: { info: { pool_id: expect.stringMatching(new RegExp(`^(${ABSENT}|${ABSENT_HEX})$`)) } },
    });
  }),
  flow("STAKE_POOLS_JOIN_01 (3)", async (world) => {
    const [pool] = await pools(world);
    world.check(await joining(world, (await world.sharedFixture()).id, pool, "Wrong Passphrase"), WRONG_PASSPHRASE);
  }),
  flow("STAKE_POOLS_JOIN_01 (4)", async (world) => {
    const { id } = await world.fixtureWallet();
    const [first, second] = await pools(world);
    await joined(world, id, first);
    await becomes(world, id, first, "abstain");
    const { delegation: { next: [next] } } = await world.wallet(id);
    if (next) {
      const { node_tip: tip } = await world.ok(200, "GET", "/network/information");
      expect(next.changes_at.epoch_number - tip.epoch_number).toBeLessThanOrEqual(2);
      expect(next.status).toBe("delegating_and_voting");
    }
    await joined(world, id, second);
    await becomes(world, id, second, "abstain");
  }),
  flow("STAKE_POOLS_JOIN_02 (2)", async (world) => {
    const { id } = await small(world);
    const [pool] = await pools(world);
    await delegates(world, id, { delegations: [join(pool)] }, [REGISTER, joinsPool(pool)]);
    await becomes(world, id, pool, undefined);
    await joined(world, id, pool);
    await becomes(world, id, pool, "abstain");
    world.check(await joining(world, id, pool), { status: 403, code: "pool_already_joined" });
  }),
  flow("STAKE_POOLS_JOIN_02 (3)", async (world) => {
    const { id } = await small(world);
    const [pool] = await pools(world);
    await delegates(world, id, { vote: "abstain" }, [REGISTER, casts("abstain")]);
    await becomes(world, id, undefined, "abstain");
    await joined(world, id, pool);
    await becomes(world, id, pool, "abstain");
    world.check(await joining(world, id, pool), { status: 403, code: "pool_already_joined" });
  }),
  flow("STAKE_POOLS_JOIN_EMPTY", async (world) => {
    const [pool] = await pools(world);
    world.check(await joining(world, (await world.sharedEmpty()).id, pool), {
      status: 403,
      code: "no_utxos_available",
    });
  }),
  flow("STAKE_POOLS_QUIT_02", async (world) => {
    const { id } = await small(world);
    await joined(world, id, (await pools(world))[0]);
    world.check(await quitting(world, id, "Incorrect Passphrase"), WRONG_PASSPHRASE);
  }),
  flow("STAKE_POOL_NEXT_02/STAKE_POOLS_QUIT_01", async (world) => {
    world.check(await quitting(world, (await world.sharedFixture()).id), NOT_DELEGATING);
  }),
  flow("STAKE_POOLS_JOIN_UNSIGNED_01", async (world) => {
    const [pool] = await pools(world);
    const { id } = await world.sharedFixture();
    const found = world.check(await unsigned(world, id, { action: "join", pool }), {
      status: 200,
      body: { outputs: [] },
    });
    expect([found.inputs.length > 0, found.change.length > 0, ...kindsOf(found)]).toEqual([
      true,
      true,
      "register_reward_account",
      "join_pool",
    ]);
  }),
  flow("STAKE_POOLS_JOIN_UNSIGNED_04", async (world) => {
    const { id } = await world.sharedFixture();
    const pool = "pool1y25deq9kldy9y9gfvrpw8zt05zsrfx84zjhugaxrx9ftvwdpua2";
    world.check(await unsigned(world, id, { action: "join", pool }), noSuchPool);
  }),
  flow("STAKE_POOLS_QUIT_UNSIGNED_01", async (world) => {
    const { id } = await small(world);
    const [first, second] = await pools(world);
    await joined(world, id, first);
    await becomes(world, id, first, "abstain");
    world.check(await unsigned(world, id, { action: "join", pool: first }), {
      status: 403,
      code: "pool_already_joined",
      message: "I couldn't join a stake pool with the given id: ",
    });
    const other = world.check(await unsigned(world, id, { action: "join", pool: second }), { status: 200 });
    const quit = world.check(await unsigned(world, id, { action: "quit" }), { status: 200, body: { outputs: [] } });
    expect([kindsOf(other), kindsOf(quit), quit.change.length > 0]).toEqual([["join_pool"], ["quit_pool"], true]);
  }),
  flow("STAKE_POOLS_QUIT_UNSIGNED_02", async (world) => {
    world.check(await unsigned(world, (await world.sharedFixture()).id, { action: "quit" }), NOT_DELEGATING);
  }),
  flow("STAKE_POOLS_JOIN_01x", async (world) => {
    const { id } = await world.walletWith([await costOfJoining(world) + 2_200n]);
    await joined(world, id, (await pools(world))[0]);
  }),
  flow("STAKE_POOLS_JOIN_01x (2)", async (world) => {
    const { id } = await world.walletWith([await costOfJoining(world) - 20_000n]);
    world.check(await joining(world, id, (await pools(world))[0]), { status: 403, code: "cannot_cover_fee" });
  }),
  flow("STAKE_POOLS_QUIT_01xx", async (world) => {
    const amount = await deposit(world);
    const { id } = await world.walletWith([await costOfJoining(world) + 3n * MIN_UTXO]);
    await joined(world, id, (await pools(world))[0]);
    const sent: Transaction = world.check(await quitting(world, id), {
      status: 202,
      body: { status: "pending", direction: "incoming", deposit_taken: lovelace(0), deposit_returned: amount },
    });
    expect(await world.untilInLedger(id, sent.id)).toMatchObject({
      direction: "incoming",
      deposit_returned: amount,
    });
    await becomes(world, id, undefined, undefined);
    const { balance } = await world.wallet(id);
    expect(BigInt(balance.available.quantity)).toBeGreaterThanOrEqual(BigInt(amount.quantity));
  }),
  flow("STAKE_POOLS_QUIT_01x", async (world) => {
    const { id } = await world.walletWith([await costOfJoining(world) + 2_200n]);
    await joined(world, id, (await pools(world))[0]);
    world.check(await quitting(world, id), { status: 403, code: "no_utxos_available" });
  }),
  flow("STAKE_POOLS_ESTIMATE_FEE_01", async (world) => {
    const { id } = await world.sharedFixture();
    const found = await world.ok(200, "GET", `/wallets/${id}/delegation-fees`);
    expect([found.minimum_coins, found.deposit.quantity > 0]).toEqual([[], true]);
    expect(BigInt(found.estimated_min.quantity)).toBeLessThan(await costOfJoining(world));
    expect(BigInt(found.estimated_max.quantity)).toBeLessThan(await costOfJoining(world));
  }),
  row(
    "STAKE_POOLS_ESTIMATE_FEE_02",
    async (world) => ["GET", `/wallets/${(await world.sharedEmpty()).id}/delegation-fees`],
    { status: 403, code: "no_utxos_available" },
  ),
  flow("STAKE_KEY_LIST_01", async (world) => {
    const { id } = await world.fixtureWallet();
    const balance = lovelace(100_000_000_000);
    const shown = { foreign: [], ours: [{ index: 0, delegation: { active: { status: "not_delegating" } } }] };
    const path = `/wallets/${id}/stake-keys`;
    expect(await world.ok(200, "GET", path)).toMatchObject({ ...shown, ours: [{ ...shown.ours[0], stake: balance }] });
    const { fee: paid } = await world.pay(id, [payment(await world.address(id, 1), 95_000n * ADA)]);
    await world.untilAvailable(id, 100_000n * ADA - BigInt(paid.quantity));
    const found = await world.ok(200, "GET", path);
    expect(found).toMatchObject({ ...shown, none: { stake: lovelace(0) } });
    expect(found.ours[0].stake.quantity).toBeGreaterThan(0);
  }),
  flow("STAKE_KEY_LIST_02", async (world) => {
    const wallet = await world.walletWith([10_000n * ADA]);
    const [ours, theirs] = [await world.address(wallet.id), world.elsewhere[0]!]
      .map((address) => CSL.BaseAddress.from_address(CSL.Address.from_bech32(address))!) as [
        CSL.BaseAddress,
        CSL.BaseAddress,
      ];
    const mixed = CSL.BaseAddress.new(0, ours.payment_cred(), theirs.stake_cred()).to_address().to_bech32();
    await world.pay(wallet.id, [payment(mixed, 5_000n * ADA)]);
    await world.eventually("the other's stake key is listed", async () => {
      const found = await world.ok(200, "GET", `/wallets/${wallet.id}/stake-keys`);
      expect(found).toMatchObject({ foreign: [{ stake: lovelace(5_000_000_000) }], ours: [{}] });
      expect(found.ours[0].stake.quantity).toBeGreaterThan(0);
    });
  }),
  ...["ftp://localhost", "thats_not_link"].map((url): Row => ({
    ...row("STAKE_POOLS_SMASH_HEALTH_04", () => ["GET", `/smash/health?url=${url}`], {
      status: 400,
      code: "bad_request",
    }),
    what: url,
  })),
  row("STAKE_POOLS_LIST_05", () => ["GET", "/stake-pools"], { status: 400, code: "query_param_missing" }),
  flow("STAKE_POOLS_LIST_01", async (world) => {
    type Pool = { metrics: Record<string, { quantity: number }>; retirement?: object; margin: object; cost: object };
    const list = async (stake: string) => await world.ok(200, "GET", `/stake-pools?stake=${stake}`) as Pool[];
    const rewards = (one: Pool) => Number(one.metrics.non_myopic_member_rewards!.quantity);
    const found = await list("1000000000000");
    expect(found.length).toBeGreaterThan(1);
    for (const one of found) expect(one).toMatchObject({ margin: { unit: "percent" }, cost: { unit: "lovelace" } });
    expect(found.map(rewards)).toEqual(found.map(rewards).sort((a, b) => b - a));
    await world.eventually("pools have stake, blocks and rewards", async () => {
      const pools = await list("1000000000000");
      expect(pools.some(({ metrics }) => metrics.relative_stake!.quantity > 0)).toBe(true);
      expect(pools.some(({ metrics }) => metrics.produced_blocks!.quantity > 0)).toBe(true);
      const sum = async (stake: string) => (await list(stake)).reduce((all, one) => all + rewards(one), 0);
      expect(await sum("10000000000000000")).toBeGreaterThan(await sum("1000"));
    });
  }),
  // these need rewards
  flow("STAKE_POOLS_QUIT_03", async (world) => {
    const { id } = await world.rewardWallet();
    const amount = await deposit(world);
    await world.withdrawing(id, async () =>
      world.check(await quitting(world, id), {
        status: 202,
        body: { deposit_taken: lovelace(0), deposit_returned: amount },
      }));
  }),
];
export const stakePools: Table = { file: "Shelley.StakePools", rows: poolRows };

const refusedVote = { status: 403, code: "withdrawal_not_possible_without_vote" };
/** A wallet that delegates and has rewards, and never voted, cannot withdraw. */
const withoutVote = (id: string, withdraw: (world: World, wallet: Wallet) => ReturnType<World["call"]>) =>
  flow(id, async (world) => {
    const wallet = await world.walletWith([100_000n * ADA]);
    const [pool] = await pools(world);
    await delegates(world, wallet.id, { delegations: [join(pool)] }, [REGISTER, joinsPool(pool)]);
    await world.eventually("rewards come", async () => {
      expect(BigInt((await world.wallet(wallet.id)).balance.reward.quantity)).toBeGreaterThan(0n);
    });
    world.check(await withdraw(world, wallet), refusedVote);
  });

export const joinPool: Table = {
  file: "Shelley.Transactions.JoinPool",
  rows: [
    row(
      "TRANS_NEW_JOIN_01b (3)",
      async (world) => [
        "POST",
        `/wallets/${(await world.sharedFixture()).id}/transactions-construct`,
        { delegations: [join("1".repeat(32))] },
      ],
      { status: 400, code: "bad_request", message: "Invalid stake pool id" },
    ),
    row(
      "TRANS_NEW_JOIN_01b (4)",
      async (world) => [
        "POST",
        `/wallets/${(await world.sharedFixture()).id}/transactions-construct`,
        { delegations: [join(ABSENT)] },
      ],
      noSuchPool,
    ),
    row(
      "TRANS_NEW_JOIN_01c",
      async (world) => [
        "POST",
        `/wallets/${(await world.sharedFixture()).id}/transactions-construct`,
        { delegations: [join(ABSENT), QUIT] },
      ],
      { status: 403, code: "created_multidelegation_transaction" },
    ),
    row(
      "TRANS_NEW_JOIN_01d",
      async (world) => [
        "POST",
        `/wallets/${(await world.sharedFixture()).id}/transactions-construct`,
        { delegations: [join(ABSENT, "1H")] },
      ],
      { status: 403, code: "created_multiaccount_transaction" },
    ),
    flow("TRANS_NEW_JOIN_01f (2)", async (world) => {
      const { id } = await small(world);
      const [pool] = await pools(world);
      await delegates(world, id, { delegations: [join(pool)] }, [REGISTER, joinsPool(pool)]);
      const again = { delegations: [join(pool)], vote: "abstain" };
      const { id: hash } = await world.send(id, again);
      await world.untilInLedger(id, hash);
      await becomes(world, id, pool, "abstain");
      world.check(await construct(world, id, again), { status: 403, code: "pool_already_joined_same_vote" });
      world.check(await construct(world, id, { vote: "abstain" }), { status: 403, code: "same_vote" });
    }),
    flow("TRANS_NEW_JOIN_02", async (world) => {
      const { id } = await world.emptyWallet();
      const address = await world.address(id, 1);
      await world.bank.pay([1, 2, 3].map(() => ({ address, lovelace: 2n * MIN_UTXO })));
      await world.untilAvailable(id, 6n * MIN_UTXO);
      const [pool] = await pools(world);
      await delegates(world, id, { delegations: [join(pool)] }, [REGISTER, joinsPool(pool)]);
    }),
    flow("TRANS_NEW_QUIT_01", async (world) => {
      world.check(await construct(world, (await world.sharedFixture()).id, { delegations: [QUIT] }), NOT_DELEGATING);
    }),
    flow("TRANS_NEW_QUIT_02a", async (world) => {
      const { id } = await world.sharedReward();
      world.check(await construct(world, id, { delegations: [QUIT] }), { status: 403, code: "non_null_rewards" });
    }),
    flow("TRANS_NEW_QUIT_02b", async (world) => {
      const { id } = await world.rewardWallet();
      const body = { delegations: [QUIT], withdrawal: "self" };
      const { built } = await world.withdrawing(id, () => world.send(id, body));
      expect([built.coin_selection.deposits_returned, built.coin_selection.deposits_taken]).toEqual([
        [await deposit(world)],
        [],
      ]);
    }),
    flow("TRANS_NEW_JOIN_01e", async (world) => {
      const { id, delegation } = await world.rewardWallet();
      const [first, second] = await pools(world);
      const pool = delegation.active.target === first ? second : first;
      const body = { delegations: [join(pool)], withdrawal: "self" };
      const { id: hash } = await world.withdrawing(id, () => world.send(id, body));
      const listed = await world.untilInLedger(id, hash);
      expect([listed.withdrawals.length, listed.metadata ?? undefined]).toEqual([1, undefined]);
      await becomes(world, id, pool, "abstain");
    }),
    withoutVote("TRANS_NEW_JOIN_01b", async (world, { id }) => {
      const payments = [payment(world.elsewhere[0]!, MIN_UTXO)];
      return await construct(world, id, { payments, withdrawal: "self" });
    }),
    withoutVote("TRANS_NEW_JOIN_01a (2)", async (world, { id }) => {
      const payments = [payment(world.elsewhere[0]!, MIN_UTXO)];
      return await world.call("POST", `/wallets/${id}/transactions`, {
        payments,
        withdrawal: "self",
        passphrase: PASSPHRASE,
      });
    }),
  ],
};

const sameVote = { status: 403, code: "same_vote" };

export const votes: Table = {
  file: "Voting",
  rows: [
    flow("VOTING_01a", async (world) => {
      const { id } = await small(world);
      const [pool] = await pools(world);
      await delegates(world, id, { vote: "no_confidence" }, [REGISTER, casts("no_confidence")]);
      await becomes(world, id, undefined, "no_confidence");
      await delegates(world, id, { vote: "abstain" }, [casts("abstain")], false);
      await delegates(world, id, { delegations: [join(pool)] }, [joinsPool(pool)], false);
      await becomes(world, id, pool, "abstain");
    }),
    flow("VOTING_01c", async (world) => {
      const { id } = await small(world);
      const [first, second] = await pools(world);
      const both = (pool: string, vote: string) => ({ delegations: [join(pool)], vote });
      await delegates(world, id, both(first, "abstain"), [REGISTER, joinsPool(first), casts("abstain")]);
      await becomes(world, id, first, "abstain");
      await delegates(
        world,
        id,
        both(second, "no_confidence"),
        [joinsPool(second), casts("no_confidence")],
        false,
      );
      await becomes(world, id, second, "no_confidence");
      const { built, id: hash } = await world.send(id, { delegations: [QUIT] });
      expect(built.coin_selection.deposits_returned).toEqual([await deposit(world)]);
      await world.untilInLedger(id, hash);
      await becomes(world, id, undefined, undefined);
    }),
    flow("VOTING_01f", async (world) => {
      const { id } = await small(world);
      for (const vote of ["abstain", "no_confidence"]) {
        await voted(world, id, vote);
        await becomes(world, id, undefined, vote);
      }
      world.check(await voting(world, id, "no_confidence"), sameVote);
    }),
    flow("VOTING_01g", async (world) => {
      const { id } = await small(world);
      const [pool] = await pools(world);
      await joined(world, id, pool);
      await becomes(world, id, pool, "abstain");
      await voted(world, id, "no_confidence");
      await becomes(world, id, pool, "no_confidence");
      world.check(await voting(world, id, "no_confidence"), sameVote);
    }),
    flow("VOTING_01h", async (world) => {
      const { id } = await small(world);
      await voted(world, id, "no_confidence");
      await becomes(world, id, undefined, "no_confidence");
      for (const pool of await pools(world)) {
        await joined(world, id, pool);
        await becomes(world, id, pool, "no_confidence");
      }
    }),
    flow("VOTING_01i", async (world) => {
      const { id } = await small(world);
      const [first, second] = await pools(world);
      await joined(world, id, first);
      await becomes(world, id, first, "abstain");
      await voted(world, id, "no_confidence");
      await becomes(world, id, first, "no_confidence");
      await joined(world, id, second);
      await becomes(world, id, second, "no_confidence");
    }),
    flow("VOTING_01j", async (world) => {
      const { id, words } = await small(world);
      await voted(world, id, "no_confidence");
      await becomes(world, id, undefined, "no_confidence");
      await world.ok(204, "DELETE", `/wallets/${id}`);
      await world.emptyWallet({ words });
      await becomes(world, id, undefined, "no_confidence");
      const [pool] = await pools(world);
      await world.eventually("it is ready", async () => {
        expect((await world.wallet(id)).state.status).toBe("ready");
      });
      await joined(world, id, pool);
      await becomes(world, id, pool, "no_confidence");
    }),
  ],
};

export const conway: Table = {
  file: "Conway",
  rows: [
    flow("VOTING_01a", async (world) => {
      const { id } = await small(world);
      await delegates(world, id, { vote: "no_confidence" }, [REGISTER, casts("no_confidence")]);
      await becomes(world, id, undefined, "no_confidence");
      await delegates(world, id, { vote: "abstain" }, [casts("abstain")], false);
      await becomes(world, id, undefined, "abstain");
    }),
  ],
};

export const blocks: Table = {
  file: "Blocks",
  rows: [
    flow("LATEST_BLOCK", (world) =>
      world.eventually("a block is there", async () => {
        world.check(await world.call("GET", "/blocks/latest/header"), {
          status: 200,
          body: { header_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
        });
      })),
  ],
};
