/**
 * Which lines the log has: one threshold for all, and one for each of cardano-wallet's eight tracers, which are groups of
 * this product's components.
 */
import type { Threshold, Thresholds } from "#src/base/log.ts";

/** cardano-wallet's severities, from the most lines to the fewest, and the threshold of each. */
const SEVERITIES: Readonly<Record<string, Threshold>> = {
  debug: "debug",
  info: "info",
  notice: "notice",
  warning: "warn",
  warn: "warn",
  error: "error",
  critical: "critical",
  alert: "alert",
  emergency: "emergency",
};

/** The components of each tracer; `""` are those that no tracer names. */
export const TRACERS = {
  application: [""],
  "api-server": ["edge"],
  "wallet-engine": ["worker", "vault", "resubmission"],
  "wallet-db": ["housekeeper"],
  "pools-engine": ["pools"],
  "pools-db": ["pools-db"],
  "ntp-client": ["ntp"],
  network: ["follower", "mempool", "node", "ogmios", "blockfrost", "yaci"],
} as const;
type Tracer = keyof typeof TRACERS;
export const TRACER_NAMES = Object.keys(TRACERS) as Tracer[];

/** Names of the options, without `--`. */
export const LOG_NAMES = ["log-level", ...TRACER_NAMES.map((name) => `trace-${name}` as const)] as const;
type OptionName = (typeof LOG_NAMES)[number];

const traceLine = (name: Tracer) => {
  const lines = TRACERS[name].map((component) => component || "those of no other tracer").join(", ");
  const variable = ["arbor", "trace", ...name.split("-")].join("_").toUpperCase();
  return `  --trace-${name} LEVEL  the same or off, for lines of the components: ${lines}  ${variable}`;
};

/** Their part of the help text. */
export const LOG_HELP = [
  "  --log-level LEVEL    debug, info, notice, warning (or warn), error, critical, alert, emergency (warn)  ARBOR_LOG_LEVEL",
  ...TRACER_NAMES.map(traceLine),
].join("\n");

/** Reads these options; upper and lower case are the same. Reports an unknown severity as a problem. */
export function readLogOptions(
  text: (name: OptionName) => string | undefined,
  problem: (sentence: string) => void,
): Thresholds {
  const read = (name: OptionName, usual: Threshold): Threshold => {
    const given = text(name)?.toLowerCase();
    if (given === undefined) return usual;
    if (given === "off" && name !== "log-level") return "off";
    const severity = Object.hasOwn(SEVERITIES, given) ? SEVERITIES[given] : undefined;
    if (severity !== undefined) return severity;
    const off = name === "log-level" ? "" : ", off";
    problem(`--${name} is one of ${Object.keys(SEVERITIES).join(", ")}${off}, not ${given}`);
    return usual;
  };
  const components = TRACER_NAMES.flatMap((name) => {
    const threshold = read(`trace-${name}`, "debug");
    return TRACERS[name].map((component) => [component, threshold] as const);
  });
  return { all: read("log-level", "warn"), components: Object.fromEntries(components) };
}
