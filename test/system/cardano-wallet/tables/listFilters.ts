/** Filters that no list of transactions takes: the same cases for wallets of every kind. */
import { type Row, row } from "../table.ts";
import type { World } from "../world.ts";

const NOT_A_TIME = "Expecting ISO 8601 date-and-time format (basic or extended), e.g. 2012-09-25T10:15:00Z.";
const NOT_AN_ORDER = "Please specify one of the following values: ascending, descending.";

/** A scenario of requests with wrong filters; `wallet` gives the path of a wallet, such as `/wallets/2512a00e…`. */
export const wrongFilters = (id: string, wallet: (world: World) => Promise<string>): Row[] =>
  Object.entries({
    "start=2009": NOT_A_TIME,
    "start=2012-09-25T10:15:00Z&end=2016-11-21": NOT_A_TIME,
    "start=2012-09-25&end=2016-11-21T10:15:00Z": NOT_A_TIME,
    "end=2012-09-25T10:15:00Z&start=2016-11-21": NOT_A_TIME,
    "order=scending": NOT_AN_ORDER,
    "start=2012-09-25T10:15:00Z&order=asc": NOT_AN_ORDER,
  }).map(([query, message]) =>
    row(
      id,
      async (world) => ["GET", `${await wallet(world)}/transactions?${query}`],
      { status: 400, code: "bad_request", message },
      query,
    )
  );
