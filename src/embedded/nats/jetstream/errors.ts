/** Errors of JetStream's API, with the codes and words of nats-server. */

/** An error of the API. */
export class ApiError extends Error {
  constructor(readonly code: number, readonly errCode: number, message: string) {
    super(message);
  }

  /** As the member `error` of an answer. */
  shown(): { code: number; err_code: number; description: string } {
    return { code: this.code, err_code: this.errCode, description: this.message };
  }
}

export const badRequest = () => new ApiError(400, 10_003, "bad request");
export const consumerFailed = (why: string) => new ApiError(500, 10_012, why);
export const consumerNameUsed = () => new ApiError(400, 10_013, "consumer name already in use");
export const consumerNotFound = () => new ApiError(404, 10_014, "consumer not found");
export const noDurableInSubject = () =>
  new ApiError(400, 10_016, "consumer expected to be durable but no durable name set in subject");
export const durableMismatch = () =>
  new ApiError(400, 10_017, "consumer name in subject does not match durable name in request");
export const durableNotSet = () =>
  new ApiError(400, 10_018, "consumer expected to be durable but a durable name was not set");
export const durableInRequest = () =>
  new ApiError(400, 10_020, "consumer expected to be ephemeral but a durable name was set in request");
export const insufficientResources = () => new ApiError(503, 10_023, "insufficient resources");
export const invalidJson = () => new ApiError(400, 10_025, "invalid JSON");
export const maximumConsumers = () => new ApiError(400, 10_026, "maximum consumers limit reached");
export const maximumStreams = () => new ApiError(400, 10_027, "maximum number of streams reached");
export const noMessage = () => new ApiError(404, 10_037, "no message found");
export const streamMismatch = () => new ApiError(400, 10_056, "stream name in subject does not match request");
export const streamNameUsed = () =>
  new ApiError(400, 10_058, "stream name already in use with a different configuration");
export const streamNotFound = () => new ApiError(404, 10_059, "stream not found");
export const invalidFilter = () => new ApiError(500, 10_052, "malformed subject");
export const invalidPolicy = (why: string) => new ApiError(400, 10_094, why);
export const badDurableName = () => new ApiError(400, 10_103, "durable name can not contain '.', '*', '>'");
/** The answer to everything that would change a stream. */
export const sealed = () => new ApiError(400, 10_109, "invalid operation on sealed stream");
export const filterMismatch = () =>
  new ApiError(400, 10_131, "Consumer create request did not match filtered subject from create subject");
export const consumerExists = () => new ApiError(400, 10_148, "consumer already exists");
export const consumerMissing = () => new ApiError(400, 10_149, "consumer does not exist");
