/** A devnet publishes the versions of the contract that its protocol version runs, and no other. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { type Log, silentLog } from "#src/base/log.ts";
import { referenceScript } from "#src/contract/publication.ts";
import { cageScripts, firstProtocol } from "#src/contract/script.ts";
import { startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { must } from "../../support/contract/contractLedger.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { person } from "../../support/wallets/person.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;

beforeEach(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
});
afterEach(async () => {
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

test.each([[10, 2], [11, 3]] as const)("protocol version %i: %i versions", async (major, count) => {
  const { enterprise: address } = person("library");
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => void errors.push(message) };
  const started = await startDevnet({
    store,
    bus,
    evaluate: (input) => Promise.resolve(evaluateScripts(input)),
    log,
    clock: new VirtualClock(1_800_000_000_000),
    options: {
      blockMs: 0,
      leaseMs: 5_000,
      parameters: mainnetParametersAt(major),
      publish: cageScripts.map((script) => ({
        address,
        script: referenceScript(script),
        firstProtocol: firstProtocol(script),
      })),
    },
  });
  if (!started.ok) throw new Error(started.error.message);
  await started.value.makeBlock();
  const carrying = must(await devnetPort({ store, bus, log: silentLog }).utxosByAddress([address])).value;
  await started.value.stop();
  expect(carrying).toHaveLength(count);
  expect(errors).toEqual([]);
});
