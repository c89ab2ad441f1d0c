/**
 * A wallet of two co-owners, each on a server and a database of their own: what they share is a network, account keys, and transactions that
 * they hand to each other.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { Arbor } from "../../support/arbor.ts";
import { type Infra, sharedInfra } from "../../support/infra.ts";
import { socketPath } from "../../support/node_chain.ts";
import { until } from "../../support/until.ts";
import { person } from "../../support/wallet.ts";

const ada = 1_000_000;
const PASSPHRASE = "Secure Passphrase";
const bob = toBech32("addr_test", fromHex(person("bob").base));
const path = socketPath();

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any -- bodies of many endpoints
  readonly body: any;
}

/** A co-owner at their own server. */
class Owner {
  id = "";
  readonly words = newMnemonic(15);
  constructor(readonly arbor: Arbor, readonly cosigner: string) {}

  get url(): string {
    return /^wallet service +(\S+)$/m.exec(this.arbor.printed)![1]!;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.url}/${path.replace(":id", this.id)}`, {
      method,
      ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: toJson(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : parseJson(text) };
  }

  /** A good answer's body. */
  async good(method: string, path: string, body?: unknown): Promise<Answer["body"]> {
    const answer = await this.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${toJson(answer.body)}`);
    return answer.body;
  }

  async refused(method: string, path: string, body?: unknown): Promise<string> {
    const answer = await this.call(method, path, body);
    expect(answer.status).toBe(403);
    return answer.body.code;
  }

  wallet(): Promise<Answer["body"]> {
    return this.good("GET", "shared-wallets/:id");
  }

  construct(body: unknown): Promise<Answer["body"]> {
    return this.good("POST", "shared-wallets/:id/transactions-construct", body);
  }

  async sign(transaction: string): Promise<string> {
    return (await this.good("POST", "shared-wallets/:id/transactions-sign", { transaction, passphrase: PASSPHRASE }))
      .transaction;
  }

  decode(transaction: string): Promise<Answer["body"]> {
    return this.good("POST", "shared-wallets/:id/transactions-decode", { transaction });
  }

  async submit(transaction: string): Promise<string> {
    return (await this.good("POST", "shared-wallets/:id/transactions-submit", { transaction })).id;
  }

  /** Waits until the wallet lists a transaction with a status. */
  async lists(hash: string, status: string): Promise<Answer["body"]> {
    return await until(`a transaction ${status}`, async () => {
      const { status: code, body } = await this.call("GET", `shared-wallets/:id/transactions/${hash}`);
      return code === 200 && body.status === status ? body : undefined;
    }, 30_000);
  }

  /** Waits until so much lovelace can be spent, and the wallet is ready. */
  async has(lovelace: number): Promise<void> {
    await until(`${lovelace} lovelace`, async () => {
      const { state, balance } = await this.wallet();
      return state.status === "ready" && Number(balance.available.quantity) === lovelace || undefined;
    }, 30_000);
  }
}

let infras: Infra[];
let nats: NatsEndpoint;
let devnet: Arbor;
let alice: Owner;
let carol: Owner;
const owners = () => [alice, carol];

const pay = (quantity: number) => ({ payments: [{ address: bob, amount: { quantity, unit: "lovelace" } }] });
const onDevnet = async (path: string, body: unknown) => {
  const response = await fetch(`${devnet.devnet}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: toJson(body),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return await response.json();
};
/** Both sign, the first owner first. */
const signed = async (transaction: string, ...by: Owner[]) => {
  for (const owner of by) transaction = await owner.sign(transaction);
  return transaction;
};

beforeAll(async () => {
  infras = await Promise.all([sharedInfra(), sharedInfra(), sharedInfra()]);
  nats = await startNatsEndpoint({ port: 0, token: "of carol", log: createLog("warn") });
  devnet = await Arbor.start({
    infra: infras[0]!,
    roles: "devnet",
    env: { ARBOR_SOCKET: path, ARBOR_LEASE_MS: "1000", ARBOR_BUILDERS: "1", ARBOR_POOLS: "1" },
  });
  const onNode = { ARBOR_PROVIDER: "node", ARBOR_NODE_SOCKET: path, ARBOR_BUILDERS: "1", ARBOR_WALLET_PORT: "0" };
  const [first, second] = await Promise.all([
    Arbor.start({ infra: infras[1]!, env: onNode }),
    Arbor.start({ infra: { ...infras[2]!, natsUrl: nats.url, natsToken: "of carol" }, env: onNode }),
  ]);
  alice = new Owner(first, "cosigner#0");
  carol = new Owner(second, "cosigner#1");
}, 90_000);
afterAll(async () => {
  await Promise.all([alice?.arbor.end(), carol?.arbor.end()]);
  await devnet?.end();
  await nats?.stop();
  await Promise.all(infras.map((infra) => infra.stop()));
}, 60_000);

test("each begins a wallet that waits for the other's key", async () => {
  for (const owner of owners()) {
    const template = (script: unknown) => ({ cosigners: { [owner.cosigner]: "self" }, template: script });
    const wallet = await owner.good("POST", "shared-wallets", {
      name: "Ours",
      mnemonic_sentence: owner.words,
      passphrase: PASSPHRASE,
      account_index: "30H",
      payment_script_template: template({ all: ["cosigner#0", "cosigner#1"] }),
      delegation_script_template: template({ any: ["cosigner#0", "cosigner#1"] }),
    });
    owner.id = wallet.id;
    expect(wallet).toMatchObject({
      name: "Ours",
      account_index: "30H",
      address_pool_gap: 20,
      state: { status: "incomplete" },
    });
    expect(wallet.balance).toBeUndefined();
    expect(await owner.good("GET", "shared-wallets/:id/addresses")).toEqual([]);
    expect(await owner.refused("POST", "shared-wallets/:id/transactions-construct", pay(ada))).toBe(
      "shared_wallet_incomplete",
    );
  }
  expect(alice.id).not.toBe(carol.id);
  expect((await alice.call("GET", `shared-wallets/${carol.id}`)).status).toBe(404);
});

test("keys that do not fit are refused, and one can be replaced while the wallet waits", async () => {
  const key = (owner: Owner): Promise<string> => owner.good("GET", "shared-wallets/:id/keys?format=extended");
  const patch = (type: string, body: unknown) =>
    alice.call("PATCH", `shared-wallets/:id/${type}-script-template`, body);
  const [own, other] = [await key(alice), await key(carol)];
  const codes = [
    await patch("payment", { "cosigner#0": other }),
    await patch("payment", { "cosigner#7": other }),
    await patch("payment", { "cosigner#1": own }),
  ].map(({ status, body }) => [status, body.code]);
  expect(codes).toEqual([
    [403, "shared_wallet_cannot_update_key"],
    [403, "shared_wallet_no_such_cosigner"],
    [403, "shared_wallet_key_already_exists"],
  ]);
  const unknown = await patch("delegation", { "cosigner#7": other });
  expect(unknown.body.info).toEqual({ cosigner_index: 7, credential_type: "delegation" });
  expect((await patch("payment", { "cosigner#1": "something" })).body.code).toBe("bad_request");

  const wrong = await alice.good("POST", "shared-wallets/:id/keys/31H", { passphrase: PASSPHRASE, format: "extended" });
  const half = await alice.good("PATCH", "shared-wallets/:id/payment-script-template", { "cosigner#1": wrong });
  expect(half).toMatchObject({
    state: { status: "incomplete" },
    payment_script_template: { cosigners: { "cosigner#1": wrong } },
  });
  const right = await alice.good("PATCH", "shared-wallets/:id/payment-script-template", { "cosigner#1": other });
  expect(right.state.status).toBe("incomplete");
  const whole = await alice.good("PATCH", "shared-wallets/:id/delegation-script-template", { "cosigner#1": other });
  expect(["syncing", "ready"]).toContain(whole.state.status);
  expect(await alice.refused("PATCH", "shared-wallets/:id/payment-script-template", { "cosigner#1": other })).toBe(
    "shared_wallet_active",
  );

  for (const type of ["payment", "delegation"]) {
    await carol.good("PATCH", `shared-wallets/:id/${type}-script-template`, { "cosigner#0": own });
  }
  for (const owner of owners()) {
    expect((await owner.call("GET", "shared-wallets")).body.map((one: { id: string }) => one.id)).toEqual([owner.id]);
  }
});

let addresses: { id: string; derivation_path: string[] }[];

test("both have the same addresses and find what is paid to them", async () => {
  addresses = await alice.good("GET", "shared-wallets/:id/addresses?state=unused");
  expect(addresses).toHaveLength(20);
  expect(addresses[3]!.derivation_path).toEqual(["1854H", "1815H", "30H", "0", "3"]);
  expect(await carol.good("GET", "shared-wallets/:id/addresses?state=unused")).toEqual(addresses);
  expect(addresses[0]!.id).toMatch(/^addr_test1x/);
  await onDevnet("faucet", { address: addresses[0]!.id, lovelace: 100 * ada });
  for (const owner of owners()) await owner.has(100 * ada);
});

test("a payment is signed in turn, submitted by any, and listed by both", async () => {
  const { transaction, fee, coin_selection: selection } = await alice.construct(pay(10 * ada));
  expect(selection.inputs[0].derivation_path).toEqual(["1854H", "1815H", "30H", "0", "0"]);
  expect(selection.change[0].derivation_path.slice(0, 4)).toEqual(["1854H", "1815H", "30H", "1"]);
  for (const owner of owners()) {
    const decoded = await owner.decode(transaction);
    expect(decoded.witness_count).toMatchObject({ verification_key: 0, bootstrap: 0 });
    expect(decoded.witness_count.scripts).toHaveLength(1);
    expect(decoded.inputs[0].amount.quantity).toBe(100 * ada);
    expect(decoded.outputs.filter((one: object) => "derivation_path" in one)).toHaveLength(1);
    expect(decoded.fee).toEqual(fee);
  }
  const half = await alice.sign(transaction);
  expect((await carol.decode(half)).witness_count.verification_key).toBe(1);
  expect(await alice.refused("POST", "shared-wallets/:id/transactions-submit", { transaction: half })).toBe(
    "missing_witnesses_in_transaction",
  );
  const whole = await carol.sign(half);
  const { id, witness_count: count } = await alice.decode(whole);
  expect(count.verification_key).toBe(2);
  expect(id).toBe((await alice.decode(transaction)).id);
  expect(await carol.submit(whole)).toBe(id);
  for (const owner of owners()) {
    const listed = await owner.lists(id, "in_ledger");
    expect(listed).toMatchObject({ direction: "outgoing", amount: { quantity: 10 * ada + Number(fee.quantity) }, fee });
    await owner.has(90 * ada - Number(fee.quantity));
    expect(await owner.good("GET", "shared-wallets/:id/addresses?state=used")).toHaveLength(2);
  }
});

test("with a wrong passphrase nobody signs", async () => {
  const { transaction } = await alice.construct(pay(2 * ada));
  const body = { transaction, passphrase: "another passphrase" };
  expect(await alice.refused("POST", "shared-wallets/:id/transactions-sign", body)).toBe("wrong_encryption_passphrase");
});

test("they delegate together; one alone signs for the stake, both for the coins", async () => {
  const [pool] = await alice.good("GET", "stake-pools?stake=1000000");
  const join = { delegations: [{ join: { pool: pool.id, stake_key_index: "30H" } }] };
  expect(
    await carol.refused("POST", "shared-wallets/:id/transactions-construct", {
      delegations: [{ join: { pool: pool.id, stake_key_index: "0H" } }],
    }),
  ).toBe("created_multiaccount_transaction");
  const { transaction, coin_selection: selection } = await carol.construct(join);
  expect(selection.certificates[0].reward_account_path).toEqual(["1854H", "1815H", "30H", "2", "0"]);
  const decoded = await alice.decode(transaction);
  const scripts = decoded.witness_count.scripts.map(({ script }: { script: Record<string, string[]> }) => script);
  const kindOf = (script: Record<string, string[]>) =>
    Object.entries(script).map(([name, leaves]) =>
      [name, ...new Set(leaves.map((leaf) => leaf.split("1")[0]))].join(" ")
    );
  expect(scripts.flatMap(kindOf).sort()).toEqual(["all addr_shared_vkh", "any stake_shared_vkh"]);
  const whole = await signed(transaction, carol, alice);
  expect((await alice.decode(whole)).witness_count.verification_key).toBe(3);
  const id = await alice.submit(whole);
  for (const owner of owners()) {
    const { certificates } = await owner.lists(id, "in_ledger");
    for (const one of certificates) expect(one.reward_account_path).toEqual(["1854H", "1815H", "30H", "2", "0"]);
    const { delegation } = await owner.wallet();
    expect([delegation.active, ...delegation.next].map(({ target }) => target)).toContain(pool.id);
  }
});

test("a competing spend of the other owner shows before the transaction's time is over", async () => {
  const [mine, theirs] = [await alice.construct(pay(3 * ada)), await carol.construct(pay(4 * ada))];
  const [first, second] = [
    await signed(mine.transaction, alice, carol),
    await signed(theirs.transaction, carol, alice),
  ];
  const hash = await alice.submit(first);
  await alice.lists(hash, "in_ledger");
  // Alice's server is away while the network forgets her transaction and takes the other one
  alice.arbor.signal("SIGSTOP");
  let other: string;
  try {
    const listed = await carol.lists(hash, "in_ledger");
    const tip = await (await fetch(`${devnet.devnet}/tip`)).json();
    await onDevnet("rollback", { blocks: tip.height - listed.inserted_at.height.quantity + 1, drop: true });
    await until(
      "its loss",
      async () => (await carol.call("GET", `shared-wallets/:id/transactions/${hash}`)).status === 404 || undefined,
      30_000,
    );
    other = await carol.submit(second);
    await carol.lists(other, "in_ledger");
  } finally {
    alice.arbor.signal("SIGCONT");
  }
  expect(await alice.lists(other, "in_ledger")).toMatchObject({ direction: "outgoing" });
  const given = await alice.lists(hash, "expired");
  const { tip } = await alice.wallet();
  expect(given.validity_interval.invalid_hereafter.quantity).toBeGreaterThan(tip.absolute_slot_number);
});

test("wallets that cannot be are refused, each for its reason", async () => {
  const given = (payment: unknown, more: object = {}) => ({
    name: "Another",
    mnemonic_sentence: alice.words,
    passphrase: PASSPHRASE,
    account_index: "0H",
    payment_script_template: { cosigners: { "cosigner#0": "self" }, template: payment },
    ...more,
  });
  const post = async (body: unknown) => {
    const { status, body: said } = await alice.call("POST", "shared-wallets", body);
    return [status, said.code];
  };
  const invalid = [403, "shared_wallet_script_template_invalid"];
  expect(await post(given({ all: [{ active_from: 5 }] }))).toEqual(invalid);
  expect(await post(given({ any: [] }))).toEqual(invalid);
  expect(await post(given("cosigner#1"))).toEqual(invalid);
  expect(await post(given({ all: ["cosigner#0", "cosigner#0"] }, { script_validation: "recommended" }))).toEqual(
    invalid,
  );
  expect(await post(given("cosigner#0", { account_index: "0" }))).toEqual([403, "hardened_derivation_required"]);
  expect(await post(given({ all: ["cosigner"] }))).toEqual([400, "bad_request"]);
  expect(await post(given({ all: ["cosigner#0"] }))).toEqual([201, undefined]);
  expect(await post(given({ all: ["cosigner#0"] }))).toEqual([409, "wallet_already_exists"]);
});

test("the words of the field's example make the wallet with its id", async () => {
  const words = "rib kiwi begin other second pool raise prosper inspire forum keep stereo option ride region";
  const { id } = await carol.good("POST", "shared-wallets", {
    name: "Golden",
    mnemonic_sentence: words.split(" "),
    passphrase: PASSPHRASE,
    account_index: "0H",
    payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
  });
  expect(id).toBe("654a69cd246ab08aeb4d44837ff5d5ceddfbce20");
});

test("a wallet of a public key alone finds and builds, and another one signs", async () => {
  const key = await carol.good("POST", "shared-wallets/:id/keys/5H", { passphrase: PASSPHRASE, format: "extended" });
  const template = { any: ["cosigner#0", { all: ["cosigner#1", { active_from: 10 }] }] };
  const other = await alice.good("GET", "shared-wallets/:id/keys");
  const cosigners = { "cosigner#0": key, "cosigner#1": other };
  const payment = { cosigners, template };
  const common = { name: "Seen", account_index: "5H", payment_script_template: payment, address_pool_gap: 10 };
  const seen = await alice.good("POST", "shared-wallets", { ...common, account_public_key: key });
  expect(seen.passphrase).toBeUndefined();
  const [{ id: address }] = await alice.good("GET", `shared-wallets/${seen.id}/addresses`);
  expect(address).toMatch(/^addr_test1w/);
  const { txHash } = await onDevnet("faucet", { address, lovelace: 5 * ada });
  await until("the payment", async () => {
    const { status } = await alice.call("GET", `shared-wallets/${seen.id}/transactions/${txHash}`);
    return status === 200;
  });
  const { transaction } = await alice.good("POST", `shared-wallets/${seen.id}/transactions-construct`, pay(2 * ada));
  const body = { transaction, passphrase: PASSPHRASE };
  const refused = await alice.call("POST", `shared-wallets/${seen.id}/transactions-sign`, body);
  expect([refused.status, refused.body.code]).toEqual([403, "no_root_key"]);
  const spending = { mnemonic_sentence: carol.words, passphrase: PASSPHRASE };
  const full = await carol.good("POST", "shared-wallets", { ...common, ...spending });
  expect(full.id).toBe(seen.id);
  await until("its restoration", async () => {
    const { state, balance } = await carol.good("GET", `shared-wallets/${full.id}`);
    return state.status === "ready" && Number(balance.total.quantity) === 5 * ada;
  });
  const { transaction: whole } = await carol.good("POST", `shared-wallets/${full.id}/transactions-sign`, body);
  const { id } = await alice.good("POST", `shared-wallets/${seen.id}/transactions-submit`, { transaction: whole });
  await until("the spend", async () => {
    const listed = await carol.call("GET", `shared-wallets/${full.id}/transactions/${id}`);
    return listed.status === 200 && listed.body.status === "in_ledger";
  });
});

test("who deletes the wallet has it no more; the other has", async () => {
  expect((await alice.call("DELETE", "shared-wallets/:id")).status).toBe(204);
  expect((await alice.call("GET", "shared-wallets/:id")).body.code).toBe("no_such_wallet");
  expect((await alice.call("DELETE", "shared-wallets/:id")).status).toBe(404);
  expect((await carol.wallet()).state.status).toBe("ready");
});
