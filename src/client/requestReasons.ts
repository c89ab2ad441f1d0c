/** Why requests are not applied, as a refusal says it. */
import type { ApiError } from "#src/client/http.ts";

/** Reasons that a message has; the list of open requests has all. */
const MOST_REASONS = 5;

/** The message of a refused build, with the reason for each request that it names; `shown` is a request's name there. */
export function messageWithReasons(
  { message, code, details }: ApiError,
  shown: (request: string) => string = (request) => request,
): string {
  if (code !== "requests_fail") return message;
  const { requests = [] } = (details ?? {}) as { requests?: readonly { request: string; message: string }[] };
  const reasons = requests.slice(0, MOST_REASONS).map((one) =>
    `${shown(one.request)}: ${one.message.replace(/\.$/, "")}.`
  );
  return [message, ...reasons].join(" ");
}
