/** The devnet's time over HTTP: blocks now, jumps, the slot of the next block, when blocks are made. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/devnet/api/devnet.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import { type JumpTarget, slotFrom } from "#src/devnet/blocks/jump.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { epochOf } from "#src/devnet/ledger/epoch.ts";
import { BAD_ORIGIN } from "#src/devnet/serve/admin/origins.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { endpoint } from "#src/http/route.ts";

const answered = answeredBy(refusalOf({
  slot_not_after_tip: 400,
  too_many_slots: 400,
  too_many_blocks: 400,
  too_far_ahead: 409,
  clock_ahead: 409,
  devnet_unavailable: 503,
}));

const changing = { 403: BAD_ORIGIN, 503: "`devnet_unavailable`" };
const moving = {
  ...changing,
  400: "`bad_request`, `slot_not_after_tip`, `too_many_slots`: more than 1,000,000 after the newest block",
  409: "`too_far_ahead`: the devnet's clock would be more than 100 years ahead",
};
const jumping = { ...moving, 400: "`bad_request`, `slot_not_after_tip`, `too_many_blocks`: more than 10,000" };

/** Where a jump goes: exactly one member is there. */
function jumpTarget(body: Omit<z.output<typeof api.advanceBody>, "blocks">): JumpTarget {
  const { slots, seconds, epochs, toSlot, toTime, toEpoch = 0 } = body;
  if (slots !== undefined) return { slots };
  if (seconds !== undefined) return { seconds };
  if (epochs !== undefined) return { epochs };
  if (toSlot !== undefined) return { toSlot };
  return toTime === undefined ? { toEpoch } : { toTime };
}

/** Adds the endpoints. */
export function timeRoutes(app: OpenAPIHono, devnet: Devnet): void {
  const { genesis: { terms }, network: { slots } } = devnet;
  const view = (blocks: number, tip = devnet.tip()) => ({
    ...tip,
    epoch: epochOf(Math.max(0, tip.slot), terms.epochLength),
    time: slotTime(slots, tip.slot),
    blocks,
  });

  endpoint(app, "post", "/blocks", {
    summary: "Produce blocks now, in the next slots, from where the devnet's clock goes on",
    body: api.blocksBody,
    answer: api.blocksAnswer,
    refusals: moving,
  }, async ({ body, context }) => {
    const { tip, blocks } = answered(await devnet.makeBlocks({ ...body, signal: context.req.raw.signal }));
    return { ...view(blocks, tip), tip, made: blocks };
  });

  endpoint(app, "get", "/time", {
    summary: "The devnet's clock",
    answer: api.clock,
  }, async () => devnet.time());

  endpoint(app, "post", "/time/advance", {
    summary:
      "Move the devnet's clock at once: a block in the target slot and in the first slot of each epoch before it",
    description:
      "The clock goes on from the target slot. Transactions of the mempool are in the first of these blocks " +
      "whose slot is in their validity interval; those that expire are dropped.",
    body: api.advanceBody,
    answer: api.madeBlocks,
    refusals: jumping,
  }, async ({ body, context }) => {
    const made = answered(await devnet.advance(jumpTarget(body), body.blocks, context.req.raw.signal));
    return view(made.blocks, made.tip);
  });

  endpoint(app, "post", "/time/sync", {
    summary:
      "Move the devnet to the machine's clock: a block in the current slot and in the first slot of each epoch before it",
    description:
      "After a pause, and where blocks are made on request. There is no block where the newest one is in this slot.",
    body: api.syncBody,
    answer: api.madeBlocks,
    refusals: {
      ...changing,
      400: "`bad_request`, `too_many_blocks`: more than 10,000",
      409: "`clock_ahead`: the devnet is ahead; a rollback or a snapshot takes it back",
    },
  }, async ({ body, context }) => {
    const made = answered(await devnet.catchUp(body.blocks, context.req.raw.signal));
    return view(made.blocks, made.tip);
  });

  endpoint(app, "post", "/time/next", {
    summary: "Set the slot of the next block, however that is made",
    body: api.nextBody,
    answer: api.madeBlocks,
    refusals: moving,
  }, async ({ body: { slot, time = 0 } }) => {
    answered(await devnet.nextSlot(slot ?? slotFrom(slots, time)));
    return view(0);
  });

  endpoint(app, "put", "/mining", {
    summary:
      "Change when blocks are made without a request; in the mode `submit`, transactions that wait get one at once",
    body: api.miningBody,
    answer: api.madeBlocks,
    refusals: changing,
  }, async ({ body: { mode, blockMs } }) => {
    const { height } = devnet.tip();
    answered(await devnet.setMining({ mode, ...(blockMs === undefined ? {} : { blockMs }) }));
    return view(Math.max(0, devnet.tip().height - height));
  });
}
