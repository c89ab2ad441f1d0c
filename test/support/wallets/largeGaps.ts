/**
 * Wallets with large address gaps, created at the same time, while another user builds transactions and creates a small
 * wallet: how long each takes.
 */
import { expect } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type { Store } from "#src/store/store.ts";
import type { Arbor } from "../service/arbor.ts";
import { until } from "../base/until.ts";
import { fund, http, User } from "../service/user.ts";

export interface GreatGaps {
  /** Milliseconds from the first creation until the first wallet is ready, and until all are. */
  readonly firstMs: number;
  readonly allMs: number;
  /** Number of large wallets that became ready in time. */
  readonly ready: number;
  /** Milliseconds of each of the user's builds in the meantime, ascending. */
  readonly builds: readonly number[];
  /** Responses to builds other than 200. */
  readonly refused: readonly string[];
  /** Milliseconds of each creation of a small wallet in the meantime, ascending. */
  readonly small: readonly number[];
  /** Number of failed attempts of effects. */
  readonly failed: number;
}

const bodyOf = (name: string, gap: number) => ({
  name,
  mnemonic_sentence: newMnemonic(),
  passphrase: "Secure Passphrase",
  address_pool_gap: gap,
});
const create = async (arbor: Arbor, gap: number, name: string) => {
  const made = await http(arbor.wallets, "POST", "/wallets", bodyOf(name, gap));
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.id as string;
};
const isReady = async (arbor: Arbor, id: string) =>
  (await http(arbor.wallets, "GET", `/wallets/${id}`)).body.state?.status === "ready";

/**
 * Creates `wallets` with a gap; `withinMs` limits how long they may take. Some more are created and deleted at once.
 */
export async function greatGaps(
  arbor: Arbor,
  store: Store,
  { wallets, deleted, gap, withinMs }: { wallets: number; deleted: number; gap: number; withinMs: number },
): Promise<GreatGaps> {
  const user = new User();
  await fund(arbor.devnet, arbor.tokens, user);
  const build = () => http(arbor.tokens, "GET", `/transaction/${user.address}/boot-token`);
  // The threads load a build's dependencies once.
  expect((await build()).status).toBe(200);
  const builds: number[] = [];
  const small: number[] = [];
  const refused: string[] = [];
  let failed = 0;
  let over = false;
  const concurrently = async (work: () => Promise<void>, pauseMs: number) => {
    while (!over) {
      await work();
      await sleep(pauseMs);
    }
  };
  const begun = performance.now();
  // Each is answered when its address pools exist, or after a timeout.
  const creations = Promise.all([
    ...Array.from({ length: deleted }, async () => {
      const made = await http(arbor.wallets, "POST", "/wallets", bodyOf("deleted", gap));
      expect([201, 404], JSON.stringify(made.body)).toContain(made.status);
    }),
    ...Array.from({ length: wallets }, () => create(arbor, gap, "great")),
  ]);
  const others = Promise.all([
    concurrently(async () => {
      const startedAt = performance.now();
      const { status, body } = await build();
      builds.push(performance.now() - startedAt);
      if (status !== 200) refused.push(`${status} ${JSON.stringify(body)}`);
    }, 500),
    concurrently(async () => {
      const startedAt = performance.now();
      const id = await create(arbor, 20, "small");
      await until("a small wallet is ready", () => isReady(arbor, id), 60_000);
      small.push(performance.now() - startedAt);
    }, 5_000),
    concurrently(async () => {
      const [row] = await store.sql<{ failed: number }[]>`select coalesce(max(attempts), 0) as failed from effect`;
      failed = Math.max(failed, row!.failed);
    }, 500),
  ]);
  try {
    const named = async (name: string) => {
      const { body } = await http(arbor.wallets, "GET", "/wallets");
      return (body as { id: string; name: string; state: { status: string } }[]).filter((one) => one.name === name);
    };
    const gone = await until("those that are deleted", async () => {
      const found = await named("deleted");
      return found.length === deleted && found;
    });
    for (const { id } of gone) expect((await http(arbor.wallets, "DELETE", `/wallets/${id}`)).status).toBe(204);
    let firstMs = 0;
    let ready = 0;
    while (ready < wallets && performance.now() - begun < withinMs) {
      await sleep(500);
      ready = (await named("great")).filter(({ state }) => state.status === "ready").length;
      if (ready > 0) firstMs ||= performance.now() - begun;
    }
    const allMs = performance.now() - begun;
    await creations;
    over = true;
    await others;
    const [left] = await store.sql<{ slices: number }[]>`select count(*)::int as slices from wallet_slice`;
    if (ready === wallets) expect(left!.slices).toBe(0);
    const ascending = (values: number[]) => values.sort((a, b) => a - b);
    return { firstMs, allMs, ready, builds: ascending(builds), refused, small: ascending(small), failed };
  } finally {
    over = true;
    await Promise.allSettled([others, creations]);
  }
}
