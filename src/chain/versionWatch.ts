/**
 * Whether the network's protocol version is one that this release knows.
 *
 * Assumption: a newer version changes rules, cost models and the semantics of scripts in ways unknown to this release, while
 * most transactions stay valid. So nothing stops: builds, `/health` and the start report it.
 */
import type { Log } from "#src/base/log.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import { NEWEST_MAJOR } from "#src/ledger/epoch/hardFork.ts";

/** Something that a client should know of an answer. */
interface VersionWarning {
  readonly code: "protocol_version_unknown";
  readonly message: string;
}

/** What is said where parameters are of a protocol version after the newest that this release knows; undefined where they are not. */
export function versionWarning(
  { protocolVersion: { major, minor } }: Pick<Parameters, "protocolVersion">,
): VersionWarning | undefined {
  if (major <= NEWEST_MAJOR) return undefined;
  return {
    code: "protocol_version_unknown",
    message:
      `The network has protocol version ${major}.${minor}; this release supports versions up to ${NEWEST_MAJOR}. Scripts are evaluated by the rules ` +
      `of version ${NEWEST_MAJOR}: units and fees may be wrong, and the network may reject the transaction. Install a newer release.`,
  };
}

/** What is known of the network's protocol version. */
interface VersionStatus {
  /** As the network last stated it; null while it did not. */
  readonly network: Parameters["protocolVersion"] | null;
  /** Newest major version that this release knows. */
  readonly newestKnown: number;
  /** Whether the network is ahead of this release. */
  readonly unknown: boolean;
}

/** A port that notices the protocol version of all parameters it gives. */
interface WatchedPort<Port extends ChainPort> {
  readonly port: Port;
  status(): VersionStatus;
}

/** Watches a port: `onUnknown` is called when the version becomes one that is not known, once for each such version. */
export function watchVersion<Port extends ChainPort>(
  port: Port,
  log: Log,
  onUnknown: (warning: VersionWarning) => void = () => {},
): WatchedPort<Port> {
  let last: Parameters["protocolVersion"] | undefined;
  const notice = (parameters: Parameters) => {
    const { protocolVersion } = parameters;
    const same = last?.major === protocolVersion.major;
    last = protocolVersion;
    const warning = same ? undefined : versionWarning(parameters);
    if (!warning) return;
    log.warn("the network has a protocol version that this release does not support", {
      code: warning.code,
      reason: warning.message,
    });
    onUnknown(warning);
  };
  return {
    port: {
      ...port,
      parameters: async () => {
        const found = await port.parameters();
        if (found.ok) notice(found.value.value);
        return found;
      },
    },
    status: () => ({
      network: last ? { ...last } : null,
      newestKnown: NEWEST_MAJOR,
      unknown: last !== undefined && last.major > NEWEST_MAJOR,
    }),
  };
}
