/**
 * A wallet as a representative: it registers, delegates its vote to itself, proposes, votes, and its vote enacts what it
 * proposed; what the wallet shows of it is the ledger's state at the tip, also after rollbacks. The devnet makes blocks only
 * on request.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import { follow } from "#src/client/sse.ts";
import { childHash } from "#src/cardano/keys/account.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { lovelace } from "#src/client/wallets.ts";
import { Paced } from "../../support/service/pacedScenario.ts";
import { ADA, PASSPHRASE, Scenario, scenarioProvider } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const EPOCH_SLOTS = 100;
const DEPOSIT = 500n * ADA;
const ACTION_DEPOSIT = 100_000n * ADA;
const PAYMENT = 5n * ADA;
const RETURNED = ACTION_DEPOSIT + PAYMENT;
const anchor = { url: "https://example.org/drep.jsonld", data_hash: "17".repeat(32) };
const why = { url: "https://example.org/why.jsonld", data_hash: "18".repeat(32) };
/** What the provider reports of representatives: a node all, Blockfrost neither expiry nor deposit, Yaci Store nothing. */
const REPORTS = scenarioProvider !== "yaci";
const REPORTS_ALL = REPORTS && scenarioProvider !== "blockfrost";
/** Whether it reports actions; otherwise the ledger refuses when the transaction is submitted. */
const REPORTS_ACTIONS = scenarioProvider === "devnet" || scenarioProvider === "blockfrost";
const drepPath = ["1852H", "1815H", "0H", "3", "0"];
const stakePath = ["1852H", "1815H", "0H", "2", "0"];

describe("a wallet as a representative", () => {
  let scenario: Scenario;
  let paced: Paced;
  let id: string;
  let drep: string;
  let keyHash: string;
  let reward: string;
  /** Hashes of transactions in the order of blocks. */
  let registered: string;
  let proposed: string;
  let voted: string;
  let action: string;

  const state = async () => {
    await paced.read();
    return await scenario.client.governance(id);
  };
  const status = (known: string) => REPORTS ? known : "unknown";
  const landed = async (hash: string) => {
    await paced.block();
    await paced.read();
    return await scenario.untilInLedger(id, hash);
  };
  const votes = (vote: "yes" | "no" | "abstain", of: string) => ({
    passphrase: PASSPHRASE,
    votes: [{ action: of, vote }],
  });
  const register = (more: object = { anchor }) => scenario.client.registerDrep(id, { passphrase: PASSPHRASE, ...more });
  const total = async (of = id) => {
    const { balance } = await scenario.client.wallet(of);
    return { total: BigInt(balance.total.quantity), reward: BigInt(balance.reward.quantity) };
  };

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "1" } });
    paced = new Paced(scenario, EPOCH_SLOTS);
    await paced.block();
    ({ id } = await scenario.createWallet({ coins: [150_000n, 1_000n, 1_000n, 1_000n].map((ada) => ada * ADA) }));
    const account = await scenario.client.get<string>(`/wallets/${id}/keys?format=extended`);
    keyHash = childHash(toHex(fromBech32(account)!.bytes), ROLES.drep, 0);
    drep = drepId({ kind: "key", hash: keyHash });
    reward = (await scenario.client.stakeKeys(id)).ours[0]!.key;
  }, 120_000);
  afterAll(() => scenario?.stop());

  it("is none at first: it cannot vote, change its metadata or retire", async () => {
    expect(await state()).toEqual({
      drep: {
        id: drep,
        key_hash: keyHash,
        derivation_path: drepPath,
        status: status("not_registered"),
        ...(REPORTS ? { voting_power: { quantity: "0", unit: "lovelace" } } : {}),
      },
    });
    const { client } = scenario;
    const some = `${"00".repeat(32)}#0`;
    const requests = [
      () => client.updateDrep(id, { passphrase: PASSPHRASE }),
      () => client.deregisterDrep(id, PASSPHRASE),
      ...(REPORTS ? [() => client.castVotes(id, votes("yes", some))] : []),
    ];
    for (const request of requests) {
      expect(await scenario.refused(request())).toEqual([403, "drep_not_registered"]);
    }
    for (const text of ["gov_action1nonsense", "00".repeat(32), `${"00".repeat(32)}#65536`, drep]) {
      const refusal = await scenario.refusal(client.castVotes(id, votes("yes", text)));
      expect([refusal.status, refusal.code]).toEqual([400, "bad_request"]);
      expect(refusal.message).toContain("Invalid id of a governance action");
    }
    const poor = await scenario.createWallet({ coins: [300n * ADA] });
    expect(await scenario.refused(client.registerDrep(poor.id, { passphrase: PASSPHRASE }))).toEqual([
      403,
      "not_enough_money",
    ]);
    expect(await scenario.refused(register({ passphrase: "Another Passphrase" }))).toEqual([
      403,
      "wrong_encryption_passphrase",
    ]);
  }, 60_000);

  it("registers for a deposit, and the block with it makes that visible at once", async () => {
    const before = await total();
    const sent = await register();
    registered = sent.id;
    // the pending registration counts, before any block has it
    expect(await scenario.refused(register())).toEqual([403, "drep_already_registered"]);
    const listed = await landed(sent.id);
    expect(listed).toMatchObject({
      direction: "outgoing",
      deposit_taken: lovelace(Number(DEPOSIT)),
      certificates: [{
        certificate_type: "register_drep",
        drep,
        drep_path: drepPath,
        deposit: lovelace(Number(DEPOSIT)),
        anchor,
      }],
    });
    expect(BigInt(listed.amount.quantity)).toBe(DEPOSIT + BigInt(listed.fee.quantity));
    expect((await total()).total).toBe(before.total - DEPOSIT - BigInt(listed.fee.quantity));
    const { drep: shown } = await state();
    expect(shown).toEqual({
      id: drep,
      key_hash: keyHash,
      derivation_path: drepPath,
      status: status("active"),
      ...(REPORTS ? { voting_power: { quantity: "0", unit: "lovelace" }, anchor } : {}),
      ...(REPORTS_ALL
        ? { deposit: lovelace(Number(DEPOSIT)), expiry_epoch: expect.any(Number) as unknown as number }
        : {}),
    });
    if (REPORTS) expect(await scenario.client.drep(drep)).toMatchObject({ id: drep, status: "active" });
    expect(await scenario.refused(register())).toEqual([403, "drep_already_registered"]);

    // without its block it is registered in no ledger, and with the next block again
    await scenario.rollback(1);
    expect((await state()).drep.status).toBe(status("not_registered"));
    expect((await scenario.client.transaction(id, registered)).status).toBe("pending");
    await landed(registered);
    expect((await state()).drep.status).toBe(status("active"));
  }, 60_000);

  it("delegates its vote to itself: the ledger's state says so at once", async () => {
    const sent = await scenario.client.joinDrep(id, drep, PASSPHRASE);
    await landed(sent.id);
    const held = (await total()).total;
    const { vote, drep: own } = await state();
    expect(vote).toMatchObject({ id: drep, status: status("active") });
    // what counts is the stake at the last epoch boundary; Blockfrost shows that of now
    const power = REPORTS_ALL ? 0n : held;
    if (REPORTS) expect(own.voting_power).toEqual({ quantity: String(power), unit: "lovelace" });
  }, 60_000);

  it("pays the deposit of a proposal, and lists what it proposes", async () => {
    const { client } = scenario;
    const before = (await total()).total;
    const proposal: Encodable = [
      ACTION_DEPOSIT,
      fromHex(addressHex(reward)),
      [2, new Map([[fromHex(addressHex(reward)), PAYMENT]]), null],
      [anchor.url, fromHex(anchor.data_hash)],
    ];
    const partial = encode([
      new Map<Encodable, Encodable>([[0, new Tagged(258, [])], [1, []], [2, 0], [20, new Tagged(258, [proposal])]]),
      new Map(),
      true,
      null,
    ]);
    const { transaction, coin_selection } = await client.balance(id, { transaction: toHex(partial) });
    expect(coin_selection.deposits_taken).toEqual([lovelace(Number(ACTION_DEPOSIT))]);
    const decoded = await client.decode(id, { transaction });
    expect(decoded.deposits_taken).toEqual([lovelace(Number(ACTION_DEPOSIT))]);
    const signed = await client.sign(id, transaction, PASSPHRASE);
    proposed = (await client.submit(id, signed.transaction)).id;
    action = `${proposed}#0`;
    const listed = await landed(proposed);
    const shown = {
      id: actionText({ txHash: proposed, index: 0 }),
      action: "treasury",
      deposit: lovelace(Number(ACTION_DEPOSIT)),
      return_account: reward,
      return_account_path: stakePath,
      anchor,
    };
    expect(decoded.proposals).toEqual([shown]);
    expect(listed).toMatchObject({ proposals: [shown], deposit_taken: lovelace(Number(ACTION_DEPOSIT)) });
    expect(listed.votes).toBeUndefined();
    expect(BigInt(listed.amount.quantity)).toBe(ACTION_DEPOSIT + BigInt(listed.fee.quantity));
    expect((await total()).total).toBe(before - ACTION_DEPOSIT - BigInt(listed.fee.quantity));
  }, 60_000);

  it("votes, with the signature of its DRep key where that is needed and nowhere else", async () => {
    const { client } = scenario;
    expect(await scenario.refused(client.castVotes(id, votes("yes", `${"00".repeat(32)}#0`)))).toEqual([
      404,
      "no_such_action",
    ]);
    const body = { governance: { votes: [{ action, vote: "no" as const, anchor: why }] } };
    const built = await client.construct(id, body);
    const shown = {
      voter_role: "drep",
      voter: drep,
      derivation_path: drepPath,
      action: actionText({ txHash: proposed, index: 0 }),
      vote: "no",
      anchor: why,
    };
    expect(built.coin_selection.votes).toEqual([shown]);
    const signed = await client.sign(id, built.transaction, PASSPHRASE);
    const decoded = await client.decode(id, { transaction: signed.transaction });
    expect(decoded.votes).toEqual([shown]);
    const inputs = new Set(decoded.inputs.map(({ address }) => address)).size;
    expect(decoded.witness_count.verification_key).toBe(inputs + 1);
    const plain = await client.construct(id, {
      payments: [{ address: await scenario.address(id), amount: lovelace(2_000_000) }],
    });
    const { transaction } = await client.sign(id, plain.transaction, PASSPHRASE);
    const other = await client.decode(id, { transaction });
    expect(other.witness_count.verification_key).toBe(new Set(other.inputs.map(({ address }) => address)).size);
    // a transaction that lacks the DRep key's signature is not sent
    expect(await scenario.refused(client.submit(id, built.transaction))).toEqual([
      403,
      "missing_witnesses_in_transaction",
    ]);
    const first = (await client.submit(id, signed.transaction)).id;
    expect((await landed(first)).votes).toEqual([shown]);

    // a later vote replaces the earlier one
    const yes = () => client.castVotes(id, votes("yes", actionText({ txHash: proposed, index: 0 })), "vote-1");
    voted = (await yes()).id;
    // a repeated request votes once
    expect((await yes()).id).toBe(voted);
    expect(await scenario.refused(client.castVotes(id, votes("no", action), "vote-1"))).toEqual([
      409,
      "idempotency_key_reused",
    ]);
    expect((await landed(voted)).votes).toMatchObject([{ voter: drep, vote: "yes" }]);
    await scenario.rollback(1);
    await paced.read();
    expect((await client.transaction(id, voted)).status).toBe("pending");
    await landed(voted);
  }, 60_000);

  it("decides with its vote, and gets the deposit and the payment in its reward account", async () => {
    const before = (await total()).reward;
    const epoch = await paced.epoch();
    await paced.enter(epoch + 1);
    await paced.enter(epoch + 2);
    await paced.enter(epoch + 3);
    const { body } = await http(scenario.devnet, "GET", `/governance/actions/${encodeURIComponent(action)}`);
    expect(body).toMatchObject({ enacted: expect.any(Number), votes: { drep: { yes: 1 } } });
    await paced.read();
    // the Yaci Store of the tests reports rewards of pools alone
    if (REPORTS) await until("the rewards", async () => (await total()).reward >= before + RETURNED, 60_000);
    if (REPORTS) expect(BigInt((await state()).drep.voting_power!.quantity)).toBeGreaterThan(ACTION_DEPOSIT / 2n);
    const refused = await scenario.refused(scenario.client.castVotes(id, votes("no", action)));
    // the ledger forgets actions that have ended
    expect(refused).toEqual(REPORTS_ACTIONS ? [403, "action_expired"] : [404, "no_such_action"]);
  }, 120_000);

  it("replaces its metadata, and retires: the deposit comes back, and the vote ends with it", async () => {
    const { client } = scenario;
    const updated = await client.updateDrep(id, { passphrase: PASSPHRASE, anchor: why });
    expect(await landed(updated.id)).toMatchObject({
      certificates: [{ certificate_type: "update_drep", drep, anchor: why }],
      deposit_taken: lovelace(0),
    });
    if (REPORTS) expect((await state()).drep).toMatchObject({ status: "active", anchor: why });

    const before = (await total()).total;
    const ended = await landed((await client.deregisterDrep(id, PASSPHRASE)).id);
    expect(ended).toMatchObject({
      certificates: [{ certificate_type: "unregister_drep", drep, deposit: lovelace(Number(DEPOSIT)) }],
      deposit_returned: lovelace(Number(DEPOSIT)),
      direction: "incoming",
    });
    expect((await total()).total).toBe(before + DEPOSIT - BigInt(ended.fee.quantity));
    const { drep: own, vote } = await state();
    expect(own.status).toBe(status("not_registered"));
    expect(own.anchor).toBeUndefined();
    expect(vote).toBeUndefined();
    if (REPORTS) expect(await scenario.refused(client.drep(drep))).toEqual([404, "not_found"]);

    // registered again, it has the vote of no one until the account votes again; one transaction can do both
    const { listed } = await scenario.land(id, { governance: { drep: { action: "register" } }, vote: drep });
    expect(listed.certificates).toMatchObject([{ certificate_type: "register_drep" }, {
      certificate_type: "cast_vote",
    }]);
    expect((await state()).vote).toMatchObject({ id: drep, status: status("active") });
  }, 60_000);

  it("sends an event for each transaction with a part in governance", async () => {
    const ended = new AbortController();
    const seen = new Map<string, Record<string, unknown>>();
    for await (const item of follow(`${scenario.arbor.operator}/events?from=start`, { signal: ended.signal })) {
      if (item.type !== "event" || item.event.event !== "transition") continue;
      const { type, data } = JSON.parse(item.event.data) as {
        type: string;
        data: { entity: { id: string }; content: { hash: string } };
      };
      if (type !== "arbor.wallet.governed" || data.entity.id !== id) continue;
      seen.set(data.content.hash, data.content);
      if ([registered, proposed, voted].every((hash) => seen.has(hash))) break;
    }
    ended.abort();
    expect(seen.get(registered)).toMatchObject({
      certificates: [{ kind: "register_drep", credential: `key-${keyHash}`, deposit: String(DEPOSIT) }],
    });
    expect(seen.get(proposed)).toMatchObject({
      proposals: [{ action, kind: "treasury", deposit: String(ACTION_DEPOSIT) }],
    });
    expect(seen.get(voted)).toMatchObject({
      votes: [{ role: "drep", credential: `key-${keyHash}`, action, vote: "yes" }],
    });
  }, 60_000);
});

/** The bytes of a stake address, in hexadecimal. */
const addressHex = (text: string) => toHex(fromBech32(text)!.bytes);
