/** The devnet over HTTP: its faucet, and what a network of one lets its owner do to it. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "zod";
import { VERSION } from "#src/base/version.ts";
import type { Log } from "#src/base/log.ts";
import { toHex } from "#src/base/bytes.ts";
import type { Builders } from "#src/threads/builders.ts";
import { measureIn } from "#src/plutus/jobs.ts";
import * as api from "#src/devnet/api/devnet.ts";
import { parseAddress } from "#src/cardano/address.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { At, ChainPort, Network } from "#src/chain/provider/port.ts";
import { UTXO_ROOT_EXAMPLES, utxoRootRoutes } from "#src/chain/utxoRoot/routes.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import { adminRoutes, type AdminRoutesOptions } from "#src/devnet/serve/admin/admin.ts";
import { governanceByKeys } from "#src/devnet/serve/admin/governance.ts";
import { ledgerRoutes, type LedgerRoutesOptions } from "#src/devnet/serve/admin/ledger.ts";
import { explorerRoutes, type ExplorerRoutesOptions } from "#src/devnet/serve/explorer/routes.ts";
import { DEVNET_GROUPS } from "#src/devnet/serve/admin/groups.ts";
import { mountDocs } from "#src/http/docs.ts";
import { BAD_ORIGIN, guardOrigins, type Origins } from "#src/devnet/serve/admin/origins.ts";
import { timeRoutes } from "#src/devnet/serve/admin/time.ts";
import { snapshotRoutes } from "#src/devnet/serve/admin/snapshots.ts";
import { testDataRoutes } from "#src/devnet/serve/admin/testData.ts";
import { untilInBlock } from "#src/devnet/serve/admin/untilInBlock.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { endpoint } from "#src/http/route.ts";
import { mountPage, type PageOptions } from "#src/http/pageBundle.ts";
import { guardHosts } from "#src/http/sites.ts";
import { publicApp, singleSlashes } from "#src/http/service.ts";

export interface DevnetEdgeOptions extends LedgerRoutesOptions {
  /** The port to the same devnet, for queries. */
  readonly port: Pick<ChainPort, "utxosByAddress" | "inMempool" | "parameters">;
  /** Adds the health endpoints. */
  readonly health: (app: OpenAPIHono) => void;
  readonly log: Log;
  /** Whether the routes for the root of the unspent outputs are there; they are by default. */
  readonly utxoRoot?: boolean;
  /** The explorer page and what it reads; absent: off. */
  readonly explorer?: ExplorerOptions | undefined;
  /** Yaci DevKit's admin API; absent: it is off. */
  readonly admin?: Pick<AdminRoutesOptions, "places"> | undefined;
  /** Origins of pages that may change the devnet, beside those of this machine; `*` is all. */
  readonly origins?: Origins;
  /** Names under which it is called, beside this machine's and addresses; `*` is any. */
  readonly hosts?: readonly string[];
  /** How long a top-up waits for its block, in ms; Yaci DevKit waits as long. */
  readonly topupMs?: number;
}

/** What the explorer page depends on. */
export interface ExplorerOptions extends Pick<ExplorerRoutesOptions, "index">, Pick<PageOptions, "links"> {
  readonly builders: Pick<Builders, "run">;
  /** The folder with a folder for each page. */
  readonly pages: URL;
  /** Whether the development wallet is served. */
  readonly wallet: boolean;
}

const refusal = refusalOf({
  amount_too_small: 400,
  amount_too_large: 400,
  bad_address: 400,
  rollback_impossible: 409,
  too_far_ahead: 409,
  faucet_empty: 503,
  mempool_full: 503,
  devnet_unavailable: 503,
  network_unreachable: 503,
});

const answered = answeredBy(refusal);

/** The app; `/openapi.json` describes it, `/docs` shows that to people. */
export function devnetApp(options: DevnetEdgeOptions): OpenAPIHono {
  const { devnet, health, log, hosts = [], origins = [] } = options;
  const app = publicApp("devnet", log, undefined, undefined, singleSlashes);
  app.use(guardHosts(hosts), guardOrigins(origins));

  faucetRoutes(app, options);
  networkRoutes(app, options);
  timeRoutes(app, devnet);
  blockRoutes(app, options);
  outputRoutes(app, options);
  governanceByKeys(app, devnet);
  if (options.admin) {
    adminRoutes(app, { ...options, ...options.admin });
    testDataRoutes(app, options);
  }
  if (options.explorer) explorer(app, options, options.explorer);
  snapshotRoutes(app, devnet);
  ledgerRoutes(app, options);
  if (options.utxoRoot ?? true) {
    utxoRootRoutes(app, { reads: devnetUtxoRoot(options.store), network: devnet.network.id });
  }
  health(app);

  const document = () =>
    app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: {
        title: "Arbor devnet",
        version: VERSION,
        description: "A local Cardano development network with a faucet.",
      },
    });
  const page = options.explorer && { ...options.explorer, log };
  const examples = [new URL("./examples.json", import.meta.url), UTXO_ROOT_EXAMPLES];
  mountDocs(app, { document, groups: DEVNET_GROUPS, advice: "devnet", examples, page });
  return app;
}

/** Payments from the faucet. */
function faucetRoutes(app: OpenAPIHono, { devnet, port, topupMs = 10_000 }: DevnetEdgeOptions): void {
  const give = async (address: string, lovelace: bigint): Promise<string> =>
    answered(await devnet.faucet.pay(payable(devnet, address), lovelace)).txHash;
  const giving = {
    400: "`bad_request`, `malformed_json`, `bad_address`, `bad_amount`, `amount_too_small`, `amount_too_large`",
    403: BAD_ORIGIN,
    413: "`body_too_large`",
    503: "`faucet_empty`, `mempool_full`, `devnet_unavailable`",
  };

  endpoint(app, "post", "/faucet", {
    summary: "Send lovelace to an address",
    body: api.faucetBody,
    answer: api.faucetAnswer,
    refusals: giving,
  }, async ({ body: { address, lovelace } }) => ({ txHash: await give(address, lovelace), address, lovelace }));

  endpoint(app, "post", "/local-cluster/api/addresses/topup", {
    summary:
      "Send ada to an address, like Yaci DevKit; responds when a block contains the payment, or after ten seconds",
    body: api.topupBody,
    answer: api.topupAnswer,
    refusals: giving,
  }, async ({ body: { address, adaAmount } }) => {
    const topup = { address, adaAmount };
    try {
      const txHash = await give(address, toLovelace(adaAmount));
      if (devnet.blockMs > 0) await untilInBlock(port, txHash, topupMs);
      return { ...topup, status: true, message: "Topup successful", txHash };
    } catch (error) {
      if (!(error instanceof HttpFailure)) throw error;
      const members = { ...topup, status: false, message: "Topup failed" };
      throw new HttpFailure(error.status, error.code, error.message, error.details, members);
    }
  });
}

/** The newest block, the network and its parameters. */
function networkRoutes(app: OpenAPIHono, { devnet, port }: DevnetEdgeOptions): void {
  endpoint(app, "get", "/tip", {
    summary: "The newest block and the network",
    answer: api.network,
  }, async () => {
    const { magic, slots, securityParameter } = devnet.network;
    return {
      ...devnet.tip(),
      currentSlot: devnet.slot(),
      magic,
      slotLength: slots.slotLength,
      genesisTime: slots.zeroTime,
      securityParameter,
    };
  });

  endpoint(app, "get", "/parameters", {
    summary: "The protocol parameters at the newest block, with their source in the genesis",
    answer: api.parameters,
    refusals: { 503: "`network_unreachable`" },
  }, async () => {
    const { value } = answered(await port.parameters());
    return { source: devnet.genesis.parametersSource, ...parametersToJson(value) as object };
  });
}

/** Entering epochs, and going back. */
function blockRoutes(app: OpenAPIHono, { devnet }: DevnetEdgeOptions): void {
  endpoint(app, "post", "/epochs", {
    summary: "Enter the next epochs now: a block in the first slot of each one, from where the devnet's clock goes on",
    body: api.epochsBody,
    answer: api.epochsAnswer,
    refusals: {
      403: BAD_ORIGIN,
      409: "`too_far_ahead`: the devnet's clock would be more than 100 years ahead",
      503: "`devnet_unavailable`",
    },
  }, async ({ body: { count, blocks = epochBlocks(devnet.network, count) }, context }) => {
    const { height } = devnet.tip();
    let entered = 0;
    let tip = devnet.tip();
    for (; entered < count && !context.req.raw.signal.aborted; entered++) {
      tip = answered(await devnet.enterNextEpoch(blocks));
    }
    return { tip, epoch: epochOf(tip.slot, devnet.genesis.terms.epochLength), entered, made: tip.height - height };
  });

  endpoint(app, "post", "/rollback", {
    summary: "Roll back blocks; their transactions return to the mempool",
    body: api.rollbackBody,
    answer: api.rollbackAnswer,
    refusals: {
      403: BAD_ORIGIN,
      409: "`rollback_impossible`: deeper than the retained blocks or than the chain",
      503: "`devnet_unavailable`",
    },
  }, async ({ body: { blocks, slot, drop } }) => {
    const to = slot === undefined ? { blocks: blocks ?? 0 } : { slot };
    return { tip: answered(await devnet.rollback(to, { drop })) };
  });

  endpoint(app, "post", "/reset", {
    summary: "Go back to the genesis: no block, an empty mempool, then the devnet's own first transactions again",
    answer: api.rollbackAnswer,
    refusals: {
      403: BAD_ORIGIN,
      409: "`rollback_impossible`: the chain is longer than the retained blocks",
      503: "`devnet_unavailable`",
    },
  }, async () => ({ tip: answered(await devnet.reset()) }));
}

/** The mempool, and unspent outputs. */
function outputRoutes(app: OpenAPIHono, { devnet, port }: DevnetEdgeOptions): void {
  endpoint(app, "get", "/mempool", {
    summary: "Transactions in the mempool, in order",
    answer: api.mempool,
  }, async () => {
    const transactions = devnet.mempool().map(({ transaction, cbor }) => ({
      hash: transaction.hash,
      bytes: cbor.length,
      fee: transaction.fee,
      validTo: transaction.validTo,
    }));
    return { size: transactions.length, bytes: transactions.reduce((sum, { bytes }) => sum + bytes, 0), transactions };
  });

  endpoint(
    app,
    "get",
    "/utxos/:address",
    {
      summary: "Unspent outputs at an address, with the chain point",
      params: { address: z.string().min(1).max(300) },
      answer: api.utxos,
      refusals: { 400: "`bad_address`", 503: "`network_unreachable`" },
    },
    async ({ params: { address } }) =>
      utxosView(address, answered(await port.utxosByAddress([payable(devnet, address)]))),
  );
}

/** The bytes of an address that outputs can be sent to on this network. */
function payable({ network }: Devnet, text: string): string {
  const { kind, hex } = answered(parseAddress(text, network.id));
  if (kind !== "reward") return hex;
  const details = { reason: "kind" };
  throw refusal({ code: "bad_address", message: "A payment cannot be sent to a reward address.", details });
}

/** The page at `/`, and what it reads. */
function explorer(
  app: OpenAPIHono,
  { devnet, store, log, admin }: DevnetEdgeOptions,
  { builders, pages, links, index, wallet }: ExplorerOptions,
): void {
  explorerRoutes(app, { devnet, store, log, index, measure: measureIn(builders) });
  const isOff = (on: boolean) => on ? undefined : "off";
  const values = {
    index: isOff(index),
    wallet: isOff(wallet),
    admin: isOff(admin !== undefined),
    "block-ms": String(devnet.blockMs),
  };
  mountPage(app, {
    builders,
    log,
    pages,
    links,
    name: "explorer",
    title: "Explorer",
    at: ["/"],
    settings: () => ({ values }),
  });
}

/** Blocks of each epoch that a request for so many epochs ends: enough that pools earn, and that it can be rolled back. */
function epochBlocks({ securityParameter: k }: Network, count: number): number {
  return Math.floor(Math.min(k / 10, k / 2 / count));
}

/** Lovelace of an amount of ada. Throws `HttpFailure` 400 when there is a part of a lovelace in it. */
function toLovelace(ada: number): bigint {
  const lovelace = Math.round(ada * 1_000_000);
  if (Math.abs(lovelace - ada * 1_000_000) < 0.001) return BigInt(lovelace);
  throw new HttpFailure(400, "bad_amount", "The amount of ada has more than 6 decimals.");
}

function utxosView(address: string, { point, value }: At<readonly Utxo[]>) {
  return {
    point,
    utxos: value.map(({ ref, output }) => ({
      txHash: ref.txHash,
      index: ref.index,
      address,
      lovelace: output.value.lovelace,
      assets: Object.fromEntries(output.value.assets),
      datumHash: output.datumHash,
      datum: output.datum && toHex(output.datum),
      script: output.script && toHex(output.script),
      cbor: toHex(output.raw),
    })),
  };
}
