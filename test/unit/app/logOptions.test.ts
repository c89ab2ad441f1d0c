/** Thresholds of the log out of options with cardano-wallet's severities and tracers. */
import { describe, expect, it } from "vitest";
import { readLogOptions, TRACER_NAMES } from "#src/app/logOptions.ts";

function read(options: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  return { read: readLogOptions((name) => options[name], (sentence) => problems.push(sentence)), problems };
}

describe("log options", () => {
  it("know the eight tracers and the eight severities, in upper and lower case", () => {
    expect(TRACER_NAMES).toEqual([
      "application",
      "api-server",
      "wallet-engine",
      "wallet-db",
      "pools-engine",
      "pools-db",
      "ntp-client",
      "network",
    ]);
    const severities = ["debug", "INFO", "Notice", "warning", "error", "critical", "alert", "emergency"];
    const all = severities.map((severity) => {
      const { read: { all }, problems } = read({ "log-level": severity });
      expect(problems).toEqual([]);
      return all;
    });
    expect(all).toEqual(["debug", "info", "warn", "warn", "error", "off", "off", "off"]);
  });

  it("are warn for everything by default, and each tracer has its own threshold", () => {
    expect(read({}).read).toMatchObject({ all: "warn", components: { "": "debug", edge: "debug", node: "debug" } });
    const { components } =
      read({ "trace-api-server": "off", "trace-network": "alert", "trace-application": "notice" }).read;
    expect(components).toMatchObject({ edge: "off", node: "off", follower: "off", "": "warn", worker: "debug" });
  });

  it("refuse other words", () => {
    const { problems } = read({ "log-level": "off", "trace-wallet-db": "loud", "trace-network": "__proto__" });
    expect(problems).toEqual([
      "--trace-wallet-db is one of debug, info, notice, warning, warn, error, critical, alert, emergency, off, not loud",
      "--trace-network is one of debug, info, notice, warning, warn, error, critical, alert, emergency, off, not __proto__",
      "--log-level is one of debug, info, notice, warning, warn, error, critical, alert, emergency, not off",
    ]);
  });
});
