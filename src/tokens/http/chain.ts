/**
 * The chain over HTTP, for programs that build their own transactions: protocol parameters, outputs at one point with the
 * pending ones, execution units. The same on every provider.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/tokens/api/chain.ts";
import { readNewestToken } from "#src/tokens/pendingTokens.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { PLUTUS_LANGUAGES } from "#src/cardano/parameters.ts";
import { CborError, decodeAll } from "#src/cardano/cbor.ts";
import { parseRefKey, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import type { Point } from "#src/cardano/block.ts";
import { ensureWatched } from "#src/chain/index/watchedAddresses.ts";
import { readNamedOutputs, type SpendableOutput } from "#src/chain/pending/namedOutputs.ts";
import { atPoint, readAvailable } from "#src/chain/pending/spendable.ts";
import { cageScripts } from "#src/contract/script.ts";
import { referencedOutputs } from "#src/contract/summary/summarize.ts";
import type { Measurement, RedeemerFailure } from "#src/plutus/types.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { addEndpoint, PLAIN } from "#src/http/route.ts";
import { readSpentOutputs } from "#src/tokens/http/describe.ts";
import { building, timeHeader, timeOf, tokenGone, type TokenService } from "#src/tokens/http/service.ts";
import { answered, refusal } from "#src/tokens/http/status.ts";
import { refRow, refText } from "#src/tokens/http/view.ts";

const AWAY = "`network_unreachable`, `index_behind`, `overloaded`, `deadline`, `crashed`";

/** Adds `/chain/…`. */
export function chainRoutes(app: OpenAPIHono, service: TokenService): void {
  const { port, networkId, networkMagic } = service;

  building(service)(app, "get", "/chain/parameters", {
    summary: "The network and its protocol parameters, exactly",
    answer: api.chainParameters,
    refusals: { 503: "`network_unreachable`" },
  }, async () => {
    const [read, { slots, slotsAhead = 0 }] = await Promise.all([port.parameters(), port.network()]);
    const { point, value: { costModels, ...parameters } } = answered(read);
    return {
      network: { id: networkId, magic: networkMagic },
      slots: { ...slots, slotsAhead },
      at: pointView(point),
      parameters: {
        ...parameters,
        costModels: PLUTUS_LANGUAGES.flatMap((language, i) => {
          const costs = costModels.get(i);
          return costs ? [{ language, costs }] : [];
        }),
      },
    };
  });

  outputRoutes(app, service);
  evaluationRoute(app, service);
}

/** Outputs of an address, by reference, and of a token. */
function outputRoutes(app: OpenAPIHono, service: TokenService): void {
  const { store, port, networkId, wake } = service;
  const add = building(service);

  add(app, "get", "/chain/outputs/:address", {
    summary: "Outputs of an address that can be spent",
    description:
      "At one point: those of the ledger and those of pending transactions, without any that a pending transaction spends. At the first request " +
      "for an address the network is queried for its outputs; they are then followed until an hour without a request.",
    params: { address: api.anyAddress },
    query: api.outputsQuery,
    answer: api.chainOutputs,
    refusals: {
      400: "`bad_request`, `bad_address`",
      413: `\`too_many_outputs\`: more than ${api.MOST_OUTPUTS}; \`asset\` selects some`,
      503: AWAY,
    },
  }, async ({ params, query: { pending = true, asset }, context }) => {
    const address = answered(parseAddress(params.address, networkId));
    if (address.kind === "reward") {
      const message = "No output has a reward address.";
      throw refusal({ code: "bad_address", message, details: { reason: "kind" } });
    }
    answered(await ensureWatched(store, [address.hex], wake, Date.now() + timeOf(context)));
    const { at, value } = await atPoint(store, (sql) => readAvailable(sql, address.hex));
    const wanted = value.filter((one) =>
      (pending || !one.pending) && (asset === undefined || one.utxo.output.value.assets.has(asset))
    );
    if (wanted.length > api.MOST_OUTPUTS) {
      const message = `The address has ${wanted.length} outputs, more than one answer holds.`;
      throw new HttpFailure(413, "too_many_outputs", message, { outputs: wanted.length, most: api.MOST_OUTPUTS });
    }
    return { at: pointView(at), outputs: wanted.map(({ utxo, pending }) => outputView({ ...utxo, pending })) };
  });

  add(app, "post", "/chain/outputs", {
    summary: "Outputs by reference that can be spent",
    description:
      "Those of the named ones that are unspent on the ledger or made by a pending transaction, and that no pending transaction spends. Others are left out.",
    body: api.outputsBody,
    answer: api.chainOutputs,
    refusals: { 503: AWAY },
  }, async ({ body: { outputRefs } }) => {
    const refs = [...new Set(outputRefs)].map((text) => parseRefKey(refRow(text)));
    const { point, value } = answered(await readNamedOutputs(store, port, refs));
    return { at: pointView(point), outputs: value.map(outputView) };
  });

  add(app, "get", "/chain/assets/:asset", {
    summary: "The output that holds a token of this service",
    description:
      "The token's state output, after pending transactions. The index has outputs by address: where another asset is, it cannot know.",
    params: { asset: api.assetParam },
    answer: api.chainOutputs,
    refusals: {
      404:
        "`token_unknown`, `token_ended`; `asset_not_indexed`: no token of the contract; name an address that holds it",
    },
  }, async ({ params: { asset } }) => {
    if (!cageScripts.some(({ hash }) => hash === policyOf(asset))) {
      throw new HttpFailure(
        404,
        "asset_not_indexed",
        "Outputs are indexed by address, and by asset only for tokens of this service: ask for the outputs of an address with this asset.",
      );
    }
    const token = nameOf(asset);
    const { at, value: { after, chain } } = await atPoint(store, (sql) => readNewestToken(sql, token, networkId));
    if (!("state" in after)) throw tokenGone(token, after.status);
    const { utxo } = after.state;
    const pending = chain.includes(utxo.ref.txHash);
    return { at: pointView(at), outputs: [outputView({ ...utxo, pending })] };
  });
}

/** The units that the scripts of a transaction take. */
function evaluationRoute(app: OpenAPIHono, service: TokenService): void {
  const { port, builders } = service;

  addEndpoint({ ...PLAIN, limits: { bytes: api.EVALUATE_BYTES } }, app, "post", "/chain/evaluate", {
    summary: "Measure the scripts of a transaction",
    description:
      "Each redeemer by itself. Outputs that the transaction refers to are those that this service or the network knows, and the additional ones.",
    body: api.evaluateBody,
    headers: timeHeader,
    answer: api.evaluated,
    refusals: {
      400: "`bad_request`, `malformed_json`, `undecodable`",
      422:
        "`script_refused`: `details.redeemers` has a reason for each; `not_evaluated`: an output is unknown, or no script can see the transaction",
      503: AWAY,
    },
  }, ({ body, context }) =>
    service.limited(context, async () => {
      const deadline = Date.now() + timeOf(context);
      const transaction = fromHex(body.transaction);
      const refs = answered(referencedOutputs(transaction));
      const additional = answered(readAdditional(body.additionalOutputs));
      const [known, read, { slots }] = await Promise.all([
        readSpentOutputs(service, refs, deadline),
        port.parameters(),
        port.network(),
      ]);
      const { inputs, references } = scanTransaction(transaction);
      const resolved = new Set([...known.keys(), ...additional.map(({ ref }) => refKey(ref))]);
      const missing = [...inputs, ...references].filter((ref) => !resolved.has(refKey(ref))).map(refText);
      if (missing.length > 0) {
        const message = `Outputs that the transaction refers to are not known here: ${missing.join(", ")}.`;
        throw refusal({ code: "not_evaluated", message, details: { missing } });
      }
      const utxos = [...known].map(([key, output]) => ({ ref: parseRefKey(key), output }));
      const { value: parameters } = answered(read);
      // of two outputs with one reference the later counts
      const input = { transaction, utxos: [...additional, ...utxos], parameters, slots };
      return { redeemers: answered(measured(answered(await builders.run("measure", input, { deadline })))) };
    }));
}

const pointView = ({ slot, hash }: Point) => ({ slot, hash });

const outputView = ({ ref, output, pending }: SpendableOutput) => ({
  outputRef: refText(ref),
  cbor: toHex(output.raw),
  pending,
});

/** The outputs of a request. */
function readAdditional(
  given: z.output<typeof api.evaluateBody>["additionalOutputs"],
): Result<Utxo[], Failure<"undecodable">> {
  try {
    return ok(given.map(({ outputRef, cbor }) => ({
      ref: parseRefKey(refRow(outputRef)),
      output: readOutput(decodeAll(fromHex(cbor))),
    })));
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `An additional output is not one: ${error.message}.`);
  }
}

/** Units of all redeemers; a refusal where one has none. */
function measured(measurement: Measurement) {
  if (!measurement.ok) {
    return measurement.kind === "undecodable"
      ? fail("undecodable", measurement.message)
      : fail("not_evaluated", `No script can see the transaction: ${measurement.reason}, ${measurement.about}.`);
  }
  const failed = measurement.redeemers.flatMap(({ purpose, index, result }) =>
    result.ok ? [] : [{ purpose, index, ...result.error, message: messageOf(result.error) }]
  );
  const [first] = failed;
  if (first) {
    const message = `The script for ${first.purpose} ${first.index}: ${first.message}.`;
    return fail("script_refused", message, { redeemers: failed });
  }
  return ok(
    measurement.redeemers.flatMap(({ purpose, index, result }) =>
      result.ok ? [{ purpose, index, ...result.value }] : []
    ),
  );
}

function messageOf(failure: RedeemerFailure): string {
  switch (failure.kind) {
    case "no_target":
      return "it points to nothing that a Plutus script has to agree to";
    case "no_script":
      return `the script ${failure.script} is neither in the transaction nor in an output that it refers to`;
    case "no_datum":
      return `the datum ${failure.datum} is not in the transaction`;
    case "no_cost_model":
      return `the network has no cost model for Plutus V${failure.language}`;
    case "failed":
      return failure.message;
  }
}
