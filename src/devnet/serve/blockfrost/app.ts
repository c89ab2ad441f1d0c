/**
 * The devnet behind the API of Blockfrost (https://docs.blockfrost.io), under `/api/v0` and `/api/v1`.
 *
 * Assumptions: everything that is answered is public, and what can be changed here (submitting a transaction) needs
 * signatures; so pages of every origin may call it. A project id is accepted and ignored.
 */
import { committeeOperations } from "#src/devnet/serve/blockfrost/committee.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Log } from "#src/base/log.ts";
import { addressOperations, addressTransactionOperations } from "#src/devnet/serve/blockfrost/addresses.ts";
import { assetHolderOperations, assetOperations, policyOperations } from "#src/devnet/serve/blockfrost/assets.ts";
import { blockOperations } from "#src/devnet/serve/blockfrost/blocks.ts";
import { blockfrostRefusals, notFound } from "#src/devnet/serve/blockfrost/failures.ts";
import { accountHoldingOperations, accountOperations } from "#src/devnet/serve/blockfrost/accounts.ts";
import { blockfrostDocument } from "#src/devnet/serve/blockfrost/document.ts";
import { epochContentOperations, epochOperations } from "#src/devnet/serve/blockfrost/epochs.ts";
import { evaluateOperations } from "#src/devnet/serve/blockfrost/evaluate.ts";
import { proposalOperations, representativeOperations } from "#src/devnet/serve/blockfrost/governance.ts";
import { healthOperations } from "#src/devnet/serve/blockfrost/health.ts";
import { mempoolOperations } from "#src/devnet/serve/blockfrost/mempool.ts";
import { metadataOperations } from "#src/devnet/serve/blockfrost/metadata.ts";
import { networkOperations } from "#src/devnet/serve/blockfrost/network.ts";
import type { Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import { poolListOperations, poolOperations } from "#src/devnet/serve/blockfrost/pools.ts";
import { scriptOperations } from "#src/devnet/serve/blockfrost/scripts.ts";
import { submitOperations } from "#src/devnet/serve/blockfrost/submit.ts";
import { yaciStoreOperations } from "#src/devnet/serve/blockfrost/yaciStore.ts";
import { xpubOperations } from "#src/devnet/serve/blockfrost/xpub.ts";
import {
  transactionContentOperations,
  transactionOperations,
  transactionStakeOperations,
} from "#src/devnet/serve/blockfrost/transactions.ts";
import { API_GROUPS } from "#src/devnet/serve/blockfrost/groups.ts";
import { mountDocs } from "#src/http/docs.ts";
import { respond } from "#src/http/json.ts";
import { publicApp, singleSlashes } from "#src/http/service.ts";
import { guardHosts } from "#src/http/sites.ts";
import { startPage } from "#src/http/startPage.ts";

/** Prefixes of all paths: Blockfrost's own, and that of Yaci Store. */
const YACI_STORE = "/api/v1";
const PREFIXES = ["/api/v0", YACI_STORE] as const;

/** All operations that are served, by group. */
export function blockfrostOperations(service: BlockfrostService): Operation[] {
  return [
    ...accountOperations(service),
    ...accountHoldingOperations(service),
    ...epochOperations(service),
    ...epochContentOperations(service),
    ...evaluateOperations(service),
    ...committeeOperations(service),
    ...representativeOperations(service),
    ...proposalOperations(service),
    ...healthOperations(),
    ...mempoolOperations(service),
    ...poolListOperations(service),
    ...poolOperations(service),
    ...scriptOperations(service),
    ...submitOperations(service),
    ...xpubOperations(service),
    ...blockOperations(service),
    ...networkOperations(service),
    ...transactionOperations(service),
    ...transactionStakeOperations(service),
    ...transactionContentOperations(service),
    ...addressOperations(service),
    ...addressTransactionOperations(service),
    ...assetOperations(service),
    ...assetHolderOperations(service),
    ...policyOperations(service),
    ...metadataOperations(service),
  ];
}

/** The app of a devnet; `health` adds the health endpoints, and `hosts` are further names under which it is called. */
export function blockfrostApp(
  service: BlockfrostService,
  health?: (app: OpenAPIHono) => void,
  hosts: readonly string[] = [],
): OpenAPIHono {
  const operations = blockfrostOperations(service);
  const ofStore = yaciStoreOperations(service);
  const app = serveOperations(operations, service.log, hosts, ofStore);
  const { page } = service;
  if (page) startPage(app, page.pages, "blockfrost", ["/"]);
  health?.(app);
  mountDocs(app, {
    prefix: YACI_STORE,
    document: () => blockfrostDocument(app, [...operations, ...ofStore]),
    groups: API_GROUPS,
    page,
  });
  return app;
}

/** An app with some operations, under each prefix; those of Yaci Store under its own. */
export function serveOperations(
  operations: readonly Operation[],
  log: Log,
  hosts: readonly string[] = [],
  ofStore: readonly Operation[] = [],
): OpenAPIHono {
  const app = publicApp("blockfrost", log, undefined, blockfrostRefusals, singleSlashes);
  app.use(guardHosts(hosts));
  addOperations(app, ofStore, [YACI_STORE]);
  addOperations(app, operations, PREFIXES);
  return app;
}

/** Adds operations to an app, under each of some prefixes. */
export function addOperations(
  app: Pick<OpenAPIHono, "on">,
  operations: readonly Operation[],
  prefixes: readonly string[],
): void {
  // the first route that matches answers: a literal segment comes before a parameter in its place
  const rank = ({ path }: Operation) => path.replaceAll("{", "~");
  for (const { method, path, answer } of [...operations].sort((a, b) => rank(a) < rank(b) ? -1 : 1)) {
    const route = path.replace(/\{(\w+)\}/g, ":$1").replace(/\/$/, "");
    const handle = async (c: Context): Promise<Response> => {
      const document = await answer(c);
      if (document === undefined) throw notFound();
      return document instanceof Response ? document : respond(c, 200, document);
    };
    for (const prefix of prefixes) app.on(method, [prefix + route, `${prefix}${route}/`], handle);
  }
}
