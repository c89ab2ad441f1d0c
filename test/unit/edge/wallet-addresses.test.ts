import { describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { addressRoutes } from "#src/edge/wallets/addresses.ts";
import { newWalletApp } from "#src/edge/wallets/route.ts";
import { walletVectors } from "../../support/wallet-vectors.ts";

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
    const twice = { payment: { all: [KEY, KEY] } };
    expect((await make(twice)).status).toBe(202);
    const refused = await make({ ...twice, validation: "recommended" });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: "bad_request", message: expect.stringContaining("duplicate") });
    expect((await make({ payment: { some: { at_least: 2, from: [KEY] } } })).status).toBe(400);
    expect((await make({ payment: { some: { at_least: 2, from: [KEY] } }, validation: "none" })).status).toBe(202);
  });

  test("accepts no key of another kind for a part", async () => {
    expect((await make({ stake: "addr_vk1lqglg77z6kajsdz4739q22c0zm0yhuy567z6xk2vc0z5ucjtkwpschzd2j" })).status).toBe(
      400,
    );
  });
});
