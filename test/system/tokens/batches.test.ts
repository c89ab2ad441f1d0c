/** Updates that name no request, and tokens with a new owner, over HTTP on a devnet. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ApiError } from "#src/client/http.ts";
import { checkSummary, fromSummary } from "#src/client/summary.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

describe("a token's requests, together", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: TokenClient;
  let token: string;
  const owner = new User("base");
  const other = new User("enterprise");

  const sealed = (user: User, { unsignedTransaction }: { readonly unsignedTransaction: string }) =>
    land(arbor.tokens, user.sign(unsignedTransaction));
  const refused = async (request: Promise<unknown>) => {
    const error = await request.then(() => undefined, (error: unknown) => error);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    client = new TokenClient(arbor.tokens);
    await Promise.all([fund(arbor.devnet, arbor.tokens, owner), fund(arbor.devnet, arbor.tokens, other)]);
    const { value, ...boot } = await client.boot(owner.address);
    token = value;
    await sealed(owner, boot);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("are none at first", async () => {
    expect(await refused(client.apply(owner.address, token))).toMatchObject({ status: 409, code: "nothing_to_apply" });
    expect(await http(arbor.tokens, "GET", `/transaction/${owner.address}/update-token/${token}?dryRun=perhaps`))
      .toMatchObject({ status: 400, body: { code: "bad_request" } });
  });

  it("are tried in a dry run, then applied except those that fail, which have a reason", async () => {
    const made = new Map<string, string>();
    for (const key of ["a", "b", "c"]) {
      made.set(`${await sealed(other, await client.insert(other.address, token, key, `value of ${key}`))}-0`, key);
    }
    const wrong = `${await sealed(
      other,
      await client.delete(other.address, token, "nowhere", "nothing", { force: true }),
    )}-0`;
    const tried = await client.tryApply(owner.address, token);
    expect(tried).toEqual({
      dryRun: true,
      mpfRoot: expect.stringMatching(/^[0-9a-f]{64}$/),
      applied: expect.arrayContaining([...made.keys()]),
      refused: [],
      left: [{ request: wrong, code: "fact_missing", message: expect.any(String) }],
      fee: expect.stringMatching(/^\d+$/),
      size: expect.any(Number),
    });
    expect(tried.applied).toEqual([...made.keys()].sort());
    // of named ones as well: without a dry run all of them are applied or none
    const named = [[...made.keys()][0]!, wrong];
    expect(await client.tryApply(owner.address, token, named)).toMatchObject({
      applied: [named[0]],
      left: [{ request: wrong, code: "fact_missing" }],
    });
    expect(await refused(client.apply(owner.address, token, named))).toMatchObject({
      status: 409,
      code: "requests_fail",
      details: { requests: [{ request: wrong, code: "fact_missing" }] },
    });
    expect(await refused(client.tryApply(other.address, token))).toMatchObject({ status: 403, code: "not_owner" });
    const { applied, left, mpfRoot, refused: none, ...update } = await client.apply(owner.address, token);
    expect(none).toEqual([]);
    expect({ applied, left, mpfRoot }).toEqual({ applied: tried.applied, left: tried.left, mpfRoot: tried.mpfRoot });
    await sealed(owner, update);
    expect(await client.facts(token)).toEqual({ a: "value of a", b: "value of b", c: "value of c" });
    expect(await client.token(token)).toMatchObject({ root: mpfRoot, requests: [{ outputRefId: wrong }] });
    expect(await refused(client.apply(owner.address, token))).toMatchObject({
      status: 409,
      code: "requests_fail",
      details: { requests: [{ request: wrong, code: "fact_missing" }] },
    });
  });

  it("can be applied by the next owner once both signed", async () => {
    const { root, requests } = await client.token(token);
    const given = await client.transfer(owner.address, token, other.address);
    expect(given).toMatchObject({ owner: other.keyHash, signers: [owner.keyHash, other.keyHash] });
    expect(await refused(client.submit(owner.sign(given.unsignedTransaction)))).toMatchObject({
      status: 422,
      code: "refused_by_ledger",
    });
    await land(arbor.tokens, other.sign(owner.sign(given.unsignedTransaction)));
    expect(await client.token(token)).toMatchObject({ owner: other.keyHash, root, requests });
    expect(await refused(client.transfer(owner.address, token, other.address)))
      .toMatchObject({ status: 403, code: "not_owner" });
    expect(await refused(client.transfer(other.address, token, other.address)))
      .toMatchObject({ status: 409, code: "owner_unchanged" });
    expect(await refused(client.transfer(other.address, token, "nonsense")))
      .toMatchObject({ status: 400, code: "bad_address" });
    await sealed(owner, await client.insert(owner.address, token, "d", "value of d"));
    const { applied, left, ...update } = await client.apply(other.address, token);
    expect([applied.length, left.length]).toEqual([1, 1]);
    await sealed(other, update);
    expect(await client.facts(token)).toHaveProperty("d", "value of d");
  });

  it("are refused by the owner in an update that applies others, and get their whole deposits back", async () => {
    const { requests: [wrong] } = await client.token(token);
    const junk = wrong!.outputRefId;
    const good = `${await sealed(owner, await client.insert(owner.address, token, "e", "value of e"))}-0`;
    const refuse = [junk];
    expect(await client.tryApply(other.address, token, [], { refuse })).toMatchObject({
      applied: [good],
      refused: refuse,
      left: [],
    });
    expect(await client.tryApply(other.address, token, [], { refuse: [junk, good] })).toMatchObject({
      mpfRoot: (await client.token(token)).root,
      applied: [],
      refused: [junk, good].sort(),
    });
    expect(await refused(client.apply(other.address, token, [junk], { refuse }))).toMatchObject({
      status: 400,
      code: "bad_request",
    });
    expect(await refused(client.apply(other.address, token, [], { refuse: [`${"00".repeat(32)}-0`] }))).toMatchObject({
      status: 409,
      code: "requests_fail",
      details: { requests: [{ code: "request_unknown" }] },
    });
    expect(await refused(client.apply(owner.address, token, [good], { refuse }))).toMatchObject({ code: "not_owner" });
    const [past] = await Array.fromAsync(client.history(token, { status: "open", key: "nowhere" }));
    const built = await client.apply(other.address, token, [good], { refuse });
    const intent = { type: "apply", token, requests: [good], address: other.address } as const;
    // the owner's coin is the collateral too: the ledger vouches for its value
    expect(await checkSummary(built, { ...intent, refuse })).toMatchObject({ ok: true });
    // what is spent is vouched for
    const resolve = fromSummary(built.summary);
    expect(await checkSummary(built, { ...intent, refuse }, { resolve })).toMatchObject({ ok: true });
    expect(await checkSummary(built, intent, { resolve })).toMatchObject({ ok: false });
    const paid = built.summary.refunds.find(({ request }) => request === junk);
    expect(paid).toMatchObject({ address: other.address, lovelace: BigInt(past!.lovelace) });
    const txHash = await sealed(other, built);
    expect(await client.facts(token)).toHaveProperty("e", "value of e");
    expect(await client.token(token)).toMatchObject({ requests: [] });
    const closed = await Array.fromAsync(client.history(token, { status: "refused" }));
    expect(closed).toMatchObject([{ outputRefId: junk, status: "refused", closed: { txHash } }]);
  });

  it("name every fact, also bytes that are not UTF-8", async () => {
    const [key, value, next] = ["k\udcff", "\udc80v", "plain"];
    const apply = async () => {
      const { applied, left: _, ...update } = await client.apply(other.address, token);
      await sealed(other, update);
      expect(applied).toHaveLength(1);
    };
    await sealed(owner, await client.insert(owner.address, token, key, value));
    await apply();
    expect(await client.facts(token)).toHaveProperty([key], value);
    await sealed(owner, await client.update(owner.address, token, key, value, next));
    await apply();
    expect(await client.facts(token)).toHaveProperty([key], next);
    await sealed(owner, await client.delete(owner.address, token, key, next));
    await apply();
    expect(await client.facts(token)).not.toHaveProperty([key]);
    // "é" as bytes would be read as another text
    for (const odd of ["\udcc3\udca9", "\ud800"]) {
      expect(await refused(client.insert(owner.address, token, odd, "v"))).toMatchObject({
        status: 400,
        code: "bad_request",
      });
    }
  });
});
