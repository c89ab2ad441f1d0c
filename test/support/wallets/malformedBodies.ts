/** Sends a service bodies that other wallet servers refuse. */
import { readFileSync } from "node:fs";
import { vectors } from "../base/vectors.ts";

interface Case {
  readonly type: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly message: string;
  readonly endpoints: readonly string[];
}

const content = JSON.parse(readFileSync(vectors("wallet-malformed-bodies.json"), "utf8"));
const cases: readonly Case[] = content.cases;

/** Path parameters with invalid values, and the error message for each. */
export const malformedParams: Readonly<Record<string, { readonly bad: readonly string[]; readonly message: string }>> =
  content.pathParams;

/** Values that path parameters may have. */
export const PATH_VALUES: Readonly<Record<string, string>> = {
  walletId: "2512a00e9653fe49a44a5886202e24d77eeb998f",
  poolId: "pool1wqaz0q0zhtxlgn0ewssevn2mrtm30fgh2g7hr7z9rj5856457mm",
  stakePoolId: "pool1wqaz0q0zhtxlgn0ewssevn2mrtm30fgh2g7hr7z9rj5856457mm",
  drepId: "drep1ygqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq7vlc9n",
  role: "utxo_external",
  index: "0H",
  transactionId: "0".repeat(64),
  policyId: "0".repeat(56),
  assetName: "00",
  addressId: "addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz",
};

/** A path with its parameters filled in, after a service's prefix. */
export const filled = (path: string, values = PATH_VALUES): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name]!));

/** `$`, `$.name`, `$['address_pool_gap']`: the position that a message names. */
const placeOf = (message: string) => /^Error in (\$[^:]*):/.exec(message)?.[1];

function requestOf({ type, body, raw, endpoints }: Case) {
  // one case is part of another body
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

export interface MalformedAnswer {
  /** Method, path, body and answer, for debugging. */
  readonly where: string;
  readonly status: number;
  readonly code: unknown;
  readonly message: unknown;
}

/**
 * Sends each body to every endpoint that accepts its type; returns the answers, the number of messages that name a
 * position in the body, and the number that name the same one as the other servers.
 * @throws Error if one of the endpoints is not served
 */
export async function putMalformed(
  served: ReadonlySet<string>,
  send: (path: string, init: RequestInit) => Response | Promise<Response>,
) {
  const answers: MalformedAnswer[] = [];
  let places = 0;
  let samePlace = 0;
  for (const one of cases) {
    const { text, targets } = requestOf(one);
    for (const target of targets) {
      if (!served.has(target)) throw new Error(`no service has ${target}`);
      const [method, path] = target.split(" ");
      const binary = one.type.includes("SealedTx");
      const response = await send(`/v2${filled(path!)}`, {
        method: method!,
        headers: { "content-type": binary ? "application/octet-stream" : "application/json" },
        body: binary ? Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16)) : text,
      });
      const { code, message } = await response.json();
      const where = `${target} ${text.slice(0, 200)}: ${code} ${message}`;
      answers.push({ where, status: response.status, code, message });
      const place = placeOf(one.message);
      if (place === undefined || one.type === "ApiSlotReference") continue;
      places++;
      if (placeOf(String(message)) === place) samePlace++;
    }
  }
  return { answers, places, samePlace };
}
