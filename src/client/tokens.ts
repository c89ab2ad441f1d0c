/**
 * The typed client of the token service; it runs in a browser. Keys never leave it: transactions are signed here.
 *
 * ```ts
 * const client = new TokenClient("http://127.0.0.1:3000");
 * const { unsignedTransaction, value } = await client.boot(address);
 * await client.submitAndWait(signTransaction(unsignedTransaction, key));
 * ```
 */
import type { z } from "zod";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { sleep } from "#src/base/clock.ts";
import type * as api from "#src/api/tokens.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys.ts";
import { addWitness, transactionHash } from "#src/cardano/transaction.ts";
import { factSegment } from "#src/client/factKey.ts";
import { ApiError, call } from "#src/client/http.ts";
import type { FactProof } from "#src/client/proofs.ts";

export type Token = z.output<typeof api.token>;
export type Tokens = z.output<typeof api.tokens>;
export type Facts = z.output<typeof api.facts>;
export type LedgerTransaction = z.output<typeof api.transaction>;
export type Unsigned = z.output<typeof api.unsigned>;
export type UnsignedBoot = z.output<typeof api.unsignedBoot>;
export type UnsignedRequest = z.output<typeof api.unsignedRequest>;
export type UpdateDryRun = z.output<typeof api.updateDryRun>;
export type UnsignedTransfer = z.output<typeof api.unsignedTransfer>;
export type UnsignedUpdate = z.output<typeof api.unsignedUpdate>;

/** A transaction (hexadecimal CBOR) with the signatures of some keys added; every other byte stays as it is. */
export function signTransaction(unsigned: string, ...keys: readonly SigningKey[]): string {
  const transaction = fromHex(unsigned);
  const hash = fromHex(transactionHash(transaction));
  return toHex(addWitness(
    transaction,
    ...keys.map((key) => ({ key: publicKey(key), signature: sign(key, hash) })),
  ));
}

const updatePath = (address: string, tokenId: string, requests: readonly string[]) =>
  `/transaction/${address}/update-token/${tokenId}?${requests.map((request) => `request=${request}`).join("&")}`;

export class TokenClient {
  /** `base` is the address of the service, such as `http://127.0.0.1:3000`. Every method throws `ApiError`. */
  constructor(readonly base: string) {}

  tokens(): Promise<Tokens> {
    return this.get("/tokens");
  }

  token(tokenId: string): Promise<Token> {
    return this.get(`/token/${tokenId}`);
  }

  facts(tokenId: string): Promise<Facts> {
    return this.get(`/token/${tokenId}/facts`);
  }

  /** A fact or its absence with its proof, which `verifyFact` checks; `key` is bytes, or a text as this API writes keys. */
  fact(tokenId: string, key: string | Uint8Array): Promise<FactProof> {
    const { segment, query } = factSegment(key);
    return this.get(`/token/${tokenId}/facts/${segment}${query}`);
  }

  /** The transaction that creates a token; `value` is the token's id. */
  boot(address: string): Promise<UnsignedBoot> {
    return this.get(`/transaction/${address}/boot-token`);
  }

  insert(address: string, tokenId: string, key: string, newValue: string): Promise<UnsignedRequest> {
    return this.post(`/transaction/${address}/request-insert/${tokenId}`, { key, newValue });
  }

  update(address: string, tokenId: string, key: string, oldValue: string, newValue: string): Promise<UnsignedRequest> {
    return this.post(`/transaction/${address}/request-update/${tokenId}`, { key, oldValue, newValue });
  }

  delete(address: string, tokenId: string, key: string, oldValue: string): Promise<UnsignedRequest> {
    return this.post(`/transaction/${address}/request-delete/${tokenId}`, { key, oldValue });
  }

  retract(address: string, request: string): Promise<Unsigned> {
    return this.get(`/transaction/${address}/retract-change/${request}`);
  }

  /** The transaction that applies requests (`<hash>-<index>`); without any, as many of those that are open as can be applied and as fit. */
  apply(address: string, tokenId: string, requests: readonly string[] = []): Promise<UnsignedUpdate> {
    return this.get(updatePath(address, tokenId, requests));
  }

  /** What `apply` would do, and what it would leave open; these requests may be ones that it cannot apply. */
  tryApply(address: string, tokenId: string, requests: readonly string[] = []): Promise<UpdateDryRun> {
    return this.get(`${updatePath(address, tokenId, requests)}&dryRun=true`);
  }

  /** The transaction that gives a token to another owner, whose address is `to`: both sign it. */
  transfer(address: string, tokenId: string, to: string): Promise<UnsignedTransfer> {
    return this.get(`/transaction/${address}/transfer-token/${tokenId}?to=${to}`);
  }

  end(address: string, tokenId: string): Promise<Unsigned> {
    return this.get(`/transaction/${address}/end-token/${tokenId}`);
  }

  /** Submits a signed transaction; gives its hash. */
  async submit(signedTransaction: string): Promise<string> {
    const answer = await this.post<{ txHash: string }>("/transaction", { signedTransaction });
    return answer.txHash;
  }

  /** A transaction of the ledger, or undefined while it is not there. */
  async transaction(txHash: string): Promise<LedgerTransaction | undefined> {
    try {
      return await this.get(`/transaction?txHash=${txHash}`);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Submits and waits until the ledger has it. Throws `ApiError` with code `wait_too_long` after `timeoutMs`. */
  async submitAndWait(signedTransaction: string, timeoutMs = 120_000): Promise<string> {
    const hash = await this.submit(signedTransaction);
    for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(100)) {
      if (await this.transaction(hash)) return hash;
    }
    throw new ApiError(0, "wait_too_long", `Transaction ${hash} is not in the ledger after ${timeoutMs} ms.`);
  }

  /** Waits until the index has read `n` more blocks; gives its height. */
  async waitBlocks(n: number): Promise<number> {
    return (await this.post<{ height: number }>("/indexer/wait-blocks", { n })).height;
  }

  private async get<T>(path: string): Promise<T> {
    return (await call(this.base, "GET", path)) as T;
  }

  private async post<T>(path: string, body: unknown): Promise<T> {
    return (await call(this.base, "POST", path, body)) as T;
  }
}
