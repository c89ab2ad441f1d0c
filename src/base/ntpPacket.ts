/**
 * Packets of SNTP version 4 (RFC 4330, RFC 5905): a request, and what an answer says.
 *
 * The transmit timestamp of a request is a random number, not the time: a server repeats it, so that an answer proves
 * that its sender has seen the request, and no clock is disclosed. All times are microseconds since 1970.
 */

const LENGTH = 48;
/** Leap 0, version 4, mode 3 (client). */
const CLIENT = 0x23;
const SERVER_MODE = 4;
/** Leap indicator of a server whose clock is not synchronised. */
const UNSYNCHRONISED = 3;
const MOST_STRATUM = 15;
/** Offsets of the timestamps: the repeated one of the request, when that arrived, when the answer was sent. */
const [ORIGINATE, RECEIVE, TRANSMIT] = [24, 32, 40] as const;
/** Seconds from 1900, where NTP's time begins, to 1970. */
const EPOCH = 2_208_988_800;
const ERA = 2 ** 32;
const MICROSECONDS = 1_000_000;
/** Of a server's clock, in microseconds. */
const RESOLUTION = 1_000;

/** A request that carries eight random bytes. */
export function ntpRequest(nonce: Uint8Array): Uint8Array {
  const packet = new Uint8Array(LENGTH);
  packet[0] = CLIENT;
  packet.set(nonce, TRANSMIT);
  return packet;
}

/** A server's clock as one answer shows it, in microseconds. */
export interface NtpSample {
  /** What must be added to the local clock. */
  readonly offset: number;
  /** Time of the way to the server and back; the offset is exact to half of it. */
  readonly delay: number;
}

/** An answer: a sample; a refusal, which asks not to be asked again; or none, where the bytes are not an answer. */
export type NtpAnswer =
  | { readonly kind: "sample"; readonly sample: NtpSample }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "none"; readonly why: string };

const none = (why: string): NtpAnswer => ({ kind: "none", why });

/** Reads what a server sent. `sent` and `received` are the local times of the request and of these bytes. */
export function readNtpAnswer(packet: Uint8Array, nonce: Uint8Array, sent: number, received: number): NtpAnswer {
  if (packet.length < LENGTH) return none("it is too short");
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  const [first, stratum] = [view.getUint8(0), view.getUint8(1)];
  if ((first & 7) !== SERVER_MODE) return none("it is not from a server");
  if (nonce.some((byte, i) => packet[ORIGINATE + i] !== byte)) return none("it does not answer the request");
  if (stratum === 0) return { kind: "refused", code: String.fromCharCode(...packet.subarray(12, 16)) };
  if (stratum > MOST_STRATUM || first >> 6 === UNSYNCHRONISED) return none("the server's clock is not synchronised");
  if (view.getBigUint64(RECEIVE) === 0n || view.getBigUint64(TRANSMIT) === 0n) return none("it has no timestamps");
  const [arrived, answered] = [timeIn(view, RECEIVE, received), timeIn(view, TRANSMIT, received)];
  const delay = received - sent - (answered - arrived);
  if (answered < arrived || delay < -RESOLUTION) return none("its timestamps contradict each other");
  const offset = (arrived - sent + answered - received) / 2;
  return { kind: "sample", sample: { offset, delay: Math.max(0, delay) } };
}

/** The timestamp nearest to a time: its seconds begin again every 136 years, for the first time in 2036. */
function timeIn(view: DataView, at: number, near: number): number {
  const seconds = view.getUint32(at) - EPOCH;
  const eras = Math.round((near / MICROSECONDS - seconds) / ERA);
  return (seconds + eras * ERA + view.getUint32(at + 4) / ERA) * MICROSECONDS;
}

/** Microseconds by which two clocks that agree may differ beside the uncertainty of their delays. */
const TOLERANCE = 50_000;

/**
 * The offset on which at least `required` servers agree: that of the fastest answer among the largest set of samples
 * whose intervals have a point in common (the intersection of RFC 5905); `undefined` if no set is large enough.
 */
export function agreedOffset(samples: readonly NtpSample[], required: number): number | undefined {
  const least = ({ offset, delay }: NtpSample) => offset - delay / 2 - TOLERANCE;
  const most = ({ offset, delay }: NtpSample) => offset + delay / 2 + TOLERANCE;
  let agreed: readonly NtpSample[] = [];
  for (const point of samples.map(least)) {
    const around = samples.filter((one) => least(one) <= point && point <= most(one));
    if (around.length > agreed.length) agreed = around;
  }
  if (agreed.length === 0 || agreed.length < required) return undefined;
  return agreed.reduce((best, one) => one.delay < best.delay ? one : best).offset;
}
