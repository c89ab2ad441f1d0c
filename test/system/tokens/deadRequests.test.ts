/** Requests that can be applied are found however many others are open, and lists of requests are read by pages. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TokenClient } from "#src/client/tokens.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { cases } from "../../support/base/longTests.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { fund, land, User } from "../../support/service/user.ts";

/** Requests of others that can never be applied. */
const DEAD = cases(4_000, 100_000);

describe("a token with many requests that cannot be applied", () => {
  let infra: Infra;
  let arbor: Arbor;
  let store: Store;
  let client: TokenClient;
  let token: string;
  let good: readonly string[] = [];
  const owner = new User("base");
  const sealed = (user: User, { unsignedTransaction }: { readonly unsignedTransaction: string }) =>
    land(arbor.tokens, user.sign(unsignedTransaction));
  const submitted = async (made: Promise<{ readonly unsignedTransaction: string }>) =>
    await client.submit(owner.sign((await made).unsignedTransaction));
  /** Requests, in as few blocks as may be. */
  const requests = async (...made: readonly (() => Promise<{ readonly unsignedTransaction: string }>)[]) => {
    const hashes: string[] = [];
    for (const one of made) hashes.push(await submitted(one()));
    await client.transaction(hashes.at(-1)!, { waitMs: 60_000 });
    return hashes.map((hash) => `${hash}-0`);
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    store = openStore(infra.databaseUrl);
    client = new TokenClient(arbor.tokens);
    await fund(arbor.devnet, arbor.tokens, owner);
    const { value, ...boot } = await client.boot(owner.address);
    token = value;
    await client.submit(owner.sign(boot.unsignedTransaction));
    for (const key of ["taken", "changes"]) await submitted(client.insert(owner.address, token, key, "now"));
    await submitted(client.apply(owner.address, token));
    const [dead] = await requests(() => client.insert(owner.address, token, "taken", "again", { force: true }));
    await copies(dead!.replace("-", "#"));
    good = await requests(
      () => client.update(owner.address, token, "changes", "now", "then"),
      () => client.delete(owner.address, token, "changes", "then"),
      () => client.insert(owner.address, token, "new", "1"),
    );
  });
  afterAll(async () => {
    await store?.close();
    await arbor?.end();
    await infra?.stop();
  });

  /**
   * Copies of a dead request, older than it: of the key that has a value, of a key that waits for another request, of keys
   * without a value, some of whose deposits are too small, and of another version of the contract.
   */
  async function copies(ref: string): Promise<void> {
    await store.sql`
      insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, new_value, lovelace, output,
        from_slot, to_slot, position, policy)
      select encode(sha256(n::text::bytea), 'hex') || '#0', r.token, r.owner, r.refund_address, r.fee,
        case n % 5 when 0 then 'insert' when 3 then 'insert' when 4 then 'insert' else 'update' end,
        case n % 5 when 0 then r.path when 1 then c.path else encode(sha256(n::text::bytea), 'hex') end,
        case n % 5 when 0 then r.key when 1 then c.key else n::text::bytea end,
        case when n % 5 in (1, 2) then ('never ' || n)::bytea end, r.new_value,
        case n % 5 when 3 then r.fee + 1 else r.lovelace end, r.output, r.from_slot - 1, null, n,
        case n % 5 when 4 then 'another' else r.policy end
      from generate_series(1, ${DEAD}::int) n, token_request r, (select path, key from fact where key = 'changes'::bytea) c
      where r.ref = ${ref}`;
  }

  it("lists its requests by pages, each once", async () => {
    const total = DEAD + 1 + good.length;
    const pages: { requests: { outputRefId: string }[]; counts: { requests: number } }[] = [];
    for (let next: string | undefined = `/token/${token}`; next !== undefined;) {
      const answer: Response = await fetch(arbor.tokens + next);
      pages.push(await answer.json());
      next = /<([^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    const listed = pages.flatMap(({ requests }) => requests.map(({ outputRefId }) => outputRefId));
    expect(pages.map(({ requests }) => requests.length)).toEqual([
      ...Array.from({ length: Math.floor(total / 1_000) }, () => 1_000),
      total % 1_000,
    ]);
    expect(new Set(pages.map(({ counts }) => counts.requests))).toEqual(new Set([total]));
    expect(listed).toEqual([...new Set(listed)].sort());
    const open = await Array.fromAsync(client.openRequests(token, { limit: 1_000 }));
    expect(open.map(({ outputRefId }) => outputRefId).sort()).toEqual(listed);
    const outlooks = new Map(open.map(({ outputRefId, outlook }) => [outputRefId, outlook?.applies]));
    expect(outlooks.get(good[2]!)).toBe(true);
  });

  it("refuses a cursor that no page has given", async () => {
    for (const after of ["x", btoa(JSON.stringify({ request: "x" }))]) {
      expect((await fetch(`${arbor.tokens}/token/${token}?after=${after}`)).status).toBe(400);
    }
  });

  it("updates with those that can be, and says of the oldest others why it leaves them", async () => {
    const startedAt = performance.now();
    const tried = await client.tryApply(owner.address, token);
    console.log(`${DEAD} dead requests: dry run in ${Math.round(performance.now() - startedAt)} ms`);
    const isGood = ({ request }: { readonly request: string }) => good.includes(request);
    expect(tried.left.filter((one) => !isGood(one))).toHaveLength(200);
    expect(tried.unlisted).toBe(DEAD + 1 - 200);
    const again = performance.now();
    const { applied, ...update } = await client.apply(owner.address, token);
    console.log(`update in ${Math.round(performance.now() - again)} ms`);
    expect(applied).toEqual(tried.applied);
    await sealed(owner, update);
    // of two requests for one key the younger is left where the ledger would apply it first
    expect([...applied, ...tried.left.filter(isGood).map(({ request }) => request)].sort()).toEqual([...good].sort());
    if (applied.length < good.length) await sealed(owner, await client.apply(owner.address, token));
    expect(await client.facts(token)).toEqual({ taken: "now", new: "1" });
    await expect(client.apply(owner.address, token)).rejects.toMatchObject({ status: 409, code: "requests_fail" });
  });
});
