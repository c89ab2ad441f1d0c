/**
 * Every published version of the contract supports a token's whole life on a devnet of protocol version 11, and so does
 * the build that uses the features of this version.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { equalBytes, toHex, utf8 } from "#src/base/bytes.ts";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { created } from "#src/cardano/block.ts";
import { compareRefs, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { decodeDatum, EMPTY_ROOT, type Operation } from "#src/contract/datum.ts";
import { referenceScript } from "#src/contract/publication.ts";
import { type CageScript, cageScripts } from "#src/contract/script.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { type BuildInput, type Built, measureWith } from "#src/contract/transactions/common.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { ModelToken, must, op } from "../../support/contract/contractLedger.ts";
import { checkRows, devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { type Person, person, signed } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const [alice, bob, library] = ["alice", "bob", "library"].map(person) as [Person, Person, Person];
const scripts: readonly (readonly [name: string, script: CageScript])[] = cageScripts.map((script) =>
  [script.version, script] as const
);

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
/** The outputs that carry the scripts. */
let carrying: readonly Utxo[];
/** Unspent outputs of the two people and at the contract. */
const unspent = new Map<string, Utxo>();

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  const started = await startDevnet({
    store,
    bus,
    evaluate: (input) => Promise.resolve(evaluateScripts(input)),
    log: silentLog,
    clock: new VirtualClock(1_800_000_000_000),
    options: {
      blockMs: 0,
      leaseMs: 5_000,
      parameters: mainnetParametersAt(11),
      publish: scripts.map(([, script]) => ({ address: library.enterprise, script: referenceScript(script) })),
    },
  });
  if (!started.ok) throw new Error(started.error.message);
  devnet = started.value;
  for (const { base } of [alice, bob]) {
    must(await devnet.faucet.pay(base, 100n * ada));
    must(await devnet.faucet.pay(base, 20n * ada));
  }
  devnet.mempool().forEach(({ applied }) => remember(applied.created));
  await devnet.makeBlock();
  const port = devnetPort({ store, bus, log: silentLog });
  carrying = must(await port.utxosByAddress([library.enterprise])).value;
  expect(carrying).toHaveLength(scripts.length);
});
afterAll(async () => {
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

const remember = (outputs: readonly Utxo[]) => outputs.forEach((one) => unspent.set(refKey(one.ref), one));

/** Signs a transaction, submits it to the ledger, and returns its outputs. */
async function land(built: Built, who: Person): Promise<readonly Utxo[]> {
  const transaction = signed(built.transaction, who);
  expect(await devnet.submit(transaction)).toEqual({ ok: true, value: { outcome: "accepted" } });
  await devnet.makeBlock();
  const scanned = scanTransaction(transaction);
  scanned.inputs.forEach((ref) => unspent.delete(refKey(ref)));
  remember(created(scanned));
  return created(scanned);
}

test.each(scripts)("a token of %s", async (_name, script) => {
  const parameters = (await devnet.query((state) => state.parameters))!;
  expect(parameters.protocolVersion.major).toBe(11);
  const { slots } = devnet.network;
  const measure = measureWith(evaluateScripts, { parameters, slots });
  const input = ({ base: address }: Person): BuildInput => ({
    parameters,
    slots,
    slot: devnet.slot(),
    horizon: devnet.horizon(),
    network: 0,
    script,
    reference: carrying.find(({ output }) => equalBytes(output.script!, referenceScript(script)))!,
    address,
    available: [...unspent.values()].filter(({ output }) => output.address === address).map((utxo) => ({ utxo })),
  });
  const boot = must(buildBoot(input(alice), measure));
  const token = new ModelToken(boot.token, (await land(boot, alice))[0]!);
  const ask = async (key: string, operation: Operation) =>
    (await land(must(buildRequest({ ...input(bob), token: token.token, key: utf8(key), operation })), bob))[0]!;
  const update = async (...requests: Utxo[]) => {
    const built = must(buildUpdate({ ...input(alice), state: token.state, requests }, token.facts, measure));
    token.follow((await land(built, alice))[0]!, [...requests].sort((a, b) => compareRefs(a.ref, b.ref)));
    const datum = decodeDatum(token.state.output.datum!);
    expect(datum).toMatchObject({ type: "state", state: { root: toHex(token.facts.root) } });
  };
  await update(await ask("a", op.insert("1")), await ask("b", op.insert("2")), await ask("c", op.insert("3")));
  await update(await ask("a", op.update("1", "one")), await ask("b", op.remove("2")));
  expect(toHex(token.facts.root)).not.toBe(EMPTY_ROOT);
  const late = await ask("d", op.insert("4"));
  await land(must(buildRetract({ ...input(bob), request: late }, measure)), bob);
  await land(must(buildEnd({ ...input(alice), state: token.state }, measure)), alice);
  expect([...unspent.values()].filter(({ output }) => output.datum)).toEqual([]);
  const { blocks } = await checkRows(store);
  expect(blocks.flatMap(({ transactions }) => transactions).every(({ valid }) => valid)).toBe(true);
});
