import { fromBech32, toBech32 } from "#src/cardano/bech32.ts";
import { describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { addressRoutes } from "#src/wallets/http/addresses.ts";
import { newWalletApp } from "#src/wallets/http/route.ts";
import { walletVectors } from "../../../support/wallets/walletVectors.ts";

const app = newWalletApp(silentLog);
addressRoutes(app, { networkId: 0 });
const json = { "content-type": "application/json" };

describe("decoding an address", () => {
  const samples = walletVectors("inspect-address");
  test("gives the result of other tools", async () => {
    for (const { id, input, expected } of samples) {
      const [method, path] = String(input["request"]).split(" ");
      const response = await app.request(path!, { method: method! });
      expect(response.status, id).toBe(200);
      expect(await response.json(), id).toEqual(expected);
    }
  });

  test("names network and style of an address of the first mainnet", async () => {
    const response = await app.request(
      "/v2/addresses/Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi",
    );
    expect(await response.json()).toMatchObject({ address_style: "Icarus", network_tag: null });
  });

  test("refuses invalid addresses", async () => {
    const response = await app.request("/v2/addresses/addr_test1patate");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "bad_request" });
  });
});

describe("creating an address", () => {
  const make = (body: unknown) =>
    app.request("/v2/addresses", { method: "POST", headers: json, body: JSON.stringify(body) });
  const samples = walletVectors("post-addresses");

  test("gives the result of other wallet servers", async () => {
    for (const { id, input, expected } of samples) {
      const response = await make(input["body"]);
      const { status, body } = expected as { status: number; body: unknown };
      expect({ status: response.status, body: await response.json() }, id).toEqual({ status, body });
    }
  });

  const KEY = "addr_shared_vkh1zxt0uvrza94h3hv4jpv0ttddgnwkvdgeyq8jf9w30mcs6y8w3nq";
  test("validates scripts as strictly as requested", async () => {
    const STAKE = "stake_shared_vkh1nac0awgfa4zjsh4elnjmsscz0huhss8q2g0x3n7m539mwaa5m7s";
    const said = {
      impossible: "The script is ill-formed and is not going to be accepted by the ledger.",
      mixed: "All keys of a script must have the same role: either payment or delegation.",
      twice: "The list inside a script has duplicate keys (which is not recommended).",
      zero: "At least's coefficient is 0 (which is not recommended).",
      trap: "The timelocks used are contradictory when used with 'all' (which is not recommended).",
    };
    const cases: readonly (readonly [script: unknown, required: string | undefined, recommended: string])[] = [
      [{ all: [KEY, KEY] }, undefined, said.twice],
      [{ some: { at_least: 0, from: [KEY] } }, undefined, said.zero],
      [{ all: [KEY, { active_from: 120 }, { active_until: 100 }] }, undefined, said.trap],
      [{ some: { at_least: 2, from: [KEY] } }, said.impossible, said.impossible],
      [{ some: { at_least: 1, from: [KEY, STAKE] } }, said.mixed, said.mixed],
    ];
    for (const [payment, required, recommended] of cases) {
      // without a level nothing is validated
      for (const validation of [undefined, "none"]) expect((await make({ payment, validation })).status).toBe(202);
      for (const [validation, message] of Object.entries({ required, recommended })) {
        const response = await make({ payment, validation });
        if (message === undefined) expect(response.status).toBe(202);
        else {
          expect(response.status).toBe(400);
          expect(await response.json()).toMatchObject({
            code: "bad_request",
            message: expect.stringContaining(message),
          });
        }
      }
    }
  });

  test("accepts keys of scripts under the older prefix", async () => {
    const old = toBech32("script_vkh", fromBech32(KEY)!.bytes);
    const address = async (key: string) =>
      await (await make({ payment: { all: [key] }, validation: "required" })).json();
    expect(await address(old)).toEqual(await address(KEY));
  });

  test("accepts no key of another kind for a part", async () => {
    expect((await make({ stake: "addr_vk1lqglg77z6kajsdz4739q22c0zm0yhuy567z6xk2vc0z5ucjtkwpschzd2j" })).status).toBe(
      400,
    );
  });
});
