/** Assets in responses to clients, with the content of a server of token metadata, over real HTTP. */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { assetsShown } from "#src/wallets/http/holdings.ts";
import { TokenServer } from "#src/wallets/tokenMetadata.ts";
import { type OutsideServer, outsideServer } from "../../../support/infra/externalServers.ts";

const policy = "1e349c9bdea19fd6c147626a5260bc44b71635f398b67c59881df209";
const known = `${policy}504154415445`;
const unknown = `${policy}00`;
const servers: OutsideServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});
async function tokens(...of: Parameters<typeof outsideServer>): Promise<TokenServer> {
  const server = await outsideServer(...of);
  servers.push(server);
  return new TokenServer({ url: server.url, fetch: { allowPrivate: true }, log: silentLog });
}
// the fingerprint is one of CIP-14
const plain = {
  policy_id: policy,
  asset_name: "504154415445",
  fingerprint: "asset1hv4p5tv2a837mzqrst04d0dcptdjmluqvdx9k3",
};

test("an asset has the server's metadata, and no member for what the server does not know", async () => {
  const served = await tokens(() => ({
    body: {
      subjects: [{
        subject: known,
        name: { value: "Patate" },
        description: { value: "A potato" },
        decimals: { value: 2 },
      }],
    },
  }));
  const [one, other] = await assetsShown({ tokens: served }, [known, unknown]);
  expect(one).toEqual({ ...plain, metadata: { name: "Patate", description: "A potato", decimals: 2 } });
  expect(Object.keys(JSON.parse(JSON.stringify(other)))).toEqual(["policy_id", "asset_name", "fingerprint"]);
  expect(await assetsShown({ tokens: undefined }, [known])).toEqual([plain]);
});

test("a server that fails is named as such, and the asset is returned anyway", async () => {
  const away = await tokens(() => ({ status: 503, body: {} }));
  expect(await assetsShown({ tokens: away }, [known])).toEqual([{ ...plain, metadata_error: "fetch" }]);
  const odd = await tokens(() => ({ body: "<html>" }));
  expect(await assetsShown({ tokens: odd }, [known])).toEqual([{ ...plain, metadata_error: "parse" }]);
});
