/** Bodies that wallet servers of the field refuse: each is refused here by every endpoint that takes its type. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { edgeAlone, servedBy } from "../../support/wallet_edge.ts";
import { vectors } from "../../support/vectors.ts";

interface Case {
  readonly type: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly message: string;
  readonly endpoints: readonly string[];
}

const file = vectors("wallet-malformed-bodies.json");
const cases: readonly Case[] = file ? JSON.parse(readFileSync(file, "utf8")).cases : [];

const VALUES: Readonly<Record<string, string>> = {
  walletId: "2512a00e9653fe49a44a5886202e24d77eeb998f",
  poolId: "pool1wqaz0q0zhtxlgn0ewssevn2mrtm30fgh2g7hr7z9rj5856457mm",
  stakePoolId: "pool1wqaz0q0zhtxlgn0ewssevn2mrtm30fgh2g7hr7z9rj5856457mm",
  drepId: "abstain",
  role: "utxo_external",
  index: "0H",
};

/** `$`, `$.name`, `$['address_pool_gap']`: the place that a message names. */
const placeOf = (message: string) => /^Error in (\$[^:]*):/.exec(message)?.[1];

function requestOf({ type, body, raw, endpoints }: Case) {
  // one case is a part of another body
  if (type === "ApiSlotReference") {
    const mode = raw ?? JSON.stringify(body);
    const whole = `{"name":"a","account_public_key":"${"0".repeat(128)}","restoration_mode":${mode}}`;
    return { text: whole, targets: ["POST /wallets"] };
  }
  const targets = endpoints.map((one) =>
    one.replace("/v2", "").replace(/ \(.*/, "").replace("{poolId}", "{stakePoolId}")
  );
  return { text: raw ?? JSON.stringify(body), targets };
}

describe.skipIf(cases.length === 0)("a malformed body", async () => {
  const app = edgeAlone();
  const served = await servedBy(app);

  test("is refused by every endpoint of its type, with its place, and reaches nothing behind", async () => {
    let sent = 0;
    let samePlace = 0;
    let places = 0;
    for (const one of cases) {
      const { text, targets } = requestOf(one);
      for (const target of targets) {
        expect(served, target).toContain(target);
        const [method, path] = target.split(" ");
        const filled = path!.replace(/\{(\w+)\}/g, (_, name: string) => VALUES[name]!);
        const type = one.type.includes("SealedTx") ? "application/octet-stream" : "application/json";
        const body = one.type.includes("SealedTx")
          ? Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16))
          : text;
        const response = await app.request(`/v2${filled}`, {
          method: method!,
          headers: { "content-type": type },
          body,
        });
        const answer = await response.json();
        const where = `${target} ${text.slice(0, 200)}: ${JSON.stringify(answer)}`;
        expect([response.status, answer.code], where).toEqual([400, "bad_request"]);
        sent++;
        const place = placeOf(one.message);
        if (place === undefined || one.type === "ApiSlotReference") continue;
        places++;
        if (placeOf(answer.message) === place) samePlace++;
      }
    }
    expect(sent).toBeGreaterThan(150);
    // where servers of the field say that something is wrong with all of a body, a part of it is named here
    expect(places - samePlace).toBeLessThanOrEqual(12);
  });
});
