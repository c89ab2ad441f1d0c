/** Representatives by the queries of a node's ledger: registered or not, and from which epoch on their votes do not count. */
import { expect, test } from "vitest";
import { type LedgerSession, queryDrepStatus, UnsupportedQuery } from "#src/chain/provider/ledgerQueries.ts";

const credential = { kind: "key", hash: "11".repeat(28) } as const;
const script = { kind: "script", hash: "11".repeat(28) } as const;
const anchor = { url: "https://example.org", hash: "22".repeat(32) };

/** A ledger in an epoch in which one representative is registered until epoch 7. */
function ledger(epoch: number, unsupported: readonly string[] = []): LedgerSession {
  const answers: Record<string, unknown> = {
    drepState: [{ credential, expiry: 7, anchor, deposit: 5n, delegators: [] }],
    drepStake: [{ drep: credential, lovelace: 9n }],
    epoch,
  };
  return {
    era: () => Promise.resolve(6),
    supports: (kind) => !unsupported.includes(kind),
    query: () => Promise.reject(new Error("unused")),
    queryEra: (query) => Promise.resolve(answers[query(6).kind] as never),
  };
}

const none = { registered: false, active: false, expiry: undefined, anchor: undefined, deposit: undefined };

test.each([[7, true], [8, false]])("in epoch %i", async (epoch, active) => {
  expect(await queryDrepStatus(ledger(epoch), [script, credential])).toEqual([
    { credential: script, ...none, stake: 0n },
    { credential, registered: true, active, expiry: 7, anchor, deposit: 5n, stake: 9n },
  ]);
});

test("none are queried for none, which would be all of them", async () => {
  const asked = { ...ledger(1), queryEra: () => Promise.reject(new Error("queried")) };
  expect(await queryDrepStatus(asked, [])).toEqual([]);
});

test("an older node says nothing of their stake, or of them", async () => {
  const [found] = await queryDrepStatus(ledger(1, ["drepStake"]), [credential]);
  expect(found).toMatchObject({ registered: true, stake: undefined });
  await expect(queryDrepStatus(ledger(1, ["drepState"]), [credential])).rejects.toThrow(UnsupportedQuery);
});
