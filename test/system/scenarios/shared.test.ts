/**
 * A wallet of two co-owners, each on a server of their own: a process, a database, a bus. They share a network, account
 * keys, and transactions that they exchange. Blocks are made on request.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { type Constructed, type Decoded, type Transaction, WalletClient } from "#src/client/wallets.ts";
import type { ApiError } from "#src/client/http.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { type SecondService, startSecondService } from "../../support/service/secondService.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { leastFee, readByCsl } from "../../support/ledger/readByCsl.ts";
import { ADA, ANSWERS_POOLS, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { Stranger } from "../../support/service/externalUser.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const SHARED = "shared-wallets";
const ACCOUNT = ["1854H", "1815H", "30H"];
const lovelace = (quantity: bigint) => ({ quantity, unit: "lovelace" as const });

type Body = Readonly<Record<string, unknown>>;
// deno-lint-ignore no-explicit-any -- wallets, incomplete and whole
type Shown = any;

/** A co-owner at their own server. */
class Owner {
  id = "";
  readonly words = newMnemonic(15);
  readonly client: WalletClient;

  constructor(readonly arbor: Arbor, readonly cosigner: string) {
    this.client = new WalletClient(arbor.wallets);
  }

  create(body: Body): Promise<Shown> {
    return this.client.send("POST", `/${SHARED}`, body);
  }

  wallet(id = this.id): Promise<Shown> {
    return this.client.get(`/${SHARED}/${id}`);
  }

  /** Adds keys to a template. */
  patch(type: "payment" | "delegation", keys: Body): Promise<Shown> {
    return this.client.send("PATCH", `/${SHARED}/${this.id}/${type}-script-template`, keys);
  }

  construct(body: Body): Promise<Constructed> {
    return this.client.construct(this.id, body as never, SHARED);
  }

  async sign(transaction: string): Promise<string> {
    return (await this.client.sign(this.id, transaction, PASSPHRASE, SHARED)).transaction;
  }

  decode(transaction: string): Promise<Decoded> {
    return this.client.decode(this.id, { transaction }, SHARED);
  }

  async submit(transaction: string): Promise<string> {
    return (await this.client.submit(this.id, transaction, { prefix: SHARED })).id;
  }

  /** Waits until the wallet lists a transaction with a status; `gone`: until it no longer lists it. */
  async lists(hash: string, status: Transaction["status"] | "gone"): Promise<Transaction> {
    return (await until(`a transaction ${status}`, async () => {
      const found = await this.client.transaction(this.id, hash, {}, SHARED).catch((error: ApiError) => {
        if (error.status !== 404) throw error;
      });
      return (found?.status ?? "gone") === status && { found: found! };
    }, 60_000)).found;
  }

  /** Waits until this much lovelace can be spent, and the wallet is ready. */
  async has(amount: bigint): Promise<void> {
    await until(`${amount} lovelace`, async () => {
      const { state, balance } = await this.wallet();
      return state.status === "ready" && BigInt(balance.available.quantity) === amount;
    }, 60_000);
  }
}

describe("a wallet of two", () => {
  const socket = socketPath();
  let scenario: Scenario;
  let beside: SecondService;
  let alice: Owner;
  let carol: Owner;
  let bob: Stranger;
  const owners = () => [alice, carol];
  const pay = (amount: bigint) => ({ payments: [{ address: bob.address, amount: lovelace(amount) }] });
  const key = (owner: Owner) => owner.client.accountKey(owner.id, "extended", SHARED);
  /** A wallet's faucet payment, in a block. */
  const give = async (address: string, amount: bigint) => {
    const hash = await scenario.faucet(address, amount);
    await scenario.blocks();
    return hash;
  };
  /** Everybody signs, in this order. */
  const signed = async (transaction: string, ...by: Owner[]) => {
    for (const owner of by) transaction = await owner.sign(transaction);
    return transaction;
  };
  /** Expected refusals: status and code. */
  const refused = (request: Promise<unknown>) => scenario.refused(request);

  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, env: { ARBOR_SOCKET: socket, ARBOR_POOLS: "1" } });
    beside = await startSecondService(socket);
    await scenario.blocks();
    // the server that is paused for a while is the one without the devnet
    alice = new Owner(beside.arbor, "cosigner#0");
    carol = new Owner(scenario.arbor, "cosigner#1");
    bob = new Stranger(scenario.devnet);
  });
  afterAll(async () => {
    await beside?.stop();
    await scenario?.stop();
  });

  it("is created by each co-owner, and waits for the other's key", async () => {
    for (const owner of owners()) {
      const template = (script: unknown) => ({ cosigners: { [owner.cosigner]: "self" }, template: script });
      const wallet = await owner.create({
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
      expect(await owner.client.addresses(owner.id, {}, SHARED)).toEqual([]);
      expect(await refused(owner.construct(pay(ADA)))).toEqual([403, "shared_wallet_incomplete"]);
    }
    expect(alice.id).not.toBe(carol.id);
    expect(await refused(alice.wallet(carol.id))).toEqual([404, "no_such_wallet"]);
  });

  it("refuses keys that do not fit, replaces a key while it waits, and is complete with the last", async () => {
    const [own, other] = [await key(alice), await key(carol)];
    expect(await refused(alice.patch("payment", { "cosigner#0": other })))
      .toEqual([403, "shared_wallet_cannot_update_key"]);
    expect(await refused(alice.patch("payment", { "cosigner#1": own })))
      .toEqual([403, "shared_wallet_key_already_exists"]);
    expect(await refused(alice.patch("payment", { "cosigner#1": "something" }))).toEqual([400, "bad_request"]);
    for (const type of ["payment", "delegation"] as const) {
      const { status, code, details, message } = await scenario.refusal(alice.patch(type, { "cosigner#7": other }));
      expect(message).toBe(
        `It looks like you've tried to add a cosigner key to a shared wallet's ${type} template for a non-existing cosigner index: 7`,
      );
      expect([status, code, details]).toEqual([
        403,
        "shared_wallet_no_such_cosigner",
        { cosigner_index: 7, credential_type: type },
      ]);
    }

    const wrong = await alice.client.send("POST", `/${SHARED}/${alice.id}/keys/31H`, {
      passphrase: PASSPHRASE,
      format: "extended",
    });
    expect(await alice.patch("payment", { "cosigner#1": wrong })).toMatchObject({
      state: { status: "incomplete" },
      payment_script_template: { cosigners: { "cosigner#1": wrong } },
    });
    // one template complete, the other not
    expect((await alice.patch("payment", { "cosigner#1": other })).state.status).toBe("incomplete");
    expect(["syncing", "ready"]).toContain((await alice.patch("delegation", { "cosigner#1": other })).state.status);
    expect(await refused(alice.patch("payment", { "cosigner#1": other }))).toEqual([403, "shared_wallet_active"]);
    for (const type of ["payment", "delegation"] as const) await carol.patch(type, { "cosigner#0": own });
    for (const owner of owners()) {
      await owner.has(0n);
      expect((await owner.client.get<Shown[]>(`/${SHARED}`)).map(({ id }) => id)).toEqual([owner.id]);
    }
  });

  let addresses: readonly { readonly id: string; readonly derivation_path: readonly string[] }[];

  it("has the same addresses for both, those of its scripts", async () => {
    addresses = await alice.client.addresses(alice.id, { state: "unused" }, SHARED);
    expect(addresses).toHaveLength(20);
    expect(await carol.client.addresses(carol.id, { state: "unused" }, SHARED)).toEqual(addresses);
    const keys = [await key(alice), await key(carol)];
    for (const index of [0, 3]) {
      expect(addresses[index]).toMatchObject({
        id: addressByCsl(keys, index),
        derivation_path: [...ACCOUNT, "0", String(index)],
      });
    }
    await give(addresses[0]!.id, 100n * ADA);
    for (const owner of owners()) await owner.has(100n * ADA);
  });

  it("pays with signatures added in turn, submitted by any, and listed by both", async () => {
    const { transaction, fee, coin_selection: selection } = await alice.construct(pay(10n * ADA));
    expect(selection.inputs[0]!.derivation_path).toEqual([...ACCOUNT, "0", "0"]);
    expect(selection.change[0]!.derivation_path.slice(0, 4)).toEqual([...ACCOUNT, "1"]);
    for (const owner of owners()) {
      const decoded = await owner.decode(transaction);
      expect(decoded.witness_count).toMatchObject({ verification_key: 0, bootstrap: 0 });
      expect(decoded.witness_count.scripts).toHaveLength(1);
      expect(decoded.inputs[0]!.amount!.quantity).toBe(100_000_000);
      expect(decoded.outputs.filter((one) => one.derivation_path !== undefined)).toHaveLength(1);
      expect(decoded.fee).toEqual(fee);
    }
    const wrong = { transaction, passphrase: "another passphrase" };
    expect(await refused(alice.client.send("POST", `/${SHARED}/${alice.id}/transactions-sign`, wrong)))
      .toEqual([403, "wrong_encryption_passphrase"]);

    const half = await alice.sign(transaction);
    expect((await carol.decode(half)).witness_count.verification_key).toBe(1);
    expect(await refused(alice.submit(half))).toEqual([403, "missing_witnesses_in_transaction"]);
    const early = await scenario.refusal(carol.client.proxy(bytesOf(half)));
    expect([early.code, JSON.stringify(early.details)]).toEqual([
      "created_invalid_transaction",
      expect.stringContaining("ScriptWitnessNotValidatingUTXOW"),
    ]);

    const whole = await carol.sign(half);
    expect((await alice.decode(whole)).witness_count.verification_key).toBe(2);
    const read = readByCsl(whole);
    expect([read.signedBy.length, read.nativeScripts, read.bootstrap]).toEqual([2, 1, 0]);
    expect(read.outputs).toContainEqual({ address: bob.address, lovelace: 10n * ADA, assets: {}, datum: false });
    expect(read.fee).toBe(BigInt(fee.quantity));
    expect(read.fee).toBeGreaterThanOrEqual(leastFee(whole));
    // the order of the signatures changes nothing
    expect(readByCsl(await signed(transaction, carol, alice))).toEqual(read);
    expect(await carol.submit(whole)).toBe(read.id);
    await scenario.blocks();
    for (const owner of owners()) {
      expect(await owner.lists(read.id, "in_ledger")).toMatchObject({
        direction: "outgoing",
        amount: { quantity: Number(10n * ADA + read.fee) },
        fee,
      });
      await owner.has(90n * ADA - read.fee);
      expect(await owner.client.addresses(owner.id, { state: "used" }, SHARED)).toHaveLength(2);
      const { entries } = await owner.client.utxos(owner.id, SHARED);
      expect(entries.map(({ ada }) => BigInt(ada.quantity))).toEqual([90n * ADA - read.fee]);
      expect((await owner.client.statistics(owner.id, SHARED)).distribution).toMatchObject({ "100000000": 1 });
    }
  });

  it.skipIf(!ANSWERS_POOLS)("delegates; one alone signs for the stake, both for the coins", async () => {
    const [pool] = await alice.client.stakePools(ADA);
    const join = (index: string) => ({ delegations: [{ join: { pool: pool!.id, stake_key_index: index } }] });
    // a wallet has one stake key, with index 0H, whatever its account index is
    expect(await refused(carol.construct(join("30H")))).toEqual([403, "created_multiaccount_transaction"]);
    const { transaction, coin_selection: selection } = await carol.construct({ ...join("0H"), vote: "abstain" });
    const account = [...ACCOUNT, "2", "0"];
    expect(selection.certificates!.map((one) => one.reward_account_path)).toEqual([account, account, account]);
    const decoded = await alice.decode(transaction);
    const kinds = decoded.witness_count.scripts.flatMap((shown) =>
      Object.entries((shown as { script: unknown }).script as Record<string, string[]>).map(([name, leaves]) =>
        [name, ...new Set(leaves.map((leaf) => leaf.split("1")[0]))].join(" ")
      )
    );
    expect(kinds.sort()).toEqual(["all addr_shared_vkh", "any stake_shared_vkh"]);
    const whole = await signed(transaction, carol, alice);
    expect([readByCsl(whole).signedBy.length, readByCsl(whole).nativeScripts]).toEqual([3, 2]);
    const id = await alice.submit(whole);
    await scenario.blocks();
    for (const owner of owners()) {
      const { certificates, deposit_taken: taken } = await owner.lists(id, "in_ledger");
      expect(taken.quantity).toBe(2_000_000);
      for (const one of certificates) expect(one).toMatchObject({ reward_account_path: account });
      const { delegation } = await owner.wallet();
      expect([delegation.active, ...delegation.next]).toContainEqual(
        expect.objectContaining({ status: "delegating_and_voting", target: pool!.id, voting: "abstain" }),
      );
    }
    const ledger = await http(scenario.devnet, "GET", `/accounts/${addresses[0]!.id}`);
    expect(ledger.body).toMatchObject({ registered: true, pool: pool!.id, drep: "abstain" });
    expect(await refused(alice.construct(join("0H")))).toEqual([403, "pool_already_joined"]);
  });

  it("detects the other owner's competing spend before its own transaction expires", async () => {
    const [mine, theirs] = [await alice.construct(pay(3n * ADA)), await carol.construct(pay(4n * ADA))];
    const [first, second] = [
      await signed(mine.transaction, alice, carol),
      await signed(theirs.transaction, carol, alice),
    ];
    const hash = await alice.submit(first);
    await scenario.blocks();
    const { inserted_at: place } = await alice.lists(hash, "in_ledger");
    await carol.lists(hash, "in_ledger");
    // Alice's server is away while the network forgets her transaction and takes the other one
    alice.arbor.signal("SIGSTOP");
    let other: string;
    try {
      await scenario.rollbackTo(Number(place!.height.quantity), true);
      await scenario.blocks();
      await carol.lists(hash, "gone");
      other = await carol.submit(second);
      await scenario.blocks();
      await carol.lists(other, "in_ledger");
    } finally {
      alice.arbor.signal("SIGCONT");
    }
    expect(await alice.lists(other, "in_ledger")).toMatchObject({ direction: "outgoing" });
    const given = await alice.lists(hash, "expired");
    const { tip } = await alice.wallet();
    expect(Number(given.validity_interval!.invalid_hereafter!.quantity)).toBeGreaterThan(tip.absolute_slot_number);
  });

  it("is restored and watched by public keys alone; another server signs", async () => {
    const account = await carol.client.send<string>("POST", `/${SHARED}/${carol.id}/keys/5H`, {
      passphrase: PASSPHRASE,
      format: "extended",
    });
    // either the account alone, or the other owner after a slot that has passed, with one of two more
    const template = {
      any: ["cosigner#0", {
        all: ["cosigner#1", { active_from: 1 }, { some: { at_least: 1, from: ["cosigner#0", "cosigner#1"] } }],
      }],
    };
    const other = await key(alice);
    const common = {
      name: "Seen",
      account_index: "5H",
      payment_script_template: { cosigners: { "cosigner#0": account, "cosigner#1": other }, template },
      address_pool_gap: 10,
    };
    const seen = await alice.create({ ...common, account_public_key: account });
    expect(seen.passphrase).toBeUndefined();
    expect(seen.payment_script_template.template).toEqual(template);
    const [one] = await alice.client.addresses(seen.id, {}, SHARED);
    // without a template for delegation it has no stake
    expect(one!.id).toMatch(/^addr_test1w/);
    const [pool] = await alice.client.stakePools(ADA);
    const acts: readonly Body[] = [
      { delegations: [{ join: { pool: pool!.id, stake_key_index: "0H" } }] },
      { delegations: [{ quit: { stake_key_index: "0H" } }] },
      { vote: "abstain" },
      { withdrawal: "self" },
    ];
    for (const body of acts) {
      expect(await refused(alice.client.construct(seen.id, body as never, SHARED)), JSON.stringify(body))
        .toEqual([403, "delegation_invalid"]);
    }
    const paid = await give(one!.id, 5n * ADA);
    const lists = (owner: Owner, hash: string) =>
      until("a transaction in the ledger", async () => {
        const found = await owner.client.transaction(seen.id, hash, {}, SHARED).catch(() => undefined);
        return found?.status === "in_ledger";
      }, 60_000);
    await lists(alice, paid);
    const { transaction } = await alice.client.construct(seen.id, pay(2n * ADA), SHARED);
    expect(await refused(alice.client.sign(seen.id, transaction, PASSPHRASE, SHARED))).toEqual([403, "no_root_key"]);

    const full = await carol.create({ ...common, mnemonic_sentence: carol.words, passphrase: PASSPHRASE });
    expect(full.id).toBe(seen.id);
    await lists(carol, paid);
    const whole = await carol.client.sign(full.id, transaction, PASSPHRASE, SHARED);
    expect(readByCsl(whole.transaction).start).toBeGreaterThanOrEqual(1n);
    const { id } = await alice.client.submit(seen.id, whole.transaction, { prefix: SHARED });
    await scenario.blocks();
    await lists(carol, id);
    await lists(alice, id);
  });

  it("is refused if its scripts are invalid, or not recommended unless the request says so", async () => {
    const create = (template: unknown, more: Body = {}) =>
      carol.create({
        name: "Another",
        mnemonic_sentence: carol.words,
        passphrase: PASSPHRASE,
        account_index: "0H",
        payment_script_template: { cosigners: { "cosigner#0": "self" }, template },
        ...more,
      });
    const required = { script_validation: "required" };
    const some = (least: number, ...from: unknown[]) => ({ some: { at_least: least, from } });
    const invalid = [403, "shared_wallet_script_template_invalid"];
    const cases: readonly (readonly [template: unknown, answer: readonly unknown[], more?: Body])[] = [
      [{ all: [{ active_from: 5 }] }, invalid],
      [{ any: [] }, invalid],
      ["cosigner#1", invalid],
      [some(3, "cosigner#0", { any: ["cosigner#0"] }), invalid],
      [{ all: ["cosigner#0", { any: [] }] }, invalid],
      [{ all: ["cosigner#0", "cosigner#0"] }, invalid],
      [some(0, "cosigner#0"), invalid],
      [{ all: ["cosigner#0", { active_from: 9 }, { active_until: 5 }] }, invalid],
      ["cosigner#0", [403, "hardened_derivation_required"], { account_index: "0" }],
      [{ all: ["cosigner"] }, [400, "bad_request"]],
      [{ every: ["cosigner#0"] }, [400, "bad_request"]],
      [some(-1, "cosigner#0"), [400, "bad_request"]],
    ];
    for (const [template, answer, more] of cases) {
      expect(await refused(create(template, more)), JSON.stringify(template)).toEqual(answer);
    }
    // a script that is not recommended passes `required`, and one that can never be satisfied passes `none`
    const unwise = { all: ["cosigner#0", { some: { at_least: 0, from: ["cosigner#0", { active_from: 5 }] } }] };
    expect(await refused(create(unwise))).toEqual(invalid);
    const { id, payment_script_template: template } = await create(unwise, required);
    expect(template.template).toEqual(unwise);
    expect(await refused(create(unwise, required))).toEqual([409, "wallet_already_exists"]);
    await create({ all: ["cosigner#0", { any: [] }] }, { script_validation: "none" });
    const alone = await create({ all: ["cosigner#0", "cosigner#1"] });
    const keys = { "cosigner#1": await key(alice) };
    expect(await refused(carol.client.send("PATCH", `/${SHARED}/${alone.id}/delegation-script-template`, keys)))
      .toEqual([403, "shared_wallet_no_delegation_template"]);
    const renamed = await carol.client.send<Shown>("PUT", `/${SHARED}/${id}`, { name: "Renamed" });
    expect([renamed.id, renamed.name]).toEqual([id, "Renamed"]);
  });

  it("has the id of the published example", async () => {
    const words = "rib kiwi begin other second pool raise prosper inspire forum keep stereo option ride region";
    const { id } = await carol.create({
      name: "Golden",
      mnemonic_sentence: words.split(" "),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
    });
    expect(id).toBe("654a69cd246ab08aeb4d44837ff5d5ceddfbce20");
  });

  it("is deleted for one cosigner; the other still has it", async () => {
    await alice.client.delete(alice.id, SHARED);
    expect(await refused(alice.wallet())).toEqual([404, "no_such_wallet"]);
    expect(await refused(alice.client.delete(alice.id, SHARED))).toEqual([404, "no_such_wallet"]);
    expect((await carol.wallet()).state.status).toBe("ready");
  });
});

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

/** The address of `all` for payment and `any` for delegation, from account keys in the API's form. */
function addressByCsl(accounts: readonly string[], index: number): string {
  const script = (role: number, at: number, kind: "all" | "any") => {
    const leaves = csl.NativeScripts.new();
    for (const account of accounts) {
      const hash = csl.Bip32PublicKey.from_bytes(fromBech32(account)!.bytes).derive(role).derive(at).to_raw_key()
        .hash();
      leaves.add(csl.NativeScript.new_script_pubkey(csl.ScriptPubkey.new(hash)));
    }
    const whole = kind === "all"
      ? csl.NativeScript.new_script_all(csl.ScriptAll.new(leaves))
      : csl.NativeScript.new_script_any(csl.ScriptAny.new(leaves));
    return csl.Credential.from_scripthash(whole.hash());
  };
  return csl.BaseAddress.new(0, script(0, index, "all"), script(2, 0, "any")).to_address().to_bech32();
}
