/** Balances from events: what counts, what is applied once, and when a balance is not exact. */
import { describe, expect, it } from "vitest";
import { BalanceReplica, type ContentEvent } from "#src/client/balances.ts";

const id = "a1".repeat(20);
const asset = `${"ab".repeat(28)}00`;
const second = `${"cd".repeat(28)}00`;
const stake = `key-${"12".repeat(28)}`;

type Content = ContentEvent["data"]["content"];
const event = (
  version: number,
  transition: string,
  content?: Content,
  { kind = "wallet", to = "live", of = id } = {},
): ContentEvent => ({
  type: `arbor.${kind}.${transition}`,
  data: { entity: { kind, id: of }, version, to, ...(content && { content }) },
});
const delegated = (version: number, transition: string, content?: Content) =>
  event(version, transition, content, { kind: "delegation", to: "both", of: stake });
const start = [
  event(1, "create", { name: "Savings", kind: "shelley" }, { to: "beginning" }),
  event(2, "begun", undefined, { to: "restoring" }),
  event(3, "restored", { slot: 10, lovelace: "50", assets: { [asset]: "3" }, stake }),
];
const after = (...events: readonly ContentEvent[]) => {
  const replica = new BalanceReplica();
  for (const one of [...start, ...events]) replica.apply(one);
  return replica;
};

describe("a replica of balances", () => {
  it("adds transactions to the last whole balance, and names the wallet", () => {
    const replica = after(
      event(4, "transaction", { slot: 20, lovelace: "-20", assets: { [asset]: "-3", [second]: "7" } }),
      event(5, "rename", { name: "Spendings" }),
      event(6, "settings", { oneChange: true }),
    );
    const balance = { kind: "wallet", id, lovelace: 30n, assets: new Map([[second, 7n]]), rewards: 0n, exact: true };
    expect(replica.balance(id)).toEqual({ ...balance, name: "Spendings" });
    expect(replica.balances()).toEqual([replica.balance(id)]);
    replica.apply(event(7, "rolled-back", { slot: 15, lovelace: "50", assets: { [asset]: "3" }, stake }));
    expect(replica.balance(id)).toMatchObject({ lovelace: 50n, assets: new Map([[asset, 3n]]), exact: true });
  });

  it("is exact only while the wallet is live and all parts have come", () => {
    const replica = new BalanceReplica();
    const exact = start.map((one) => {
      replica.apply(one);
      return replica.balance(id)?.exact;
    });
    expect(exact).toEqual([false, false, true]);
    replica.apply(event(4, "transaction", { slot: 20, lovelace: "1", assets: { [asset]: "1" }, following: 1 }));
    expect(replica.balance(id)?.exact).toBe(false);
    replica.apply(event(5, "assets", { slot: 20, assets: { [asset]: "-2", [second]: "1" } }));
    expect(replica.balance(id)).toMatchObject({ exact: true, assets: new Map([[asset, 2n], [second, 1n]]) });
  });

  it("is not exact where a restore of the database replaced an event, until the next whole balance or all again", () => {
    const generation = "mx1sjqtc";
    const replica = after(event(4, "transaction", { slot: 20, lovelace: "-20" }));
    const other = { ...event(4, "transaction", { slot: 20, lovelace: "-5" }), generation };
    replica.apply(other);
    expect(replica.balance(id)?.exact).toBe(false);
    const saved = new BalanceReplica(JSON.parse(JSON.stringify(replica.save())));
    saved.apply({ ...event(5, "rolled-back", { slot: 20, lovelace: "45", assets: {}, stake }), generation });
    expect(saved.balance(id)).toMatchObject({ lovelace: 45n, exact: true });
    // An event that comes again changes nothing.
    saved.apply(other);
    expect(saved.balance(id)).toMatchObject({ lovelace: 45n, exact: true });
    replica.clear();
    expect(replica.balances()).toEqual([]);
    for (const one of [...start, other]) replica.apply(one);
    expect(replica.balance(id)).toMatchObject({ lovelace: 45n, exact: true });
  });

  it("changes nothing at events that come again, also of a wallet that was deleted", () => {
    const paid = event(4, "transaction", { slot: 20, lovelace: "5", assets: {} });
    const replica = after(paid, paid, start[2]!);
    expect(replica.balance(id)?.lovelace).toBe(55n);
    const deleted = [
      event(5, "delete", undefined, { to: "deleting" }),
      event(6, "ended", undefined, { to: "deleted" }),
    ];
    for (const one of [...deleted, ...start, paid]) replica.apply(one);
    expect([replica.balance(id), replica.balances()]).toEqual([undefined, []]);
    const again = new BalanceReplica(JSON.parse(JSON.stringify(replica.save())));
    again.apply(paid);
    expect(again.balances()).toEqual([]);
    again.apply(event(7, "create", { name: "Again" }, { to: "beginning" }));
    again.apply(event(8, "restored", { slot: 30, lovelace: "8", assets: {} }));
    expect(again.balance(id)).toMatchObject({ name: "Again", lovelace: 8n, assets: new Map(), exact: true });
  });

  it("is not exact after missed events, and those without content, until the next whole balance", () => {
    for (
      const gap of [
        [event(5, "transaction", { slot: 20, lovelace: "5", assets: {} })],
        [event(4, "transaction"), event(5, "transaction", { slot: 20, lovelace: "5", assets: {} })],
        [event(4, "rolled-back", { slot: 5 }), event(5, "rename", { name: "x" })],
      ]
    ) {
      const replica = after(...gap);
      expect(replica.balance(id)?.exact).toBe(false);
      replica.apply(event(6, "rolled-back", { slot: 9, lovelace: "4", assets: {}, stake }));
      expect(replica.balance(id)).toMatchObject({ lovelace: 4n, exact: true });
    }
  });

  it("has the rewards of the wallet's account, by events of the account that are not older than known ones", () => {
    const replica = after(delegated(1, "told", { slot: 8, epoch: 0, rewards: "6" }));
    const rewards = () => replica.balance(id)?.rewards;
    expect(rewards()).toBe(6n);
    replica.apply(delegated(2, "rewarded", { slot: 30, epoch: 1, rewards: "9" }));
    replica.apply(delegated(3, "rewarded", { slot: 29, epoch: 1, rewards: "1" }));
    replica.apply(delegated(4, "certified", { slot: 31, epoch: 1, registered: true }));
    replica.apply(event(4, "transaction", { slot: 31, lovelace: "1", assets: {} }));
    expect(rewards()).toBe(9n);
    replica.apply(delegated(5, "rolled-back", { slot: 5, epoch: 0, rewards: "2" }));
    expect(rewards()).toBe(2n);
    replica.apply(delegated(7, "epoch", { slot: 40, epoch: 2 }));
    expect(replica.balance(id)?.exact).toBe(false);
    replica.apply(delegated(8, "rewarded", { slot: 41, epoch: 2, rewards: "3" }));
    expect(replica.balance(id)).toMatchObject({ rewards: 3n, exact: true });
  });

  it("starts a wallet that is restored without the account's older rewards, in whatever order the events come", () => {
    const second = "b2".repeat(20);
    const created = event(1, "create", { name: "Second" }, { to: "beginning", of: second });
    const restored = event(2, "restored", { slot: 50, lovelace: "0", assets: {}, stake }, { of: second });
    const old = after(delegated(1, "rewarded", { slot: 40, epoch: 1, rewards: "9" }), created, restored);
    expect([old.balance(id)?.rewards, old.balance(second)?.rewards]).toEqual([9n, 0n]);
    const overtaken = after(delegated(1, "rewarded", { slot: 50, epoch: 1, rewards: "9" }), created, restored);
    expect(overtaken.balance(second)?.rewards).toBe(9n);
  });
});
