/**
 * The services over the devnet's own Ogmios and Kupo: a token's life and a wallet's, starts that cannot work, and every
 * query beside the devnet's own rows. The chapters of `test/system/scenarios` run over it with `ARBOR_SCENARIO_PROVIDER`.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLog } from "#src/base/log.ts";
import type { Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { StakePool } from "#src/chain/provider/ledgerPort.ts";
import { type OgmiosPort, ogmiosPort } from "#src/chain/provider/ogmios/port.ts";
import { genesisOutputs, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { ratioText, readAddressJson } from "#src/ogmios/values.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { isLong } from "../../support/base/longTests.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { providerLife } from "../../support/service/providerLife.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

function valueOf<T>(result: Result<T, { readonly message: string }>): T {
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}

/** A value whose fractions are in their lowest terms, as Ogmios writes them. */
function reduced(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, reduced(one)]));
  if (Array.isArray(value)) return value.map(reduced);
  if (typeof value !== "object" || value === null) return value;
  if (!("numerator" in value)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, reduced(one)]));
  }
  return ratioText(value as Ratio);
}

describe("over an ogmios", () => {
  providerLife("ogmios", { holds: "exact at a point", unanswered: [] });
});

const FORMS = [{ version: 6, cbor: false }, { version: 7, cbor: true }];

describe.each(isLong ? FORMS : FORMS.slice(0, 1))(
  "Ogmios in version $version, with CBOR: $cbor",
  ({ version, cbor }) => {
    const owner = new User();
    let far: Infra;
    let devnet: Arbor;
    let store: Store;
    let bus: Bus;
    let url: string;
    let kupoUrl: string;
    let own: ReturnType<typeof devnetPort>;
    const ports: OgmiosPort[] = [];

    const open = (more: Partial<Parameters<typeof ogmiosPort>[0]> = {}): OgmiosPort => {
      const port = ogmiosPort({ url, magic: 42, log: silentLog, ...more });
      ports.push(port);
      return port;
    };

    beforeAll(async () => {
      far = await sharedInfra();
      devnet = await Arbor.start({
        infra: far,
        roles: "devnet",
        blockMs: 0,
        env: {
          ARBOR_DEVNET_WITHOUT: "utxorpc",
          ARBOR_OGMIOS_VERSION: String(version),
          ARBOR_OGMIOS_INCLUDE_CBOR: String(cbor),
          ARBOR_BUILDERS: "1",
        },
      });
      url = devnet.places.get("Ogmios API of the devnet")!;
      kupoUrl = devnet.places.get("Kupo API of the devnet")!;
      store = openStore(far.databaseUrl, { max: 4 });
      bus = await connectBus({ url: far.natsUrl, ...(far.natsToken ? { token: far.natsToken } : {}) });
      own = devnetPort({ store, bus, log: silentLog });
      for (let i = 0; i < 3; i++) {
        const paid = await http(devnet.devnet, "POST", "/faucet", { address: owner.address, lovelace: 5_000_000 });
        expect(paid.status).toBe(200);
        await http(devnet.devnet, "POST", "/blocks", { count: 2 });
      }
    }, 60_000);
    afterAll(async () => {
      for (const port of ports) port.close();
      await devnet?.end();
      await bus?.close();
      await store?.close();
      await far?.stop();
    });

    it("gives the same blocks as the devnet's rows", async () => {
      const blocks = [];
      const tip = valueOf(await own.tip());
      for await (const step of open().follow([], new AbortController().signal)) {
        if (step.type !== "scanned") continue;
        blocks.push(step.block);
        if (step.block.hash === tip.hash) break;
      }
      expect(blocks.map(({ height }) => height)).toEqual(blocks.map((_, i) => tip.height + 1 - blocks.length + i));
      const { sql } = store;
      const rows = await sql<{ hash: string }[]>`select hash from devnet_block order by height`;
      expect(blocks.map(({ hash }) => hash)).toEqual(rows.map(({ hash }) => hash));
    });

    it("gives everything that the devnet's own rows do", async () => {
      const port = open();
      expect(await port.network()).toMatchObject({ magic: 42, id: 0 });
      expect(valueOf(await port.tip())).toEqual(valueOf(await own.tip()));
      expect(reduced(valueOf(await port.parameters()))).toEqual(reduced(valueOf(await own.parameters())));
      expect(valueOf(await port.epoch())).toEqual(valueOf(await own.epoch()));
      expect(valueOf(await port.eras())).toEqual(valueOf(await own.eras()));
      expect(reduced(valueOf(await port.genesis()))).toEqual(
        reduced({ ...valueOf(await own.genesis()), hash: undefined }),
      );
      const pools = valueOf(await own.pools()).value;
      const members: Credential[] = pools.flatMap(({ owners }) => owners!.map((hash) => ({ kind: "key", hash })));
      const wanted: Credential[] = [...members, { kind: "script", hash: "12".repeat(28) }, members[0]!];
      expect(members.length).toBeGreaterThan(0);
      expect(valueOf(await port.accounts(wanted))).toEqual(valueOf(await own.accounts(wanted)));
      const listed = (of: readonly StakePool[]) =>
        reduced(of.map(({ stake: _, deposit: __, future: ___, relays: ____, ...pool }) => pool));
      expect(listed(valueOf(await port.pools()).value)).toEqual(listed(pools));
      expect(valueOf(await port.poolRanking(10n ** 16n))).toEqual(valueOf(await own.poolRanking(10n ** 16n)));
      expect(valueOf(await port.dreps())).toEqual(valueOf(await own.dreps()));
      expect(valueOf(await port.drepStatus(wanted))).toEqual(valueOf(await own.drepStatus(wanted)));
    });

    it("gives the outputs at addresses, with Kupo and without", async () => {
      const address = [
        ...genesisOutputs((await readGenesis(store.sql))!).map(({ output }) => output.address),
        readAddressJson(owner.address),
      ];
      const sorted = ({ point, value }: { readonly point: unknown; readonly value: readonly Utxo[] }) => ({
        point,
        value: [...value].sort((a, b) => refKey(a.ref) < refKey(b.ref) ? -1 : 1).map((
          { ref, output: { raw: _, ...output } },
        ) => ({
          ref,
          output,
        })),
      });
      const expected = sorted(valueOf(await own.utxosByAddress(address)));
      expect(expected.value.length).toBeGreaterThan(0);
      expect(sorted(valueOf(await open().utxosByAddress(address)))).toEqual(expected);
      expect(sorted(valueOf(await open({ kupoUrl }).utxosByAddress(address)))).toEqual(expected);
      const refs = expected.value.map(({ ref }) => ref);
      expect(sorted(valueOf(await open().utxosByRef(refs)))).toEqual(expected);
    });
  },
);

describe.skipIf(!isLong)("a start", () => {
  const owner = new User();
  let far: Infra;
  let devnet: Arbor;
  let env: Record<string, string>;

  beforeAll(async () => {
    far = await sharedInfra();
    devnet = await Arbor.start({ infra: far, roles: "devnet", env: { ARBOR_DEVNET_WITHOUT: "kupo,utxorpc" } });
    env = {
      ARBOR_PROVIDER: "ogmios",
      ARBOR_OGMIOS_URL: devnet.places.get("Ogmios API of the devnet")!,
      ARBOR_BUILDERS: "1",
    };
  }, 60_000);
  afterAll(async () => {
    await devnet?.end();
    await far?.stop();
  });

  it("of another network ends, and says what to change", async () => {
    const infra = await sharedInfra();
    try {
      await expect(Arbor.start({ infra, env: { ...env, ARBOR_NETWORK_MAGIC: "1" } })).rejects.toThrow(
        /--ogmios-url: .*magic 42, not 1\. Name a server of that network by --ogmios-url, or .* by --network-magic/,
      );
    } finally {
      await infra.stop();
    }
  });

  it("with a new index begins after the block that is named, and goes on from there", async () => {
    const infra = await sharedInfra();
    const { body: { tip } } = await http(devnet.devnet, "GET", "/health");
    const begin = () => Arbor.start({ infra, env: { ...env, ARBOR_OGMIOS_FROM: `${tip.slot}.${tip.hash}` } });
    const index = openStore(infra.databaseUrl, { max: 1 });
    let arbor = await begin();
    try {
      await fund(devnet.devnet, arbor.tokens, owner);
      const boot = async () => {
        const built = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
        expect(built.status).toBe(200);
        await land(arbor.tokens, owner.sign(built.body.unsignedTransaction));
        return built.body.value as string;
      };
      const first = await boot();
      const [row] = await index.sql<{ least: bigint }[]>`select min(height) as least from chain_block`;
      expect(Number(row!.least)).toBe(tip.height + 1);
      await arbor.end();
      arbor = await begin();
      await boot();
      expect((await http(arbor.tokens, "GET", `/token/${first}/facts`)).body).toEqual({});
    } finally {
      await arbor.end();
      await index.close();
      await infra.stop();
    }
  });
});
