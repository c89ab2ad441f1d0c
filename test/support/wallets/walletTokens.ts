/** A wallet whose addresses use the token service: built there, signed by the wallet, submitted to any service. */
import { Buffer } from "node:buffer";
import { http } from "../service/user.ts";
import { PASSPHRASE, type Scenario } from "../service/scenario.ts";

/** An answer of the token service to a build. */
export interface TokenBuild {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

export class WalletTokens {
  constructor(readonly scenario: Scenario, readonly id: string, readonly address: string, readonly whole = false) {}

  /** The same wallet, paying with the coins of all of its addresses. */
  paying(): WalletTokens {
    return new WalletTokens(this.scenario, this.id, this.address, true);
  }

  get tokens(): string {
    return this.scenario.arbor.tokens;
  }

  /** Builds for the wallet's address; `subject` may end in a query. */
  build(action: string, subject = "", body?: object): Promise<TokenBuild> {
    const [place = "", query] = subject.split("?");
    const wallet = this.whole ? [`wallet=${this.id}`] : [];
    const queries = [...query === undefined ? [] : [query], ...wallet].join("&");
    const path = `/transaction/${this.address}/${action}${place === "" ? "" : `/${place}`}?${queries}`;
    return http(this.tokens, body ? "POST" : "GET", path, body);
  }

  /** The transaction signed by the wallet, in hexadecimal. */
  async sign(unsigned: string): Promise<string> {
    const base64 = Buffer.from(unsigned, "hex").toString("base64");
    const { transaction } = await this.scenario.client.sign(this.id, base64, PASSPHRASE);
    return Buffer.from(transaction, "base64").toString("hex");
  }

  submit(signedTransaction: string): Promise<TokenBuild> {
    return http(this.tokens, "POST", "/transaction", { signedTransaction });
  }

  /** Signs and submits a build to the token service; the hash. */
  async send({ status, body }: TokenBuild): Promise<string> {
    if (status !== 200) throw new Error(`not built: ${status} ${JSON.stringify(body)}`);
    const sent = await this.submit(await this.sign(body.unsignedTransaction));
    if (sent.status !== 200) throw new Error(`refused: ${sent.status} ${JSON.stringify(sent.body)}`);
    return sent.body.txHash;
  }
}
