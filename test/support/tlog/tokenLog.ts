/** A token service's log as a reader sees it over HTTP, and tokens to fill it. */
import { fromUtf8 } from "#src/base/bytes.ts";
import { type Checkpoint, openCheckpoint } from "#src/tlog/checkpoint.ts";
import { type NoteKey, parseVkey } from "#src/tlog/note.ts";
import { decodeEntries, TILE_WIDTH, tilePath } from "#src/tlog/tiles.ts";
import type { LogLeaf } from "#src/contract/logLeaf.ts";
import { parseLeaf } from "#src/contract/logLeaf.ts";
import { until } from "../base/until.ts";
import { type Answer, http, User } from "../service/user.ts";
import { plainRoot } from "./plainTree.ts";

function valueOf<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** A log at a token service. */
export class TokenLogReader {
  constructor(readonly base: string) {}

  async text(path: string): Promise<string> {
    const response = await fetch(this.base + path);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  }

  async bytes(path: string): Promise<Uint8Array> {
    const response = await fetch(this.base + path);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The log's key. */
  async key(): Promise<NoteKey> {
    return valueOf(parseVkey((await http(this.base, "GET", "/log")).body.vkey));
  }

  /** The newest checkpoint, verified; waits for the first. */
  async checkpoint(): Promise<Checkpoint & { readonly note: string }> {
    await until("the first checkpoint", async () => (await fetch(`${this.base}/log/checkpoint`)).ok);
    const note = await this.text("/log/checkpoint");
    return { ...valueOf(openCheckpoint(note, [await this.key()])).checkpoint, note };
  }

  /** All entries; they have the root of the newest checkpoint. */
  async entries(): Promise<readonly LogLeaf[]> {
    const { size, root } = await this.checkpoint();
    const entries: Uint8Array[] = [];
    for (let index = 0; index * TILE_WIDTH < size; index++) {
      const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
      const bundle = await this.bytes(`/log/${tilePath({ level: "entries", index, width })}`);
      entries.push(...valueOf(decodeEntries(bundle)));
    }
    if (plainRoot(entries).join() !== root.join()) throw new Error("the entries have not the root of the checkpoint");
    return entries.map((entry) => {
      const leaf = parseLeaf(entry);
      if (!leaf) throw new Error(`an entry is no leaf: ${fromUtf8(entry)}`);
      return leaf;
    });
  }

  /** Waits until the log has that many entries; gives them. */
  async until(size: number): Promise<readonly LogLeaf[]> {
    await until(`${size} entries`, async () => (await this.checkpoint()).size >= size);
    return await this.entries();
  }
}

/** An owner of tokens on a devnet that makes blocks on request. */
export class LoggedTokens {
  readonly owner = new User();

  constructor(readonly tokens: string, readonly devnet: string) {}

  async block(count = 1): Promise<void> {
    const made = await http(this.devnet, "POST", "/blocks", { count });
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  }

  async fund(): Promise<void> {
    const body = { address: this.owner.address, lovelace: 5_000_000_000 };
    await this.#landed((await http(this.devnet, "POST", "/faucet", body)).body.txHash);
  }

  async boot(): Promise<string> {
    const built = await http(this.tokens, "GET", `/transaction/${this.owner.address}/boot-token`);
    await this.#carry(built);
    return built.body.value;
  }

  /** Inserts a fact: a request and an update, each in a block. */
  async insert(token: string, key: string, newValue = "v"): Promise<string> {
    return await this.apply(token, await this.request(token, key, newValue));
  }

  /** Changes or deletes a fact: a request and an update, each in a block. */
  async change(token: string, type: "update" | "delete", body: Record<string, string>): Promise<string> {
    const path = `/transaction/${this.owner.address}/request-${type}/${token}`;
    return await this.apply(token, await this.#carry(await http(this.tokens, "POST", path, body)));
  }

  /** Requests a new fact; gives the request's transaction. */
  async request(token: string, key: string, newValue = "v"): Promise<string> {
    const path = `/transaction/${this.owner.address}/request-insert/${token}`;
    return await this.#carry(await http(this.tokens, "POST", path, { key, newValue }));
  }

  /** Applies a request, by its transaction. */
  async apply(token: string, request: string): Promise<string> {
    const path = `/transaction/${this.owner.address}/update-token/${token}?request=${request}-0`;
    return await this.#carry(await http(this.tokens, "GET", path));
  }

  async end(token: string): Promise<void> {
    await this.#carry(await http(this.tokens, "GET", `/transaction/${this.owner.address}/end-token/${token}`));
  }

  async #carry({ status, body }: Answer): Promise<string> {
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    const signedTransaction = this.owner.sign(body.unsignedTransaction);
    const sent = await http(this.tokens, "POST", "/transaction", { signedTransaction });
    if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
    return await this.#landed(sent.body.txHash);
  }

  async #landed(hash: string): Promise<string> {
    await this.block();
    await until(
      `transaction ${hash}`,
      async () => (await http(this.tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
    );
    return hash;
  }
}
