/** Snapshots of the devnet over HTTP, and the paths under which Yaci DevKit has one. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/devnet/api/devnet.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { BAD_ORIGIN } from "#src/devnet/serve/admin/origins.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { endpoint } from "#src/http/route.ts";

const answered = answeredBy(refusalOf({
  snapshot_unknown: 404,
  snapshot_exists: 409,
  too_many_snapshots: 409,
  devnet_unavailable: 503,
}));

const changing = { 403: BAD_ORIGIN, 503: "`devnet_unavailable`" };
const params = { name: api.snapshotName };

/** Name of the snapshot of Yaci DevKit's paths, which have none. */
const DEVKIT_SNAPSHOT = "yaci-devkit";
const ROLLBACK = "/local-cluster/api/devnet/rollback";

/** Adds the endpoints. */
export function snapshotRoutes(app: OpenAPIHono, { snapshots }: Pick<Devnet, "snapshots">): void {
  endpoint(app, "post", "/snapshots", {
    summary: "Save the newest block and the mempool under a name",
    body: api.snapshotBody,
    answer: api.snapshot,
    status: 201,
    refusals: { ...changing, 409: "`snapshot_exists`, `too_many_snapshots`" },
  }, async ({ body: { name, replace } }) => answered(await snapshots.save(name, { replace })));

  endpoint(app, "get", "/snapshots", {
    summary: "All snapshots, oldest first",
    answer: api.snapshots,
  }, async () => ({ snapshots: await snapshots.list() }));

  endpoint(app, "post", "/snapshots/:name/restore", {
    summary: "Go to the block of a snapshot and restore its mempool",
    description: "Followers see a rollback to the last common block, and then the blocks up to the snapshot's.",
    params,
    answer: api.restoreAnswer,
    refusals: { ...changing, 404: "`snapshot_unknown`" },
  }, async ({ params: { name } }) => ({ tip: answered(await snapshots.restore(name)) }));

  endpoint(app, "delete", "/snapshots/:name", {
    summary: "Delete a snapshot",
    params,
    status: 204,
    refusals: { ...changing, 404: "`snapshot_unknown`" },
  }, async ({ params: { name } }) => {
    answered(await snapshots.delete(name));
  });

  endpoint(app, "post", `${ROLLBACK}/take-db-snapshot`, {
    summary: "Save a snapshot, like Yaci DevKit; it replaces the one before",
    answer: api.message,
    produces: "text/plain",
    refusals: changing,
  }, async ({ context }) => {
    const { height } = answered(await snapshots.save(DEVKIT_SNAPSHOT, { replace: true }));
    return context.text(`The snapshot is saved at block ${height}.`);
  });

  endpoint(app, "post", `${ROLLBACK}/rollback-to-db-snapshot`, {
    summary: "Restore that snapshot, like Yaci DevKit",
    answer: api.message,
    produces: "text/plain",
    refusals: { ...changing, 404: "`snapshot_unknown`" },
  }, async ({ context }) => {
    const { height } = answered(await snapshots.restore(DEVKIT_SNAPSHOT));
    return context.text(`The snapshot is restored; the newest block is ${height}.`);
  });
}
