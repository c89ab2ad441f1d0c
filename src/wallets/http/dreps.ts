/** Representatives over HTTP: all, one, their number, and suggestions. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/wallets/api/dreps.ts";
import { drep } from "#src/wallets/api/transactions.ts";
import { page } from "#src/wallets/api/wallets.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { lovelace } from "#src/wallets/http/amountViews.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { route } from "#src/wallets/http/route.ts";
import { pageOf } from "#src/http/paging.ts";
import { answered } from "#src/wallets/http/status.ts";
import { DrepBook } from "#src/wallets/dreps/book.ts";
import { type DrepStatus, isActive, type ListedDrep, statusOf } from "#src/wallets/dreps/types.ts";

const away = { 501: "`query_unsupported`", 503: "`network_unreachable`" };
/** Longest wait for metadata servers, in milliseconds; later answers are used by the next request. */
const LEARN_MS = 5_000;
/** The greatest by stake are not suggested, so that votes spread. */
const GREATEST = 35;
const MOST_SUGGESTED = 200;
/** Most representatives whose metadata is fetched for a request. */
const MOST_READ = 400;

/** Adds `/dreps` and what is below. */
export function drepRoutes(app: OpenAPIHono, service: WalletService): void {
  const { port, outside } = service;
  const book = new DrepBook({ port, fetch: outside });
  /** Fetches their metadata, whatever the source of pool metadata is: there is no other source than their anchors. */
  const learn = (dreps: readonly Pick<ListedDrep, "anchor">[]) =>
    book.fetchMissing(dreps.slice(0, MOST_READ).map(({ anchor }) => anchor), LEARN_MS);
  const view = (drep: ListedDrep, epoch: number) => drepView(statusOf(drep, epoch), book.cached(drep.anchor));

  route(app, "get", "/dreps", {
    operation: "listDReps",
    summary: "All registered DReps, sorted by voting stake, largest first",
    description: "Names are fetched from the DReps' anchors and verified. They are absent until they are there.",
    query: page,
    answer: api.drepInfo.array(),
    refusals: away,
  }, async ({ query, context }) => {
    const { epoch, all } = answered(await book.all());
    const some = pageOf(context, query, byStake(all), ({ credential }) => drepId(credential), "other");
    // a long list does not wait for their servers: the next request has the names
    void learn(some);
    return some.map((one) => view(one, epoch));
  });

  route(app, "get", "/dreps/summary", {
    operation: "getDRepSummary",
    summary: "Number of DReps and their total voting stake",
    answer: api.drepSummary,
    refusals: away,
  }, async () => {
    const { epoch, all } = answered(await book.all());
    const active = all.filter((one) => isActive(one, epoch)).length;
    return {
      total_drep_stake: power(all.reduce((sum, { stake = 0n }) => sum + stake, 0n)),
      active_drep_count: active,
      inactive_drep_count: all.length - active,
      total_drep_count: all.length,
    };
  });

  route(app, "get", "/dreps/suggested", {
    operation: "suggestedDReps",
    summary: "Suggested DReps",
    description:
      `Active DReps with metadata that allows listing, without the ${GREATEST} with the largest voting stake.`,
    query: api.suggestedQuery,
    answer: api.drepInfo.array(),
    refusals: away,
  }, async ({ query: { count } }) => {
    const { epoch, all } = answered(await book.all());
    const others = byStake(all).slice(GREATEST).filter((one) => one.anchor && isActive(one, epoch));
    await learn(others);
    return others.filter(({ anchor }) => book.cached(anchor)?.doNotList === false)
      .slice(0, Math.min(count, MOST_SUGGESTED)).map((one) => view(one, epoch));
  });

  route(app, "get", "/dreps/:drepId", {
    operation: "getDRep",
    summary: "A representative, as the ledger has it now",
    params: { drepId: drep },
    answer: api.drepInfo,
    refusals: { ...away, 404: "`not_found`" },
  }, async ({ params: { drepId: wanted } }) => {
    // the two predefined votes are no representatives
    const found = "hash" in wanted ? answered(await book.find({ kind: wanted.kind, hash: wanted.hash })) : undefined;
    if (found === undefined) {
      throw new HttpFailure(404, "not_found", "No DRep found for the given identifier.");
    }
    await learn([found]);
    return drepView(found, book.cached(found.anchor));
  });
}

const power = (quantity: bigint) => ({ quantity: String(quantity), unit: "lovelace" as const });

const byStake = (dreps: readonly ListedDrep[]) =>
  [...dreps].sort(({ stake: a = 0n }, { stake: b = 0n }) => a < b ? 1 : a > b ? -1 : 0);

function drepView(drep: DrepStatus, known: ReturnType<DrepBook["cached"]>) {
  const { credential, active, expiry, anchor, deposit, stake = 0n } = drep;
  return {
    id: drepId(credential),
    credential: { type: `${credential.kind}_hash`, hash: credential.hash },
    status: active ? "active" : "inactive",
    expiry_epoch: expiry,
    voting_power: power(stake),
    deposit: deposit === undefined ? undefined : lovelace(deposit),
    anchor: anchor ? { url: anchor.url, data_hash: anchor.hash } : null,
    name: known?.name ?? null,
    metadata: known && {
      name: known.name,
      objectives: known.objectives ?? null,
      motivations: known.motivations ?? null,
      qualifications: known.qualifications ?? null,
      payment_address: known.paymentAddress ?? null,
      do_not_list: known.doNotList,
      references: known.references,
    },
  };
}
