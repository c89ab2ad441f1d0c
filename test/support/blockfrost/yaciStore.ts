/**
 * Yaci Store's own API in front of a Blockfrost API: the documents as the classes of bloxbean/yaci-store define them
 * (`BlockDto`, `Utxo`, `AddressUtxo`, `TransactionDetails`, `ProtocolParamsDto`, `StakeAccountInfo`, the controllers of
 * `stores-api` and `TxLocalSubmitController`), and the genesis of Yaci DevKit's admin host. What it does not have is a
 * 404 of Spring.
 */
import { toHex } from "#src/base/bytes.ts";
import { isObject, type Json, parseJson, toJson } from "#src/base/json.ts";
import { scanBlock, scanTransaction } from "#src/cardano/scan.ts";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import { serve } from "#src/http/serve.ts";
import { costModelNames } from "#src/plutus/costModelNames.ts";
import { encodeRejection } from "#src/node/rejections/rejections.ts";

export interface YaciSettings {
  /** URL of the Blockfrost API, with its version. */
  readonly blockfrost: string;
  /** The port of the same chain: bytes of blocks, and submission. */
  readonly port: RawChainPort;
  /** The bytes of a block, where they need not be followed from the port. */
  readonly bytes?: (hash: string) => Promise<Uint8Array | undefined>;
  /** The Shelley genesis, for an admin host at the same place. */
  readonly shelley?: Json;
}

export interface ServedYaci {
  /** URL of the API, with `/api/v1`. */
  readonly url: string;
  /** URL of the admin host. */
  readonly adminUrl: string;
  /** Method and path of each request, in the order of arrival. */
  readonly requests: string[];
  /** Whether the store saves the CBOR of blocks. */
  saveCbor: boolean;
  /** Whether parameters have cost models as lists, as of newer versions. */
  rawCosts: boolean;
  /** Seconds that are added to the time of blocks, as on another network. */
  shift: number;
  close(): Promise<void>;
}

type Document = Readonly<Record<string, Json>>;

const json = (body: Json, status = 200) =>
  new Response(toJson(body), { status, headers: { "content-type": "application/json" } });
const absent = (path: string) =>
  json({ timestamp: "2026-01-01T00:00:00.000+00:00", status: 404, error: "Not Found", path }, 404);
const some = (answer: Json | undefined): Document[] => Array.isArray(answer) ? answer.filter(isObject) : [];
/** Amounts are numbers. */
const number = (text: Json | undefined): Json => typeof text === "string" ? parseJson(text) : text ?? null;
const quantities = (amounts: Json | undefined): Json =>
  some(amounts).map(({ unit, quantity }) => ({ unit: unit ?? null, quantity: number(quantity) }));

function blockDto(block: Document, latest: boolean, shift: number): Json {
  const { time, height, next_block, confirmations, ...same } = block;
  return {
    ...same,
    time: Number(time) + shift,
    height: height ?? null,
    number: height ?? null,
    era: 7,
    op_cert_kes_period: 0,
    op_cert_sigma: null,
    next_block: latest ? null : next_block ?? null,
    confirmations: latest ? 0 : confirmations ?? 0,
    issuer_vkey: null,
    nonce_vrf: null,
    leader_vrf: null,
    vrf_result: null,
    block_body_hash: null,
    protocol_version: "10.0",
  };
}

/** An output of an address: neither `tx_index` nor `block`. */
function utxo({ tx_index: _index, block: _block, amount, ...same }: Document): Json {
  return { ...same, amount: quantities(amount) };
}

/** Costs by the names of their parameters, in the order in which a column of type `jsonb` has them. */
function byName(costs: Json, language: number): Json {
  const names = costModelNames(language);
  const named = (Array.isArray(costs) ? costs : []).map((cost, i): [string, Json] => [names[i] ?? String(i), cost]);
  return Object.fromEntries(named.sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)));
}

/** Cost models by name alone, deposits as numbers. */
function parametersDto(parameters: Document, rawCosts: boolean): Json {
  const { cost_models_raw, nonce: _nonce, drep_deposit, gov_action_deposit, ...same } = parameters;
  return {
    ...same,
    drep_deposit: number(drep_deposit),
    gov_action_deposit: number(gov_action_deposit),
    cost_models: Object.fromEntries(
      Object.entries(isObject(cost_models_raw) ? cost_models_raw : {})
        .map(([name, costs]) => [name, byName(costs, Number(name.at(-1)) - 1)]),
    ),
    ...(rawCosts ? { cost_models_raw: cost_models_raw ?? null } : {}),
  };
}

export async function serveYaciStore({ blockfrost, port, bytes, shelley }: YaciSettings): Promise<ServedYaci> {
  const stop = new AbortController();
  const blocks = new Map<string, Uint8Array>();
  const following = (async () => {
    if (bytes) return;
    for await (const step of port.follow([], stop.signal)) {
      if (step.type === "forward") blocks.set(scanBlock(step.block).hash, step.block);
    }
  })();
  const served = { requests: [] as string[], saveCbor: true, rawCosts: false, shift: 0 };

  const find = async (path: string): Promise<Json | undefined> => {
    const response = await fetch(blockfrost + path);
    const body = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body}`);
    return parseJson(body);
  };
  /** The bytes of a block of the service, which the port may give a moment later. */
  const bytesOf = async (hash: string): Promise<Uint8Array | undefined> => {
    if (bytes) return await bytes(hash);
    while (!blocks.has(hash) && await find(`/blocks/${hash}`) !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return blocks.get(hash);
  };
  const submit = async (transaction: Uint8Array) => {
    const answer = await port.submit(transaction);
    if (!answer.ok) return json({ status: 500, error: "Internal Server Error" }, 500);
    if (answer.value.outcome === "accepted") return json(scanTransaction(transaction).hash, 202);
    return new Response(toHex(encodeRejection(answer.value.failures, { transaction })), { status: 400 });
  };
  const outputsOf = async (keys: readonly Document[]): Promise<Json> => {
    const found = await Promise.all(keys.map(async ({ tx_hash, output_index }) => {
      const answer = await find(`/txs/${String(tx_hash)}/utxos`);
      const outputs = isObject(answer) ? some(answer.outputs) : [];
      const one = outputs.find((output) => output.output_index === output_index);
      return one
        ? [{ tx_hash: tx_hash!, output_index: output_index!, owner_addr: one.address ?? null, spent: null }]
        : [];
    }));
    return found.flat();
  };

  const answer = async (request: Request, path: string, query: URLSearchParams): Promise<Response> => {
    const [, kind = "", name = "", more = ""] = path.split("/");
    if (request.method === "POST") {
      if (path === "/utxos") return json(await outputsOf(some(parseJson(await request.text()))));
      if (path !== "/tx/submit") return absent(path);
      if (request.headers.get("content-type") !== "application/cbor") return json({ status: 415 }, 415);
      return await submit(new Uint8Array(await request.arrayBuffer()));
    }
    if (kind === "blocks" && more === "") {
      const block = await find(`/blocks/${name}`);
      return isObject(block)
        ? json(blockDto(block, name === "latest", served.shift))
        : new Response(null, { status: 404 });
    }
    if (kind === "blocks" && more === "cbor") {
      if (!request.headers.get("accept")?.includes("octet-stream")) return json({ status: 406 }, 406);
      const bytes = served.saveCbor ? await bytesOf(name) : undefined;
      return bytes
        ? new Response(Uint8Array.from(bytes), { headers: { "content-type": "application/octet-stream" } })
        : absent(path);
    }
    if (kind === "addresses" && more === "utxos") {
      // the pages 0 and 1 are the same
      query.set("page", String(Math.max(1, Number(query.get("page") ?? 0))));
      return json(some(await find(`/addresses/${name}/utxos?${query}`)).map(utxo));
    }
    if (kind === "txs" && more === "") {
      const transaction = await find(`/txs/${name}`);
      if (!isObject(transaction)) return absent(path);
      const { hash = null, block_height = null, slot = null, fees } = transaction;
      return json({ hash, block_height, slot, fees: number(fees), invalid: false });
    }
    if (path === "/epochs/latest/parameters") {
      const parameters = await find(path);
      return isObject(parameters) ? json(parametersDto(parameters, served.rawCosts)) : absent(path);
    }
    if (kind === "accounts" && more === "") {
      const found = await find(path);
      const account = isObject(found) ? found : {};
      return json({
        stake_address: name,
        controlled_amount: number(account.controlled_amount ?? "0"),
        withdrawable_amount: number(account.withdrawable_amount ?? "0"),
        pool_id: account.pool_id ?? null,
      });
    }
    return absent(path);
  };

  const listener = await serve({
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      served.requests.push(`${request.method} ${pathname}`);
      if (pathname === "/local-cluster/api/admin/devnet/genesis/shelley") {
        return shelley === undefined ? absent(pathname) : json(shelley);
      }
      if (!pathname.startsWith("/api/v1/")) return absent(pathname);
      return await answer(request, pathname.slice("/api/v1".length), searchParams);
    },
  }, { host: "127.0.0.1", port: 0 });
  const at = `http://127.0.0.1:${listener.port}`;
  return Object.assign(served, {
    url: `${at}/api/v1`,
    adminUrl: at,
    close: async () => {
      stop.abort();
      await listener.stop();
      await following;
    },
  });
}
