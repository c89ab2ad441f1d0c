/** Transactions with content to test indexers with, as Yaci DevKit makes them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { fromHex } from "#src/base/bytes.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { referenceScriptHash } from "#src/cardano/conway/script.ts";
import { encodeData } from "#src/cardano/data.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import * as api from "#src/devnet/api/devnetAdmin.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { minLovelace } from "#src/devnet/faucet/payment.ts";
import { BAD_ORIGIN } from "#src/devnet/serve/admin/origins.ts";
import { untilInBlock } from "#src/devnet/serve/admin/untilInBlock.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";
import { endpoint } from "#src/http/route.ts";

/** The script of Yaci DevKit's test data, of Plutus V2, as in an output. */
const SCRIPT = encode([2, fromHex("480100002221200101")]);
/** Its datum, CBOR of the integer 1000. */
const DATUM = encodeData(1_000n);
const ADA = 1_000_000n;

const answered = answeredBy(refusalOf({
  amount_too_small: 400,
  amount_too_large: 400,
  faucet_empty: 503,
  mempool_full: 503,
  devnet_unavailable: 503,
}));

export interface TestDataOptions {
  readonly devnet: Devnet;
  readonly port: Pick<ChainPort, "inMempool">;
  /** How long an answer waits for its block, in ms. */
  readonly topupMs?: number;
}

/** Adds the endpoint. */
export function testDataRoutes(app: OpenAPIHono, { devnet, port, topupMs = 10_000 }: TestDataOptions): void {
  const script = referenceScriptHash(SCRIPT);
  const address = scriptAddress(devnet.network.id, script).hex;
  endpoint(app, "post", "/local-cluster/api/test-data", {
    summary:
      "Put a reference script, or an output with an inline datum, on the chain, like Yaci DevKit; gives its hash",
    body: api.testDataBody,
    answer: api.text,
    produces: "text/plain",
    refusals: { 400: "`bad_request`", 403: BAD_ORIGIN, 503: "`faucet_empty`, `mempool_full`, `devnet_unavailable`" },
  }, async ({ body: { type }, context }) => {
    const isScript = type === "REFERENCE_INPUT_GEN_TRANSACTION";
    const attached = isScript ? { script: SCRIPT } : { datum: DATUM };
    const least = minLovelace(devnet.genesis.parameters, { address, ...attached });
    const { txHash } = answered(await devnet.faucet.pay(address, least > ADA ? least : ADA, attached));
    if (devnet.blockMs > 0) await untilInBlock(port, txHash, topupMs);
    return context.text(isScript ? script : hash256(DATUM));
  });
}
