/**
 * Requests with an idempotency key, as rows: which process executes one, which wait, which takes over, and the result
 * that all get.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { ABANDONED_MS, claimRequest, dropRequest, holdRequest, storeTransaction } from "#src/wallets/requests.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

describe("a named request", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  const named = { scope: "a wallet", key: "once" };
  const claim = (fingerprint = "payment", more: { readonly gone?: string } = {}) =>
    claimRequest(store.sql, { ...named, attempt: crypto.randomUUID(), fingerprint, holder: "here", ...more });
  const begun = async () => {
    const claimed = await claim();
    if (claimed.state !== "begun") throw new Error(`it is ${claimed.state}`);
    return { ...named, attempt: claimed.attempt };
  };
  /** Lets this many milliseconds pass. */
  const pass = (ms: number) =>
    store.sql`update wallet_request set begun_at = begun_at - ${ms}::float8 * interval '1 millisecond'`;

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    await migrate(store, migrationsOf("wallets"));
  });
  beforeEach(async () => void await store.sql`delete from wallet_request`);
  afterAll(async () => {
    await store?.close();
    await infra?.stop();
  });

  it("is executed by one, and its result returned for all identical ones", async () => {
    const mine = await begun();
    expect(await claim()).toEqual({ state: "busy", attempt: mine.attempt, holder: "here" });
    expect(await claim("another payment")).toEqual({ state: "other" });
    expect(
      (await claimRequest(store.sql, {
        ...named,
        scope: "another wallet",
        attempt: "another",
        fingerprint: "x",
        holder: "there",
      })).state,
    ).toBe("begun");
    expect(await storeTransaction(store.sql, mine, Uint8Array.of(1, 2))).toBe(true);
    expect(await claim()).toEqual({ state: "made", transaction: Uint8Array.of(1, 2) });
    expect(await claim("another payment")).toEqual({ state: "other" });
    await dropRequest(store.sql, mine);
    expect((await claim()).state).toBe("made");
  });

  it("is free again if it failed, and after a day", async () => {
    await dropRequest(store.sql, await begun());
    const again = await begun();
    await storeTransaction(store.sql, again, Uint8Array.of(1));
    await pass(23 * 3_600_000);
    expect((await claim("other")).state).toBe("other");
    await pass(3_600_000);
    expect((await claim("other")).state).toBe("begun");
  });

  it("is taken over from a process without a sign of life, whose work then counts no more", async () => {
    const lost = await begun();
    await pass(ABANDONED_MS);
    const mine = await begun();
    expect(mine.attempt).not.toBe(lost.attempt);
    expect(await storeTransaction(store.sql, lost, Uint8Array.of(1))).toBe(false);
    await dropRequest(store.sql, lost);
    expect(await storeTransaction(store.sql, mine, Uint8Array.of(2))).toBe(true);
    expect(await claim()).toEqual({ state: "made", transaction: Uint8Array.of(2) });
  });

  it("is taken over at once from a process that is known to be gone, and from no other", async () => {
    const lost = await begun();
    expect(await claim("another payment", { gone: lost.attempt })).toEqual({ state: "other" });
    const mine = await claim("payment", { gone: lost.attempt });
    if (mine.state !== "begun") throw new Error(`it is ${mine.state}`);
    // a later one that still knows only the first takes nothing over
    expect(await claim("payment", { gone: lost.attempt })).toMatchObject({ state: "busy", attempt: mine.attempt });
    expect(await storeTransaction(store.sql, lost, Uint8Array.of(1))).toBe(false);
    expect(await storeTransaction(store.sql, { ...named, attempt: mine.attempt }, Uint8Array.of(2))).toBe(true);
    expect(await claim("payment", { gone: mine.attempt })).toEqual({ state: "made", transaction: Uint8Array.of(2) });
  });

  it("is left to a process that still works on it, however long that takes", async () => {
    const mine = await begun();
    for (let i = 0; i < 3; i++) {
      await pass(ABANDONED_MS / 2);
      await holdRequest(store.sql, mine);
    }
    await pass(ABANDONED_MS / 2);
    expect(await claim()).toEqual({ state: "busy", attempt: mine.attempt, holder: "here" });
    await holdRequest(store.sql, { ...mine, attempt: "another" });
    await pass(ABANDONED_MS / 2);
    expect((await claim()).state).toBe("begun");
  });
});
