/** The operator's history and search on the whole service: token, request, transaction, block and wallet name one another. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as api from "#src/operators/api/operator.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type OperatorClient, operatorClient } from "../../support/runtime/operatorService.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const NAME = "Ærlig's 100% _Wallet_";
const user = new User();
let infra: Infra;
let arbor: Arbor;
let store: Store;
let operator: OperatorClient;
let token: string;
let boot: string;
let request: string;
let update: string;
let wallet: string;
let address: string;
let paid: string;

beforeAll(async () => {
  infra = await sharedInfra();
  arbor = await Arbor.start({ infra, mining: "submit" });
  store = openStore(infra.databaseUrl, { max: 2 });
  operator = operatorClient(arbor.operator);
  await fund(arbor.devnet, arbor.tokens, user);
  const tokens = new TokenClient(arbor.tokens);
  const booted = await tokens.boot(user.address);
  token = booted.value;
  boot = await land(arbor.tokens, user.sign(booted.unsignedTransaction));
  const asked = await tokens.insert(user.address, token, "key", "value");
  request = `${await land(arbor.tokens, user.sign(asked.unsignedTransaction))}#0`;
  const applied = await tokens.apply(user.address, token, [request.replace("#", "-")]);
  update = await land(arbor.tokens, user.sign(applied.unsignedTransaction));
  const wallets = new WalletClient(arbor.wallets);
  const words = newMnemonic(15);
  ({ id: wallet } = await wallets.create({ name: NAME, mnemonic_sentence: words, passphrase: "correct horse" }));
  address = (await wallets.addresses(wallet))[0]!.id;
  paid = (await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 5_000_000 })).body.txHash;
  await until("the wallet has it", async () => {
    const { transitions } = await history("wallet", wallet);
    return transitions.some(({ event }) => event === "TRANSACTION");
  }, 60_000);
  await until("the actor has the update", async () => (await history("token", token)).transitions.length === 3);
}, 120_000);
afterAll(async () => {
  await store?.close();
  await arbor?.end();
  await infra?.stop();
});

const history = (kind: string, id: string, query = "") =>
  operator.read(`/actors/${kind}/${id}/history${query}`, api.history);
const search = (q: string) => operator.read(`/search?q=${encodeURIComponent(q)}`, api.search);
const transactionLink = (id: string) => ({
  rel: "transaction",
  kind: "transaction",
  id,
  href: `/actors/transaction/${id}`,
});

describe("history", () => {
  it("of a token names its requests, transactions and blocks, and each cause as data", async () => {
    const { transitions } = await history("token", token);
    expect(transitions.map(({ event }) => event)).toEqual(["UPDATED", "REQUESTED", "BOOTED"]);
    const [updated, requested, booted] = transitions;
    expect(booted!.links).toContainEqual(transactionLink(boot));
    expect(requested!.links).toContainEqual(transactionLink(request.slice(0, 64)));
    expect(requested!.links).toContainEqual({ rel: "request", kind: "request", id: request, href: null });
    expect(updated!.links).toContainEqual(transactionLink(update));
    const transaction = (await http(arbor.tokens, "GET", `/transaction?txHash=${boot}`)).body;
    const [cause] = booted!.causes;
    expect(booted!.causes).toEqual([{
      type: "block",
      seq: Number(booted!.cause.slice("input:".length)),
      slot: Number(transaction.slot),
      height: expect.any(Number),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    }]);
    const block = cause!.type === "block" ? cause!.hash : "";
    expect(booted!.links).toContainEqual({ rel: "block", kind: "block", id: block, href: null });
  });

  it("of a transaction names the tokens, requests and wallets that it touched, and its effects", async () => {
    const { transitions } = await history("transaction", request.slice(0, 64));
    expect(transitions.map(({ event }) => event)).toEqual(["IN_LEDGER", "ACCEPTED", "SUBMIT"]);
    const [landed, accepted, submitted] = transitions;
    expect(submitted!.causes).toEqual([{ type: "command", id: submitted!.cause }]);
    expect(accepted!.causes).toMatchObject([{
      type: "effect",
      kind: "transaction",
      id: request.slice(0, 64),
      name: "submit",
      href: `/actors/transaction/${request.slice(0, 64)}`,
    }]);
    expect(landed!.causes).toMatchObject([{ type: "block", hash: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(landed!.links).toContainEqual({ rel: "token", kind: "token", id: token, href: `/actors/token/${token}` });
    expect(landed!.links).toContainEqual({ rel: "request", kind: "request", id: request, href: null });
  });

  it("of a wallet links the block of a transaction as a block only", async () => {
    const { transitions } = await history("wallet", wallet);
    const paying = transitions.find(({ event }) => event === "TRANSACTION")!;
    const { block } = paying.payload as { block: { slot: number; hash: string; height: number } };
    expect(paying.links).toEqual([
      { rel: "transaction", kind: "transaction", id: paid, href: null },
      { rel: "block", kind: "block", id: block.hash, href: null },
    ]);
    expect(paying.causes).toMatchObject([{ type: "block", ...block }]);
    for (const { links } of transitions) {
      expect(links.filter(({ kind }) => kind === "transaction").map(({ id }) => id)).not.toContain(block.hash);
    }
  });

  it("keeps what is secret or stored elsewhere out of payloads and rows", async () => {
    const { transitions } = await history("wallet", wallet);
    const { key, attempt } = (await store.sql<{ key: string; attempt: string }[]>`
      select body->>'key' as key, body->>'attempt' as attempt from outbox where id = ${wallet} and type = 'CREATE'`)[
      0
    ]!;
    expect(key).toHaveLength(128);
    for (const secret of [key, attempt, "correct horse"]) expect(JSON.stringify(transitions)).not.toContain(secret);
    const [{ cbor }] = await store.sql<[{ cbor: number }]>`
      select count(*)::int as cbor from outbox where type = 'SUBMIT' and body ? 'cbor'`;
    expect(cbor).toBe(0);
  });

  it("begins below a version, as references in events name it", async () => {
    const { transitions } = await history("token", token, "?before=3&limit=1");
    expect(transitions.map(({ version }) => version)).toEqual([2]);
    expect((await operator.get(`/actors/token/${token}/history?before=x3`)).status).toBe(400);
  });

  it("gives the state at any version", async () => {
    const now = await operator.read(`/actors/token/${token}`, api.actor);
    const at = (version: number) => operator.read(`/actors/token/${token}/at?version=${version}`, api.past);
    expect(await at(3)).toMatchObject({ version: 3, state: now.state, context: now.context });
    expect((await at(2)).context).toEqual(
      (await at(1)).context.ref === `${boot}#0` ? { ...(await at(1)).context, slot: (await at(2)).context.slot } : {},
    );
    expect(await at(1)).toMatchObject({ state: "live", context: { root: "0".repeat(64), quarantine: null } });
    const refused = async (query: string) => {
      const { status, body } = await operator.get(`/actors/${query}`);
      return [status, (body as { code: string }).code];
    };
    expect(await refused(`token/${token}/at?version=4`)).toEqual([404, "version_unknown"]);
    expect(await refused(`token/${token}/at?version=0`)).toEqual([400, "bad_request"]);
    expect(await refused(`token/${token}/at`)).toEqual([400, "bad_request"]);
    expect(await refused(`token/none/at?version=1`)).toEqual([404, "actor_unknown"]);
    expect(await refused(`nothing/none/at?version=1`)).toEqual([404, "kind_unknown"]);
  });
});

describe("search", () => {
  const found = (kind: string, id: string, why: string, label = id) => ({
    kind,
    id,
    label,
    why,
    href: `/actors/${kind}/${id}`,
  });

  it("finds actors by the beginning of their ids, in any case", async () => {
    expect(await search(token.slice(0, 12))).toEqual({ results: [found("token", token, "id")], more: false });
    expect((await search(boot.slice(0, 16).toUpperCase())).results).toEqual([found("transaction", boot, "id")]);
  });

  it("finds what a transaction touched, also one that was not submitted here", async () => {
    const { results } = await search(request.slice(0, 64));
    expect(results).toContainEqual(found("transaction", request.slice(0, 64), "id"));
    expect(results).toContainEqual(found("token", token, "transaction"));
    expect(results).toContainEqual({ kind: "request", id: request, label: request, why: "transaction", href: null });
    expect((await search(request)).results).toEqual(results.filter(({ why }) => why !== "id"));
    expect((await search(paid)).results).toContainEqual(found("wallet", wallet, "transaction", NAME));
  });

  it("finds wallets by their addresses, and tokens by their owner's", async () => {
    expect((await search(address)).results).toEqual([found("wallet", wallet, "address", NAME)]);
    const stake = CSL.BaseAddress.from_address(CSL.Address.from_bech32(address))!.stake_cred();
    const reward = CSL.RewardAddress.new(0, stake).to_address().to_bech32();
    expect((await search(reward)).results).toEqual([found("wallet", wallet, "address", NAME)]);
    expect((await search(user.address)).results).toEqual([found("token", token, "owner")]);
    expect(await search(new User().address)).toEqual({ results: [], more: false });
  });

  it("finds wallets by a part of their names; nothing in the text has another meaning", async () => {
    for (const part of ["ærlig", "ÆRLIG", "100% _wAL", "'s"]) {
      expect((await search(part)).results).toEqual([found("wallet", wallet, "name", NAME)]);
    }
    for (const other of ["%%", "__", "'; drop table wallet; --", "Ærlig_", "\\' or 1=1", "<script>"]) {
      expect(await search(other)).toEqual({ results: [], more: false });
    }
  });

  it("refuses texts that can mean nothing", async () => {
    for (const q of ["", "?q=", "?q=x", "?q=%20%20a%20", "?q=%00%00", `?q=${"a".repeat(201)}`]) {
      const { status, body } = await operator.get(`/search${q}`);
      expect([q, status, (body as { code?: string }).code]).toEqual([q, 400, "bad_request"]);
    }
  });

  it("has at most 50 results, by indexes where there are many rows", async () => {
    await store.sql.begin(async (sql) => {
      await sql`insert into wallet (id, life, kind, name, gap, key, birth_slot, birth_hash, one_change, selection, created_at)
        select lpad(i::text, 40, '0'), 1, 'shelley', 'Many ' || i, 20, repeat('a', 128), -1, '', false, 'round-robin', now()
        from generate_series(1, 20000) i`;
      await sql`insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version)
        select 'idle', lpad(i::text, 40, '0'), 0, 1, 0, '{"value":"x","context":{}}', 'x', 1 from generate_series(1, 20000) i`;
    });
    await store.sql`analyze wallet, actor`;
    const many = await search("many 1");
    expect([many.results.length, many.more]).toEqual([50, true]);
    const ids = await search("0000");
    expect([ids.results.length, ids.more]).toEqual([50, true]);
    const plan = async (query: string) => JSON.stringify(await store.sql.unsafe(`explain ${query}`));
    expect(
      await plan(
        "select id, name from wallet where position(lower('many 1') in lower(name)) > 0 order by name, id limit 51",
      ),
    )
      .toContain("wallet_name");
    expect(await plan("select token from token_state where owner = 'x' and to_slot is null")).toContain("Index");
  });
});
