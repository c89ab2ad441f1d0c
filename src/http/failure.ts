/** A refusal over HTTP. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Failure } from "#src/base/result.ts";

/** A refusal, thrown by a handler and answered by `handleErrors`. */
export class HttpFailure extends Error {
  override readonly name = "HttpFailure";
  constructor(
    readonly status: ContentfulStatusCode,
    readonly code: string,
    message: string,
    readonly details?: unknown,
    /** Further members of the answer, where the API of another service is kept. */
    readonly members?: Readonly<Record<string, unknown>>,
  ) {
    super(message);
  }

  /** A failure of a lower layer, with its HTTP status. */
  static of(status: ContentfulStatusCode, failure: Failure): HttpFailure {
    return new HttpFailure(status, failure.code, failure.message, failure.details);
  }
}
