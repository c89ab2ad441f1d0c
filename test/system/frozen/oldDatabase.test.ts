/**
 * A database that an earlier release wrote and left with pending work of every kind, opened by this release: all work
 * finishes, nothing is lost and nothing is done twice.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { schemaMigrations } from "#src/app/schema.ts";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, parseAddress } from "#src/cardano/address.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import { addressOf } from "#src/cli/keyFile.ts";
import { verifyFact } from "#src/client/proofs.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { type Transaction, WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { readPendingWork, restorePendingWork } from "../../support/infra/pendingWork.ts";
import { type Receiver, startReceiver } from "../../support/runtime/webhookReceiver.ts";
import { until } from "../../support/base/until.ts";

const NAME = "database-3cb51ef";
const work = readPendingWork(NAME);
const { wallets: own, tokens: ownTokens, transactions, passphrase } = work;

describe("a database of an earlier release", () => {
  let infra: Infra;
  let store: Store;
  let receiver: Receiver;
  let arbor: Arbor;
  let client: WalletClient;
  let tokens: TokenClient;
  let schemaBefore: readonly string[];

  const migrations = async () =>
    (await store.sql<{ id: string }[]>`select id from migration`).map(({ id }) => id).sort();
  const stateOf = async (kind: string, id: string) =>
    (await store.sql<{ state: string }[]>`select state from actor where kind = ${kind} and id = ${id}`)[0]?.state;
  const becomes = (kind: string, id: string, state: string) =>
    until(`${kind} ${id} is ${state}`, async () => await stateOf(kind, id) === state, 60_000)
      .catch(async (error: Error) => {
        throw new Error(`${error.message}; it is ${await stateOf(kind, id)}`);
      });
  const available = async (label: string): Promise<bigint> => {
    const { id, prefix } = own[label]!;
    const { balance } = await client.get<{ balance: { available: { quantity: number } } }>(`/${prefix}/${id}`);
    return BigInt(balance.available.quantity);
  };
  /**
   * Lovelace of a wallet according to the ledger: at addresses with its stake key; according to its own history if it
   * has none.
   */
  const held = async (label: string): Promise<bigint> => {
    const { id, prefix } = own[label]!;
    if (prefix !== "wallets") {
      const flows = await client.transactions(id, {}, prefix);
      expect(flows.map(({ status }) => status)).toEqual(flows.map(() => "in_ledger"));
      return flows.reduce(
        (sum, { direction, amount }) => sum + BigInt(amount.quantity) * (direction === "incoming" ? 1n : -1n),
        0n,
      );
    }
    const address = parseAddress((await client.addresses(id))[0]!.id, 0);
    if (!address.ok) throw new Error(address.error.message);
    const rows = await store.sql<{ cbor: Uint8Array }[]>`select cbor from devnet_utxo
      where spent_height is null and substr(address, 59) = ${address.value.hex.slice(58)}`;
    return rows.reduce((sum, { cbor }) => sum + readOutput(decode(new Uint8Array(cbor))).value.lovelace, 0n);
  };
  const found = (label: string): Promise<Transaction> => {
    const { id, wallet } = transactions[label]!;
    const { id: of, prefix } = own[wallet!]!;
    return client.transaction(of, id, {}, prefix);
  };

  beforeAll(async () => {
    infra = await sharedInfra({ empty: true });
    await restorePendingWork(NAME, work, infra.databaseUrl);
    receiver = await startReceiver();
    store = openStore(infra.databaseUrl, { max: 2 });
    await store.sql`update webhook set url = ${receiver.url}`;
    schemaBefore = await migrations();
    arbor = await Arbor.start({ infra, env: { ARBOR_WEBHOOKS_PRIVATE: "true", ARBOR_BUILDERS: "1" } });
    client = new WalletClient(arbor.wallets);
    tokens = new TokenClient(arbor.tokens);
  });
  afterAll(async () => {
    await arbor?.end();
    await receiver?.stop();
    await store?.close();
    await infra?.stop();
  });

  it("gets the schema of this release", async () => {
    const now = schemaMigrations.map(({ id }) => id).sort();
    expect(schemaBefore.length).toBeLessThan(now.length);
    expect(await migrations()).toEqual(now);
  });

  it("has every transaction decided that was pending", async () => {
    const landing = Object.entries(transactions).filter(([label]) => !["expired", "forgotten"].includes(label));
    expect(landing.length).toBeGreaterThan(9);
    for (const [, { id }] of landing) await becomes("transaction", id, "in_ledger");
    for (const id of work.migrated) await becomes("transaction", id, "in_ledger");
    await until("nothing is pending", async () => {
      const [row] = await store.sql<{ open: number }[]>`select count(*)::int as open from actor
        where kind = 'transaction' and state not in ('in_ledger', 'expired', 'refused', 'forgotten')`;
      return row!.open === 0;
    }, 60_000);
    expect(await stateOf("transaction", transactions.expired!.id)).toBe("expired");
    expect(await stateOf("transaction", transactions.forgotten!.id)).toBe("forgotten");
    expect((await found("expired")).status).toBe("expired");
    for (const [label, { wallet }] of landing) if (wallet) expect((await found(label)).status, label).toBe("in_ledger");
  });

  it("answers a payment whose answer was lost with that payment, and a wallet migration with its transactions", async () => {
    const { id } = own.payer!;
    const before = (await client.transactions(id)).length;
    const again = await client.pay(id, work.keyed.body as never, { key: work.keyed.key });
    expect((await client.transaction(id, again.id)).status).toBe("in_ledger");
    expect((await client.transactions(id)).length).toBe(before);
    const moved = await client.migrate(own.mover!.id, {
      addresses: [(await client.addresses(id))[5]!.id],
      passphrase,
    }, { key: "move-1" });
    expect(moved.map((one) => one.id)).toEqual(work.migrated);
  });

  it("has every token in its state, with its facts and their proofs", async () => {
    for (const [label, state] of Object.entries({ ended: "ended", ending: "ended" })) {
      await becomes("token", ownTokens[label]!.id, state);
    }
    for (const label of ["live", "updating", "booting"]) {
      const { id, facts } = ownTokens[label]!;
      await becomes("token", id, "live");
      const { root } = await until(label, () => tokens.token(id).catch(() => undefined)) as unknown as { root: string };
      expect(await tokens.facts(id)).toMatchObject(facts);
      for (const [key, value] of Object.entries(facts)) {
        const answer = await tokens.fact(id, key);
        const trusted = { root: (answer as unknown as { root: string }).root ?? root };
        expect(verifyFact(answer, { tokenId: id, key, trusted })).toMatchObject({ ok: true, value: { text: value } });
      }
    }
  });

  it("keeps open requests open, which the owner can apply", async () => {
    const { id, facts } = ownTokens.live!;
    const key = fromHex(work.owner);
    const address = addressText(addressOf(key));
    const open = [work.requests.open!, work.requests.pending!];
    const requests = (await tokens.token(id) as unknown as { requests: { outputRefId: string }[] }).requests;
    expect(requests.map(({ outputRefId }) => outputRefId).sort()).toEqual([...open].sort());
    const built = await tokens.apply(address, id, open);
    await tokens.submitAndWait(signTransaction(built.checked, key));
    expect(await tokens.facts(id)).toEqual({ ...facts, open: "request", pending: "request" });
  });

  it("has every wallet in the right state, with the ledger's balance", async () => {
    for (const [label, { id, prefix }] of Object.entries(own)) {
      const kind = prefix === "shared-wallets" ? "shared-wallet" : "wallet";
      const gone = label === "deleted";
      await becomes(kind, id, gone ? "deleted" : label === "incomplete" ? "incomplete" : "live");
      if (gone || label === "incomplete") continue;
      await until(
        `${label} is ready`,
        async () => (await client.get<{ state: { status: string } }>(`/${prefix}/${id}`)).state.status === "ready",
        60_000,
      );
      if (label === "great") {
        expect(await client.addresses(id)).toHaveLength(2_000);
        continue;
      }
      expect([label, await available(label)]).toEqual([label, await held(label)]);
    }
    expect(await available("mover")).toBe(0n);
    expect((await client.wallet(own.single!.id)).name).toBe("reminded");
  });

  it("has the delegations that were made", async () => {
    const active = async (label: string) => (await client.wallet(own[label]!.id)).delegation;
    const target = async (label: string) => {
      const { active: now, next } = await active(label);
      return next.at(-1) ?? now;
    };
    expect(await target("staker")).toMatchObject({ target: work.pools[0] });
    expect(await target("joiner")).toMatchObject({ target: work.pools[1] });
    expect(await target("voter")).toMatchObject({ voting: "abstain" });
  });

  it("lets every wallet spend by its passphrase", async () => {
    const to = (await client.addresses(own.payer!.id))[6]!.id;
    for (const [label, { id, prefix, words }] of Object.entries(own)) {
      if (words === undefined || ["deleted", "incomplete", "great", "restoring", "mover"].includes(label)) {
        continue;
      }
      const body = { payments: [{ address: to, amount: { quantity: 2_000_000, unit: "lovelace" as const } }] };
      if (prefix === "shared-wallets") {
        const built = await client.construct(id, body, prefix);
        const { transaction } = await client.sign(id, built.transaction, passphrase, prefix);
        await client.submit(id, transaction, { prefix });
      } else await client.pay(id, { ...body, passphrase } as never, { prefix });
    }
  });

  it("leaves nothing open: effects, inputs, transitions, deliveries, each once and in order", async () => {
    await until("nothing is open", async () => {
      const [row] = await store.sql<Record<string, number>[]>`select
        (select count(*)::int from effect where not done) as effects,
        (select count(*)::int from input_log where not read) as inputs,
        (select count(*)::int from outbox_unpublished) + (select count(*)::int from outbox where not published) as transitions,
        (select count(*)::int from webhook_delivery where status = 'pending') as deliveries,
        (select count(*)::int from actor where kind = 'transaction' and state in ('submitting', 'pending')) as pending`;
      return Object.values(row!).every((n) => n === 0);
    }, 60_000);
    const gaps = await store.sql`select kind, id from outbox group by 1, 2
      having count(*) <> max(version) or min(version) <> 1`;
    expect([...gaps]).toEqual([]);
    const [{ letters }] = await store.sql`select count(*)::int as letters from dead_letter` as unknown as [
      { letters: number },
    ];
    expect(letters).toBe(work.deadLetters);
    const versions = new Map<string, number[]>();
    for (const { data } of receiver.taken) {
      const { entity, version } = data as { entity: { id: string }; version: number };
      versions.set(entity.id, [...versions.get(entity.id) ?? [], version]);
    }
    const transitions = await store.sql<{ id: string; versions: number[] }[]>`
      select id, array_agg((event->'data'->>'version')::int order by n) as versions from webhook_delivery group by 1`;
    expect(transitions.length).toBe(Object.keys(ownTokens).length);
    for (const { id, versions: queued } of transitions) {
      expect(queued).toEqual(queued.map((_, i) => queued[0]! + i));
      expect(versions.get(id)).toEqual(queued);
    }
  });
});
