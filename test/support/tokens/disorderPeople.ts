/** Users of the token service, of the wallet service and of signing instances, as the driver in `disorder.ts` sees them. */
import { Buffer } from "node:buffer";
import { CslAccount } from "../wallets/cslAccount.ts";
import { type PlainChange, plainTransaction } from "./plainChain.ts";
import { type Answer, unsignedPayment, User } from "../service/user.ts";

const ADA = 1_000_000n;
export const PASSPHRASE = "Secure Passphrase";

/** Where people send their requests. */
export interface Services {
  readonly tokens: string;
  readonly wallets: string;
  readonly devnet: string;
  /** Sends a request until its answer is not "come back later". */
  ask(base: () => string, method: string, place: string, body?: object): Promise<Answer>;
  /** The same for a change, under a new idempotency key. */
  once(who: string, base: () => string, method: string, place: string, body?: object): Promise<Answer>;
}

/** The answer to an operation. */
export type Outcome =
  | {
    readonly ok: true;
    readonly hash?: string;
    readonly token?: string;
    readonly root?: string;
    readonly applied?: readonly string[];
  }
  | {
    readonly ok: false;
    readonly status: number;
    readonly code: string;
    readonly details: unknown;
    readonly message: string;
  };

export interface Change {
  readonly type: "insert" | "update" | "delete";
  readonly key: string;
  readonly oldValue?: string;
  readonly newValue?: string;
}

/** A user, by whatever means. */
export interface Person {
  readonly name: string;
  /** Where deposits and payments go, bech32. */
  readonly address: string;
  readonly keyHash: string;
  readonly means: "signer" | "wallet" | "key";
  boot(): Promise<Outcome>;
  request(token: string, change: Change, strict: boolean): Promise<Outcome>;
  /** Without requests: all that can be applied. */
  update(token: string, requests: readonly string[] | undefined): Promise<Outcome>;
  retract(request: string): Promise<Outcome>;
  end(token: string): Promise<Outcome>;
}

export const hex = (text: string) => Buffer.from(text).toString("hex");

export const plainChange = ({ type, oldValue, newValue }: Change): PlainChange =>
  type === "insert"
    ? { type, value: hex(newValue!) }
    : type === "delete"
    ? { type, value: hex(oldValue!) }
    : { type, old: hex(oldValue!), value: hex(newValue!) };

const outcome = (
  { status, body }: Answer,
  good: (body: Answer["body"]) => Omit<Outcome & { ok: true }, "ok">,
): Outcome =>
  status === 200 || status === 202
    ? { ok: true, ...good(body) }
    : { ok: false, status, code: body?.code ?? "", details: body?.details, message: body?.error ?? body?.message };

/** A user of the token service: `sign` adds the user's signature to a transaction in hexadecimal. */
export abstract class Builder {
  abstract readonly address: string;
  /** Query of the user's builds. */
  protected readonly query: string = "";
  abstract sign(unsigned: string): Promise<string>;
  readonly signed: string[] = [];

  constructor(protected readonly services: Services) {}

  build(action: string, subject: string, query: readonly string[] = [], body?: object): Promise<Answer> {
    const queries = [...query, ...this.query === "" ? [] : [this.query]].join("&");
    const place = subject === "" ? "" : `/${subject}`;
    const target = `/transaction/${this.address}/${action}${place}${queries === "" ? "" : `?${queries}`}`;
    return this.services.ask(() => this.services.tokens, body ? "POST" : "GET", target, body);
  }

  /** Signs and submits a build; the same bytes until there is an answer. */
  async send(built: Answer, by: readonly Builder[] = [this]): Promise<Outcome> {
    if (built.status !== 200) return outcome(built, () => ({}));
    let signedTransaction: string = built.body.unsignedTransaction;
    for (const one of by) signedTransaction = await one.sign(signedTransaction);
    const sent = await this.services.ask(() => this.services.tokens, "POST", "/transaction", { signedTransaction });
    if (sent.status === 200) this.signed.push(signedTransaction);
    const { value: token, mpfRoot: root, applied } = built.body;
    return outcome(sent, ({ txHash: hash }) => ({ hash, token, root, applied }));
  }

  async boot(): Promise<Outcome> {
    return await this.send(await this.build("boot-token", ""));
  }
  async request(token: string, { type, ...body }: Change, strict: boolean): Promise<Outcome> {
    return await this.send(await this.build(`request-${type}`, token, strict ? ["strict=true"] : [], body));
  }
  async update(token: string, requests: readonly string[] = []): Promise<Outcome> {
    return await this.send(await this.build("update-token", token, requests.map((one) => `request=${one}`)));
  }
  async retract(request: string): Promise<Outcome> {
    return await this.send(await this.build("retract-change", request));
  }
  async end(token: string): Promise<Outcome> {
    return await this.send(await this.build("end-token", token));
  }
  async transfer(token: string, to: Person & Builder): Promise<Outcome> {
    return await this.send(await this.build("transfer-token", token, [`to=${to.address}`]), [this, to]);
  }
}

/** A user with a key. */
export class KeyPerson extends Builder implements Person {
  readonly means = "key";
  private readonly user: User;
  readonly address: string;
  readonly keyHash: string;

  constructor(services: Services, readonly name: string, kind: "base" | "enterprise") {
    super(services);
    this.user = new User(kind);
    ({ address: this.address, keyHash: this.keyHash } = this.user);
  }

  sign(unsigned: string): Promise<string> {
    return Promise.resolve(this.user.sign(unsigned));
  }

  /** Pays with a transaction that the service has not built, out of the ledger's largest coin that is not spent. */
  async pay(to: string, amount: bigint): Promise<Outcome | undefined> {
    const fee = 200_000n;
    const { body } = await this.services.ask(() => this.services.devnet, "GET", `/utxos/${this.address}`);
    const spent = new Set(this.signed.flatMap((one) => plainTransaction(one).inputs));
    const [coin] = (body.utxos as { txHash: string; index: number; lovelace: number; assets: object }[])
      .filter(({ txHash, index, assets }) => Object.keys(assets).length === 0 && !spent.has(`${txHash}-${index}`))
      .sort((a, b) => b.lovelace - a.lovelace);
    if (coin === undefined || BigInt(coin.lovelace) < amount + fee + 2n * ADA) return undefined;
    const rest = BigInt(coin.lovelace) - amount - fee;
    const outputs = [{ address: to, lovelace: amount }, { address: this.address, lovelace: rest }];
    const unsignedTransaction = unsignedPayment(coin, outputs, fee);
    return await this.send({ status: 200, body: { unsignedTransaction } });
  }
}

/** A wallet of the wallet service, whose transactions at the contract the token service builds. */
export class WalletPerson extends Builder implements Person {
  readonly means = "wallet";
  private readonly account: CslAccount;
  readonly address: string;
  readonly keyHash: string;
  protected override readonly query: string;

  constructor(services: Services, readonly name: string, readonly words: readonly string[]) {
    super(services);
    this.account = new CslAccount(words);
    this.address = this.account.address(0);
    this.keyHash = this.account.key(0, 0).hash().to_hex();
    this.query = `wallet=${this.id}`;
  }

  get id(): string {
    return this.account.walletId;
  }

  async sign(unsigned: string): Promise<string> {
    const transaction = Buffer.from(unsigned, "hex").toString("base64");
    const place = `/wallets/${this.id}/transactions-sign`;
    const { status, body } = await this.services.ask(() => this.services.wallets, "POST", place, {
      transaction,
      passphrase: PASSPHRASE,
    });
    if (status !== 202) throw new Error(`${this.name} does not sign: ${status} ${JSON.stringify(body)}`);
    return Buffer.from(body.transaction, "base64").toString("hex");
  }

  async pay(to: string, amount: bigint): Promise<Outcome> {
    const payments = [{ address: to, amount: { quantity: Number(amount), unit: "lovelace" } }];
    const body = { payments, passphrase: PASSPHRASE };
    return outcome(
      await this.services.once(
        this.name,
        () => this.services.wallets,
        "POST",
        `/wallets/${this.id}/transactions`,
        body,
      ),
      ({ id: hash }) => ({ hash }),
    );
  }
}

/** A user of a signing instance, every change of which has an idempotency key. */
export class SignerPerson implements Person {
  readonly means = "signer";
  readonly address: string;
  readonly keyHash: string;
  readonly id: string;

  constructor(
    private readonly services: Services,
    readonly name: string,
    readonly base: () => string,
    words: readonly string[],
  ) {
    const account = new CslAccount(words);
    this.address = account.address(0);
    this.keyHash = account.key(0, 0).hash().to_hex();
    this.id = account.walletId;
  }

  private send(method: string, place: string, body?: object): Promise<Answer> {
    return this.services.once(this.name, this.base, method, place, body);
  }

  async boot(): Promise<Outcome> {
    return outcome(await this.send("POST", "/token"), ({ tokenId: token }) => ({ token }));
  }
  async request(token: string, body: Change): Promise<Outcome> {
    return outcome(
      await this.send("POST", `/token/${token}/request?force=true`, body),
      (ref) => ({ hash: ref.slice(0, 64) }),
    );
  }
  async update(token: string, requestIds: readonly string[] = []): Promise<Outcome> {
    const answer = await this.send("PUT", `/token/${token}`, { requestIds });
    return outcome(answer, ({ txHash: hash, value: root }) => ({ hash, root }));
  }
  async retract(request: string): Promise<Outcome> {
    return outcome(await this.send("DELETE", `/request/${request}`), ({ txHash: hash }) => ({ hash }));
  }
  async end(token: string): Promise<Outcome> {
    return outcome(await this.send("DELETE", `/token/${token}`), ({ txHash: hash }) => ({ hash }));
  }
}
