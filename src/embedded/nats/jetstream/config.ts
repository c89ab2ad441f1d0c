/** Configurations of consumers: as clients send them, with a server's defaults, checked as a server checks them. */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import {
  ApiError,
  badDurableName,
  consumerFailed,
  invalidFilter,
  invalidJson,
  invalidPolicy,
} from "#src/embedded/nats/jetstream/errors.ts";
import { isLiteral, isSubscription, overlap } from "#src/embedded/nats/subjects.ts";

/** A count or a duration in nanoseconds, of 64 bits as a server's; an exact integer may be a `bigint`. */
const integer = z.union([z.number().int(), z.int64()]).transform(Number);
const text = z.string();

const schema = z.object({
  durable_name: text.optional(),
  name: text.optional(),
  description: text.max(4_096).optional(),
  deliver_policy: z.enum(["all", "last", "new", "by_start_sequence", "by_start_time", "last_per_subject"]).default(
    "all",
  ),
  opt_start_seq: integer.optional(),
  opt_start_time: text.refine((time) => !Number.isNaN(Date.parse(time))).optional(),
  ack_policy: z.enum(["none", "all", "explicit"]).default("none"),
  ack_wait: integer.optional(),
  max_deliver: integer.optional(),
  backoff: z.array(integer).nullish().transform((list) => list ?? undefined),
  filter_subject: text.optional(),
  filter_subjects: z.array(text).nullish().transform((list) => list ?? undefined),
  replay_policy: z.enum(["instant", "original"]).default("instant"),
  rate_limit_bps: integer.optional(),
  sample_freq: text.optional(),
  max_waiting: integer.optional(),
  max_ack_pending: integer.optional(),
  idle_heartbeat: integer.optional(),
  flow_control: z.boolean().optional(),
  headers_only: z.boolean().optional(),
  max_batch: integer.optional(),
  max_expires: integer.optional(),
  max_bytes: integer.optional(),
  deliver_subject: text.optional(),
  deliver_group: text.optional(),
  inactive_threshold: integer.optional(),
  num_replicas: integer.default(0),
  mem_storage: z.boolean().optional(),
  direct: z.boolean().optional(),
  metadata: z.record(z.string(), text).nullish().transform((map) => map ?? undefined),
});

/** A configuration with its defaults, as the API shows it: durations in nanoseconds. */
export type ConsumerConfig = z.infer<typeof schema>;

/** Bounds for consumers of one kind of client. */
export interface ConfigBounds {
  readonly maxWaiting: number;
  readonly maxAckPending: number;
  /** In nanoseconds. */
  readonly inactiveThreshold: number;
}

const MILLISECOND = 1e6;
const SECOND = 1_000 * MILLISECOND;
const ACK_WAIT = 30 * SECOND;
const MAX_WAITING = 512;
const MAX_ACK_PENDING = 1_000;
const MAX_METADATA = 8_192;
const MAX_FILTERS = 32;

/** Parses a configuration. @throws ApiError when it is not one. */
export function parseConfig(json: Json | undefined): ConsumerConfig {
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw invalidJson();
  return Object.fromEntries(
    // Zero and empty text are a server's way to say that a member is not set.
    Object.entries(parsed.data).filter(([name, value]) =>
      name === "num_replicas" || (value !== undefined && value !== 0 && value !== "" && value !== false)
    ),
  ) as ConsumerConfig;
}

/** The subjects that a consumer wants; none for all. */
export function filtersOf({ filter_subject, filter_subjects }: ConsumerConfig): readonly string[] {
  return filter_subject === undefined ? filter_subjects ?? [] : [filter_subject];
}

/** A configuration with the defaults of what is not set. @throws ApiError when the configuration is refused. */
export function checkedConfig(given: ConsumerConfig, streamSubject: string, bounds: ConfigBounds): ConsumerConfig {
  const { backoff, ...rest } = given;
  const [firstWait] = backoff ?? [];
  const config: ConsumerConfig = firstWait === undefined
    ? { ...rest, backoff: undefined }
    : { ...rest, backoff, ack_wait: firstWait };
  const acks = config.ack_policy !== "none";
  if (config.deliver_subject === undefined) config.max_waiting ??= Math.min(MAX_WAITING, bounds.maxWaiting);
  if (acks) config.ack_wait ??= ACK_WAIT;
  config.max_deliver ??= -1;
  if (acks) config.max_ack_pending ??= MAX_ACK_PENDING;
  // Any number means as many as may be: open messages are held in memory.
  if (acks && (config.max_ack_pending ?? 0) < 0) config.max_ack_pending = bounds.maxAckPending;
  const refusal = refusalOf(config, streamSubject) ?? startRefusal(config) ?? boundRefusal(config, bounds);
  if (refusal !== undefined) throw refusal;
  return config;
}

function refusalOf(config: ConsumerConfig, streamSubject: string): ApiError | undefined {
  const bad = (code: number, why: string) => new ApiError(400, code, why);
  const { backoff, max_deliver = -1, durable_name: durable, name, metadata } = config;
  for (const one of [durable, name]) {
    if (one === undefined) continue;
    if (one.length > 255) return bad(10_102, "consumer name is too long, maximum allowed is 255");
    if (/[\\/]/.test(one)) return bad(10_127, "Consumer name can not contain path separators");
    // deno-lint-ignore no-control-regex -- nothing that a subject cannot contain
    if (/[.*>\x00-\x20\x7f]/.test(one)) return badDurableName();
  }
  if (config.num_replicas > 1) return bad(10_126, "consumer config replica count exceeds parent stream");
  if (backoff !== undefined && max_deliver !== -1 && max_deliver <= backoff.length) {
    return bad(10_116, "max deliver is required to be > length of backoff values");
  }
  const mode = config.deliver_subject === undefined ? pullRefusal(config) : pushRefusal(config, streamSubject);
  if (mode !== undefined) return mode;
  if (config.filter_subject !== undefined && config.filter_subjects !== undefined) {
    return bad(10_136, "consumer cannot have both FilterSubject and FilterSubjects specified");
  }
  const filters = filtersOf(config);
  if (filters.includes("")) return bad(10_139, "consumer filter in FilterSubjects cannot be empty");
  if (filters.length > MAX_FILTERS) return consumerFailed(`at most ${MAX_FILTERS} filters are supported`);
  if (!filters.every(isSubscription)) return invalidFilter();
  const tokens = filters.map((filter) => filter.split("."));
  if (tokens.some((one, i) => tokens.some((other, j) => i < j && overlap(one, other)))) {
    return bad(10_138, "consumer subject filters cannot overlap");
  }
  if (config.flow_control && config.idle_heartbeat === undefined) {
    return bad(10_108, "consumer with flow control also needs heartbeats");
  }
  if (durable !== undefined && name !== undefined && durable !== name) {
    return bad(10_132, "Consumer Durable and Name have to be equal if both are provided");
  }
  const size = Object.entries(metadata ?? {}).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > MAX_METADATA) return bad(10_135, `consumer metadata exceeds maximum size of ${MAX_METADATA / 1024}KB`);
  if (config.replay_policy === "original") return consumerFailed("replay policy original is not supported");
  if (config.rate_limit_bps !== undefined) return consumerFailed("a rate limit is not supported");
  return undefined;
}

function pushRefusal(config: ConsumerConfig, streamSubject: string): ApiError | undefined {
  const bad = (code: number, why: string) => new ApiError(400, code, why);
  const { deliver_subject: subject = "", idle_heartbeat: heartbeat } = config;
  if (!isSubscription(subject)) return bad(10_112, "invalid push consumer deliver subject");
  if (!isLiteral(subject)) return bad(10_079, "consumer deliver subject has wildcards");
  if (overlap(subject.split("."), streamSubject.split("."))) {
    return bad(10_081, "consumer deliver subject forms a cycle");
  }
  if (config.max_waiting !== undefined) return bad(10_080, "consumer in push mode can not set max waiting");
  if ((config.max_ack_pending ?? 0) > 0 && config.ack_policy === "none") {
    return bad(10_082, "consumer requires ack policy for max ack pending");
  }
  if (heartbeat !== undefined && heartbeat < 100 * MILLISECOND) {
    return bad(10_083, "consumer idle heartbeat needs to be >= 100ms");
  }
  return undefined;
}

function pullRefusal(config: ConsumerConfig): ApiError | undefined {
  const bad = (code: number, why: string) => new ApiError(400, code, why);
  if (config.rate_limit_bps !== undefined) {
    return bad(10_086, "consumer in pull mode can not have rate limit set");
  }
  if ((config.max_waiting ?? 0) < 0) return bad(10_087, "consumer max waiting needs to be positive");
  if (config.idle_heartbeat !== undefined) return bad(10_088, "consumer idle heartbeat requires a push based consumer");
  if (config.flow_control) return bad(10_089, "consumer flow control requires a push based consumer");
  if ((config.max_batch ?? 0) < 0) return bad(10_114, "consumer max request batch needs to be > 0");
  if (config.max_expires !== undefined && config.max_expires < MILLISECOND) {
    return bad(10_115, "consumer max request expires needs to be >= 1ms");
  }
  if (config.direct) return bad(10_090, "consumer direct requires a push based consumer");
  return undefined;
}

function startRefusal(config: ConsumerConfig): ApiError | undefined {
  const { deliver_policy: policy, opt_start_seq: seq, opt_start_time: time } = config;
  const words = policy.replaceAll("_", " ");
  const also = (start: string) =>
    invalidPolicy(`consumer delivery policy is deliver ${words}, but optional start ${start} is also set`);
  const notSet = (what: string) =>
    invalidPolicy(`consumer delivery policy is deliver ${words}, but optional ${what} is not set`);
  if (seq !== undefined && policy !== "by_start_sequence") {
    return policy === "by_start_time"
      ? invalidPolicy(`consumer delivery policy is deliver ${words}, but optional start start sequence is also set`)
      : also("sequence");
  }
  if (time !== undefined && policy !== "by_start_time") return also("time");
  if (policy === "by_start_sequence" && seq === undefined) return notSet("start sequence");
  if (policy === "by_start_time" && time === undefined) return notSet("start time");
  if (policy === "last_per_subject" && filtersOf(config).length === 0) return notSet("filter subject");
  return undefined;
}

function boundRefusal(config: ConsumerConfig, bounds: ConfigBounds): ApiError | undefined {
  if ((config.max_ack_pending ?? 0) > bounds.maxAckPending) {
    return new ApiError(400, 10_121, `consumer max ack pending exceeds system limit of ${bounds.maxAckPending}`);
  }
  if ((config.max_waiting ?? 0) > bounds.maxWaiting) {
    return consumerFailed(`max waiting exceeds system limit of ${bounds.maxWaiting}`);
  }
  if ((config.inactive_threshold ?? 0) > bounds.inactiveThreshold) {
    const seconds = bounds.inactiveThreshold / SECOND;
    return new ApiError(400, 10_153, `consumer inactive threshold exceeds system limit of ${seconds}s`);
  }
  return undefined;
}

const FIXED: readonly (readonly [keyof ConsumerConfig, string])[] = [
  ["deliver_policy", "deliver policy"],
  ["opt_start_seq", "start sequence"],
  ["opt_start_time", "start time"],
  ["ack_policy", "ack policy"],
  ["replay_policy", "replay policy"],
  ["idle_heartbeat", "heart beats"],
  ["flow_control", "flow control"],
];

/** Checks that a consumer's configuration may be replaced by another. @throws ApiError otherwise. */
export function checkUpdate(old: ConsumerConfig, config: ConsumerConfig): void {
  for (const [member, name] of FIXED) {
    if (old[member] !== config[member]) throw consumerFailed(`${name} can not be updated`);
  }
  if (old.deliver_subject === undefined && config.deliver_subject !== undefined) {
    throw consumerFailed("can not update pull consumer to push based");
  }
  if (old.deliver_subject !== undefined && config.deliver_subject === undefined) {
    throw consumerFailed("can not update push consumer to pull based");
  }
  if (old.max_waiting !== config.max_waiting) throw consumerFailed("max waiting can not be updated");
}
