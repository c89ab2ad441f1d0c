/** A protocol version of the network that this release does not support is detected with the parameters. */
import { expect, test } from "vitest";
import { createLog } from "#src/base/log.ts";
import { fail, ok } from "#src/base/result.ts";
import { origin } from "#src/cardano/block.ts";
import { versionWarning, watchVersion } from "#src/chain/versionWatch.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { MemoryChain, memoryPort } from "../../support/chain/memoryChain.ts";

const at = (major: number) => ({ ...mainnetParametersAt(11), protocolVersion: { major, minor: 1 } });

test("versions up to 11 are supported, and no other", () => {
  for (const major of [9, 10, 11]) expect(versionWarning(at(major))).toBeUndefined();
  expect(versionWarning(at(12))).toMatchObject({
    code: "protocol_version_unknown",
    message: expect.stringMatching(/version 12\.1; this release supports versions up to 11/),
  });
});

test("each unsupported version is reported once, and stays reported until another one comes", async () => {
  const lines: string[] = [];
  const heard: string[] = [];
  let major: number | undefined;
  const { port, status } = watchVersion(
    {
      ...memoryPort(new MemoryChain(), { random: () => 0.5 }),
      parameters: async () =>
        major === undefined ? fail("network_unreachable", "It is away.") : ok({ point: origin, value: at(major) }),
    },
    createLog("warn", {}, (line) => lines.push(line)),
    ({ message }) => heard.push(message),
  );
  await port.parameters();
  expect(status()).toEqual({ network: null, newestKnown: 11, unknown: false });
  major = 11;
  await port.parameters();
  expect(status()).toEqual({ network: { major: 11, minor: 1 }, newestKnown: 11, unknown: false });
  expect(lines).toEqual([]);
  major = 12;
  await port.parameters();
  await port.parameters();
  expect(status()).toEqual({ network: { major: 12, minor: 1 }, newestKnown: 11, unknown: true });
  expect(lines).toEqual([expect.stringContaining('"code":"protocol_version_unknown"')]);
  // an unreachable network does not change that
  major = undefined;
  await port.parameters();
  expect(status().unknown).toBe(true);
  major = 13;
  await port.parameters();
  expect(heard).toEqual([expect.stringMatching(/version 12\.1/), expect.stringMatching(/version 13\.1/)]);
});
