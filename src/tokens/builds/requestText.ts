/** Requests as the answers of builds name them, and why one is not applied. */
import { fail, type Failure, type Result } from "#src/base/result.ts";
import type { UnappliedRequest } from "#src/contract/transactions/update.ts";

/** An output reference in the API's form. */
export const refText = (key: string): string => key.replace("#", "-");

/** A request that is not applied, with more codes than those of `UnappliedRequest`. */
export type LeftRequest = Omit<UnappliedRequest, "code"> & { readonly code: string };

/** A request that is not applied, in the API's form. */
export const leftText = ({ request, code, message, lostTo }: LeftRequest) => ({
  request: refText(request),
  code,
  message,
  ...(lostTo === undefined ? {} : { lostTo: refText(lostTo) }),
});

/** The failure of a request that a pending transaction spends. */
export const spentBy = (transaction: string) => ({
  code: "request_pending",
  message: `The request is spent by ${transaction}, which is not in a block yet.`,
});

/** The failure of a build some of whose requests cannot be applied. */
export function requestsFail(requests: readonly LeftRequest[]): Result<never, Failure> {
  const message = requests.length === 1
    ? "A request cannot be applied."
    : `${requests.length} requests cannot be applied.`;
  return fail("requests_fail", message, { requests: requests.map(leftText) });
}
