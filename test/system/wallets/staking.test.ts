/** A wallet's stake over HTTP: joining, voting, rewards, withdrawing before the boundary, changing pools, quitting; what is refused, and why. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { type Answer, http } from "../../support/user.ts";

const PASSPHRASE = "Secure Passphrase";
const EPOCH_SLOTS = 80;

describe("a wallet's stake", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  let id = "";
  let pools: string[] = [];

  const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
    http(arbor.wallets, method, path, body);
  const wallet = async () => (await ask("GET", `/wallets/${id}`)).body;
  const landed = (hash: string) =>
    until(`${hash} is in the ledger`, async () => {
      const { body } = await ask("GET", `/wallets/${id}/transactions/${hash}`);
      if (body.status === "expired") throw new Error("it expired");
      return body.status === "in_ledger" && body;
    });
  const join = (pool: string, passphrase = PASSPHRASE) =>
    ask("PUT", `/stake-pools/${pool}/wallets/${id}`, { passphrase });
  const refused = (answer: Answer) => [answer.status, answer.body.code];

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({
      infra,
      blockMs: 100,
      env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "2" },
    });
    client = new WalletClient(arbor.wallets);
    const created = await client.create({ name: "Staker", mnemonic_sentence: newMnemonic(15), passphrase: PASSPHRASE });
    id = created.id;
    const [first] = await client.addresses(id);
    for (let i = 0; i < 3; i++) {
      const paid = await http(arbor.devnet, "POST", "/faucet", { address: first!.id, lovelace: 300_000_000_000 });
      expect(paid.status).toBe(200);
    }
    await until("paid", async () => (await wallet()).balance.available.quantity === 900_000_000_000);
    pools = (await client.stakePools(900_000_000_000n)).map((pool) => pool.id);
    expect(pools).toHaveLength(2);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("belongs to nobody at first, and joining costs a deposit", async () => {
    expect((await wallet()).delegation).toEqual({ active: { status: "not_delegating" }, next: [] });
    const fees = await client.delegationFees(id);
    expect(fees).toMatchObject({ deposit: { quantity: 2_000_000 }, estimated_min: { unit: "lovelace" } });
    expect(fees.estimated_min.quantity).toBeGreaterThan(160_000);
    expect(await client.stakeKeys(id)).toEqual({
      ours: [{
        index: 0,
        key: expect.stringMatching(/^stake_test1/),
        stake: { quantity: 900_000_000_000, unit: "lovelace" },
        reward_balance: { quantity: 0, unit: "lovelace" },
        delegation: { active: { status: "not_delegating" }, next: [] },
      }],
      foreign: [],
      none: { stake: { quantity: 0, unit: "lovelace" } },
    });
  });

  it("cannot go to a pool that is none, with a wrong passphrase, or from where it is not", async () => {
    const unknown = await join("00".repeat(28));
    expect(refused(unknown)).toEqual([404, "no_such_pool"]);
    expect(unknown.body.info).toEqual({ pool_id: "00".repeat(28) });
    expect(refused(await join(pools[0]!, "Another Passphrase"))).toEqual([403, "wrong_encryption_passphrase"]);
    const delegations = [{ join: { pool: "00".repeat(28), stake_key_index: "0H" } }];
    expect(refused(await ask("POST", `/wallets/${id}/transactions-construct`, { delegations })))
      .toEqual([404, "no_such_pool"]);
    expect(refused(await ask("DELETE", `/stake-pools/*/wallets/${id}`, { passphrase: PASSPHRASE })))
      .toEqual([403, "not_delegating_to"]);
    expect((await ask("DELETE", `/stake-pools/${pools[0]}/wallets/${id}`, { passphrase: PASSPHRASE })).status).toBe(
      405,
    );
    expect((await join("pool1nonsense")).status).toBe(400);
    expect(refused(await ask("PUT", `/stake-pools/${pools[0]}/wallets/${"0".repeat(40)}`, { passphrase: PASSPHRASE })))
      .toEqual([404, "no_such_wallet"]);
  });

  it("joins a pool, abstaining, and counts two epochs later", async () => {
    const joined = await client.joinPool(id, pools[0]!, PASSPHRASE, "join-once");
    // asked again it is the same one
    expect((await client.joinPool(id, pools[0]!, PASSPHRASE, "join-once")).id).toBe(joined.id);
    expect(joined).toMatchObject({
      status: "pending",
      direction: "outgoing",
      deposit_taken: { quantity: 2_000_000 },
    });
    const { inserted_at: place } = await landed(joined.id);
    const { delegation } = await wallet();
    const from = place.epoch_number + 2;
    const target = { status: "delegating_and_voting", target: pools[0], voting: "abstain" };
    if (delegation.next.length > 0) {
      expect(delegation.next).toEqual([{
        ...target,
        changes_at: { epoch_number: from, epoch_start_time: expect.stringMatching(/Z$/) },
      }]);
    }
    expect(refused(await join(pools[0]!))).toEqual([403, "pool_already_joined"]);
    await until("it counts", async () => (await wallet()).delegation.next.length === 0);
    expect((await wallet()).delegation).toEqual({ active: target, next: [] });
    const { body } = await ask("GET", "/network/information");
    expect(body.node_tip.epoch_number).toBeGreaterThanOrEqual(from);
  });

  it("votes otherwise, not twice alike", async () => {
    await landed((await client.joinDrep(id, "no_confidence", PASSPHRASE)).id);
    expect(refused(await ask("PUT", `/dreps/no_confidence/wallets/${id}`, { passphrase: PASSPHRASE })))
      .toEqual([403, "same_vote"]);
    expect(refused(await ask("PUT", `/dreps/nobody/wallets/${id}`, { passphrase: PASSPHRASE })))
      .toEqual([400, "bad_request"]);
  });

  it("earns, and withdraws before the next rewards come", async () => {
    await until("there are rewards", async () => (await wallet()).balance.reward.quantity > 0, 60_000);
    const quitting = { delegations: [{ quit: { stake_key_index: "0H" } }] };
    expect(refused(await ask("POST", `/wallets/${id}/transactions-construct`, quitting))).toEqual([
      403,
      "non_null_rewards",
    ]);
    // a boundary may come between any two of these: then what was built is worth nothing, and is made anew
    const withdrawn = await until("a withdrawal is in the ledger", async () => {
      const built = await ask("POST", `/wallets/${id}/transactions-construct`, { withdrawal: "self" });
      expect(built.status, JSON.stringify(built.body)).toBe(202);
      const [withdrawal] = built.body.coin_selection.withdrawals;
      expect(withdrawal.stake_address).toMatch(/^stake_test1/);
      const { transaction } = built.body;
      const decoded = (await ask("POST", `/wallets/${id}/transactions-decode`, { transaction })).body;
      expect(decoded.withdrawals).toEqual([{ ...pick(withdrawal), context: "ours" }]);
      const end = decoded.validity_interval.invalid_hereafter.quantity;
      expect(end % EPOCH_SLOTS).toBe(0);
      const signed = await ask("POST", `/wallets/${id}/transactions-sign`, { transaction, passphrase: PASSPHRASE });
      const sent = await ask("POST", `/wallets/${id}/transactions-submit`, { transaction: signed.body.transaction });
      return sent.status === 202 && await landed(sent.body.id).catch(() => undefined);
    }, 60_000);
    expect(withdrawn.withdrawals[0].amount.quantity).toBeGreaterThan(0);
    expect(withdrawn.expires_at.absolute_slot_number % EPOCH_SLOTS).toBe(0);
  });

  it("changes pools without a deposit", async () => {
    const joined = await join(pools[1]!);
    expect(joined.status).toBe(202);
    const there = await landed(joined.body.id);
    expect(there).toMatchObject({ deposit_taken: { quantity: 0 }, deposit_returned: { quantity: 0 } });
    expect(there.certificates).toMatchObject([{ certificate_type: "join_pool", pool: pools[1] }]);
  });

  it("quits, and gets deposit and rewards back", async () => {
    const quit = await until("the quit is in the ledger", async () => {
      const sent = await client.quitPool(id, PASSPHRASE).catch(() => undefined);
      return sent && await landed(sent.id).catch(() => undefined);
    }, 60_000);
    expect(quit.deposit_returned.quantity).toBe(2_000_000);
    await until("no rewards are left", async () => (await wallet()).balance.reward.quantity === 0);
    await until("it counts", async () => (await wallet()).delegation.next.length === 0);
    expect((await wallet()).delegation).toEqual({ active: { status: "not_delegating" }, next: [] });
    const [key] = (await client.stakeKeys(id)).ours;
    expect(key!.reward_balance.quantity).toBe(0);
    const operator = await http(arbor.operator, "GET", "/actors?kind=delegation");
    expect(operator.status).toBe(200);
    expect(JSON.stringify(operator.body)).toContain("neither");
  });
});

const pick = ({ stake_address, amount }: { stake_address: string; amount: unknown }) => ({ stake_address, amount });
