/** A refused build has a status of its own, and is no error of the service. */
import { expect, it } from "vitest";
import type { BuildFailure } from "#src/contract/transactions/common.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { refusal } from "#src/tokens/http/status.ts";

const STATUSES: Record<BuildFailure["code"], number> = {
  bad_address: 400,
  not_owner: 403,
  not_enough_money: 422,
  too_large: 422,
  script_refused: 422,
  not_evaluated: 422,
};

it.each(Object.entries(STATUSES))("%s is answered with %i and its details", (code, status) => {
  const answered = refusal({ code, message: "no", details: { logs: ["no"] } });
  expect(answered).toBeInstanceOf(HttpFailure);
  expect(answered).toMatchObject({ status, code, message: "no", details: { logs: ["no"] } });
});
