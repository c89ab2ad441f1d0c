/**
 * A fact from its request to its proof: the module that the service serves to browsers fetches it and checks it against
 * the ledger's own token state, in a context with web globals only, and in a real browser if there is one.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { inBrowserContext } from "../../support/pages/browserModule.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { fund, http, land, User } from "../../support/service/user.ts";

const browser = await sharedBrowser();

const KEY = "a/b ?ключ";
/** The script in the context: fetches, checks, and has each of some false answers checked. */
const SCRIPT = `
  const { base, token, key, trusted } = input;
  const asking = new client.TokenClient(base);
  const question = (key) => ({ tokenId: token, key, trusted });
  const answer = await asking.fact(token, key);
  const absent = await asking.fact(token, "nothing");
  const { value, valueHex, ...hidden } = answer;
  const lies = [
    { ...answer, value: "lie", valueHex: client.toHex(client.utf8("lie")) },
    { ...hidden, included: false },
    { ...absent, included: true, value: "lie", valueHex: client.toHex(client.utf8("lie")) },
    { ...answer, proof: absent.proof },
    { ...answer, root: "00".repeat(32) },
  ];
  const told = ({ ok, value, error }) => ok ? { included: value.included, text: value.text } : error.code;
  return {
    there: told(client.verifyFact(answer, question(key))),
    absent: told(client.verifyFact(absent, question("nothing"))),
    lies: lies.map((lie) => told(client.verifyFact(lie, question(lie.key)))),
    refused: await asking.fact("00".repeat(32), key).catch((error) => error.code),
  };
`;
const EXPECTED = {
  there: { included: true, text: "значение" },
  absent: { included: false },
  lies: ["proof_fails", "proof_fails", "proof_fails", "proof_fails", "malformed"],
  refused: "token_unknown",
};

describe("the module for browsers", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  const owner = new User();
  let input: { base: string; token: string; key: string; trusted: unknown };
  let module: string;

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const carry = async (built: { status: number; body: { unsignedTransaction: string } }) => {
    expect([built.status, built.body]).toEqual([
      200,
      expect.objectContaining({ unsignedTransaction: expect.any(String) }),
    ]);
    return await land(arbor.tokens, owner.sign(built.body.unsignedTransaction));
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    await fund(arbor.devnet, arbor.tokens, owner);
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    await carry(boot);
    const token = boot.body.value as string;
    const requests: string[] = [];
    for (const [key, value] of [[KEY, "значение"], ["other", "value"], ["third", ""]]) {
      const path = `/transaction/${owner.address}/request-insert/${token}`;
      requests.push(`${await carry(await http(arbor.tokens, "POST", path, { key, value }))}-0`);
    }
    const query = requests.map((request) => `request=${request}`).join("&");
    await carry(await get(`/transaction/${owner.address}/update-token/${token}?${query}`));
    const state = (await get(`/token/${token}`)).body as { outputRefId: string };
    const verdict = (await get(`/token/${token}/facts/other`)).body as {
      stateOutput: { address: string; policyId: string };
    };
    input = {
      base: arbor.tokens,
      token,
      key: KEY,
      trusted: await fromLedger(token, verdict.stateOutput, state.outputRefId),
    };
    module = await (await fetch(`${arbor.tokens}/client.js`)).text();
  });
  afterAll(async () => {
    await browser?.close();
    await arbor?.end();
    await infra?.stop();
  });

  /** The state in the devnet's ledger, independent of the token service. */
  async function fromLedger(token: string, { address, policyId }: { address: string; policyId: string }, ref: string) {
    type Utxo = { txHash: string; index: number; assets: Record<string, number>; datum: string };
    let found: Utxo | undefined;
    await until("the state output in the ledger", async () => {
      const { utxos } = (await http(arbor.devnet, "GET", `/utxos/${address}`)).body as { utxos: Utxo[] };
      found = utxos.find(({ assets }) => assets[policyId + token] === 1);
      return found !== undefined && `${found.txHash}-${found.index}` === ref;
    });
    return { policyId, assetName: token, datum: found!.datum, outputRefId: ref };
  }

  it("checks the service's answers independently, with web globals only", async () => {
    expect(await inBrowserContext(module)(SCRIPT, input)).toEqual(EXPECTED);
  });

  it.skipIf(browser === undefined)("does so in a browser, from a page of another origin", async () => {
    const page = await browser!.newPage();
    await page.goto(`${arbor.devnet}/tip`, { timeout: 120_000 });
    // A text, because the test transform rewrites imports.
    const said = await page.evaluate(`import(${JSON.stringify(`${arbor.tokens}/client.js`)}).then(async (client) => {
      const input = ${JSON.stringify(input)};
      ${SCRIPT}
    })`);
    expect(said).toEqual(EXPECTED);
  });
});
