/** Keys and values that are any bytes, over HTTP in hexadecimal: whatever can be read can be requested. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { bytesText } from "#src/contract/text.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { verifyFact } from "#src/client/proofs.ts";
import { verifyFactSet } from "#src/client/factSet.ts";
import { TokenClient } from "#src/client/tokens.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

/** Every byte, halves and pieces of UTF-8, text, the empty key, and one longer than a piece of a datum. */
const KEYS = [
  Uint8Array.from({ length: 256 }, (_, i) => i),
  Uint8Array.of(0xff),
  Uint8Array.of(0xc3),
  Uint8Array.of(0xc3, 0xa9),
  Uint8Array.of(0xed, 0xb2, 0x80),
  utf8("planet/é"),
  new Uint8Array(),
  new Uint8Array(2_000).fill(0x80),
].map(toHex);

describe("binary facts", () => {
  let infra: Infra;
  let arbor: Arbor;
  let client: TokenClient;
  let token: string;
  let root: string;
  const owner = new User();
  const other = new User();

  const get = async (path: string) => {
    const { status, body } = await http(arbor.tokens, "GET", path);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const post = (type: string, query: string, body: object) =>
    http(arbor.tokens, "POST", `/transaction/${other.address}/request-${type}/${token}${query}`, body);
  const request = async (type: string, body: object) => {
    const { status, body: { unsignedTransaction, code } } = await post(type, "?encoding=hex&strict=true", body);
    expect([status, code]).toEqual([200, undefined]);
    return await land(arbor.tokens, other.sign(unsignedTransaction));
  };
  const applyAll = async () => {
    for (let open = Infinity; open > 0;) {
      const { unsignedTransaction, left, mpfRoot } = await client.apply(owner.address, token);
      await land(arbor.tokens, owner.sign(unsignedTransaction));
      root = mpfRoot;
      open = left.length;
    }
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    client = new TokenClient(arbor.tokens);
    await Promise.all([owner, other].map((user) => fund(arbor.devnet, arbor.tokens, user)));
    const { unsignedTransaction, value } = await client.boot(owner.address);
    await land(arbor.tokens, owner.sign(unsignedTransaction));
    token = value;
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("are requested in hexadecimal, in digits of both cases", async () => {
    for (const key of KEYS) await request("insert", { key: key.toUpperCase(), newValue: key.slice(0, 64) });
    const { requests } = await get(`/token/${token}?encoding=hex`);
    const changes = requests.map((
      { change: { key, newValue } }: { change: Record<string, string> },
    ) => [key, newValue]);
    expect(changes.sort()).toEqual(KEYS.map((key) => [key, key.slice(0, 64)]).sort());
    expect((await client.token(token, { encoding: "hex" })).requests).toEqual(requests);
    const texts = (await get(`/token/${token}`)).requests.map((one: { change: { key: string } }) => one.change.key);
    expect(texts.sort()).toEqual(KEYS.map((key) => bytesText(fromHex(key))).sort());
    await applyAll();
  });

  it("are read in hexadecimal: all, by pages, by prefix, changed, and complete", async () => {
    const facts = Object.fromEntries(KEYS.map((key) => [key, key.slice(0, 64)]));
    expect(await get(`/token/${token}/facts?encoding=hex`)).toEqual(facts);
    expect(await client.facts(token, { encoding: "hex" })).toEqual(facts);
    const slotted = await client.factsWithSlots(token, { encoding: "hex" });
    expect(Object.entries(slotted).map(([key, { value }]) => [key, value]).sort()).toEqual(
      Object.entries(facts).sort(),
    );
    const pages = client.factPages(token, { encoding: "hex", limit: 3 });
    expect(await verifyFactSet(pages, { tokenId: token, trusted: { root }, encoding: "hex" })).toMatchObject({
      ok: true,
      value: { facts: KEYS.length },
    });
    const began = await Array.fromAsync(client.factPages(token, { encoding: "hex", prefix: Uint8Array.of(0xc3) }));
    expect(began).toEqual([{ c3: "c3", c3a9: "c3a9" }]);
    expect((await get(`/token/${token}/facts?encoding=hex&since=-1`)).facts).toEqual(facts);
  });

  it("are proven, and have histories, by their bytes", async () => {
    for (const key of KEYS) {
      const bytes = fromHex(key);
      const answer = await client.fact(token, bytes);
      expect(answer).toMatchObject({ keyHex: key, valueHex: key.slice(0, 64) });
      expect(verifyFact(answer, { tokenId: token, key: bytes, trusted: { root } })).toMatchObject({
        ok: true,
        value: { included: true, value: fromHex(key.slice(0, 64)) },
      });
      expect(await Array.fromAsync(client.factHistory(token, bytes))).toMatchObject([{
        type: "insert",
        value: bytesText(fromHex(key.slice(0, 64))),
        valueHex: key.slice(0, 64),
      }]);
      const [past] = await Array.fromAsync(client.history(token, { encoding: "hex", key: bytes }));
      expect(past).toMatchObject({ status: "applied", change: { key, newValue: key.slice(0, 64) } });
      const { outputRefId, change } = past!;
      expect((await get(`/token/${token}/requests/${outputRefId}?encoding=hex`)).change).toEqual(change);
    }
    const path = toHex(blake2b256(fromHex(KEYS[1]!)));
    expect(await get(`/token/${token}/facts/${path}/history?encoding=digest`)).toMatchObject({ keyHex: KEYS[1] });
  });

  it("are changed and deleted by what was read, by the client in bytes", async () => {
    const [first, second, ...rest] = Object.entries(await client.facts(token, { encoding: "hex" })) as [
      string,
      string,
    ][];
    const [[one, old], [two, gone]] = [first!, second!];
    const built = await client.update(other.address, token, fromHex(one), fromHex(old), "é");
    await land(arbor.tokens, other.sign(built.unsignedTransaction));
    await request("delete", { key: two, value: gone });
    await applyAll();
    expect(await client.facts(token, { encoding: "hex" })).toEqual(Object.fromEntries([...rest, [one, "c3a9"]]));
    const [update] = await Array.fromAsync(client.factHistory(token, fromHex(one)));
    expect(update).toMatchObject({ type: "update", value: "é", valueHex: "c3a9", oldValueHex: old });
    const [deletion] = await Array.fromAsync(client.factHistory(token, fromHex(two)));
    expect(deletion).toMatchObject({ type: "delete", value: null, valueHex: null, oldValueHex: gone });
  });

  it("are refused where they are not hexadecimal, with the member", async () => {
    const body = { key: "ab", oldValue: "00", newValue: "01" };
    for (const [member, text] of [["key", "a"], ["key", "zz"], ["oldValue", "0x00"], ["newValue", " "]] as const) {
      const { status, body: answer } = await post("update", "?encoding=hex", { ...body, [member]: text });
      expect([status, answer.code, answer.details[0]?.at]).toEqual([400, "bad_request", member]);
    }
    expect(await post("update", "?encoding=base64", body)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await http(arbor.tokens, "GET", `/token/${token}?encoding=digest`)).toMatchObject({ status: 400 });
    // without the parameter these are texts
    expect(await post("update", "", { ...body, key: "zz" })).toMatchObject({ status: 200 });
  });

  it("may be as large as a transaction carries", async () => {
    const { unsignedTransaction } =
      (await post("insert", "?encoding=hex", { key: "00", value: "ff".repeat(14_000) })).body;
    expect(unsignedTransaction).toEqual(expect.any(String));
    const answer = await post("insert", "?encoding=hex", { key: "00", value: "ff".repeat(17_000) });
    expect(answer).toMatchObject({ status: 422, body: { code: "too_large", details: { size: 17_001 } } });
  });
});
