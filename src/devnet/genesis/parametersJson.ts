/**
 * Protocol parameters as JSON, as the devnet stores and shows them. Amounts are JSON numbers, cost models go by name.
 */
import { isObject, type Json, messaged } from "#src/base/json.ts";
import { elementAt } from "#src/base/present.ts";
import { type Parameters, PLUTUS_LANGUAGES } from "#src/cardano/parameters.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";

/** The JSON of parameters, to be written with `toJson`. */
export function parametersToJson(parameters: Parameters): Json {
  const models = [...parameters.costModels].map(([language, costs]) =>
    [elementAt(PLUTUS_LANGUAGES, language), costs] as const
  );
  return messaged({ ...parameters, costModels: Object.fromEntries(models) });
}

/** JSON in the form of `like`: a `bigint` that JSON made a `number` is one again, and what JSON lacks is as in `like`. */
function inFormOf<T>(like: T, json: Json | undefined): T;
function inFormOf(like: unknown, json: Json | undefined): unknown {
  if (json === undefined) return like;
  if (typeof like === "bigint") return exactOf(json);
  if (typeof like !== "object" || like === null) return json;
  if (!isObject(json)) throw new TypeError("a protocol parameter is not an object");
  return Object.fromEntries(Object.entries(like).map(([name, value]) => [name, inFormOf(value, json[name])]));
}

function exactOf(json: Json): bigint {
  if (typeof json !== "number" && typeof json !== "bigint") throw new TypeError("a protocol parameter is not a number");
  return BigInt(json);
}

/**
 * Decodes the JSON of `parametersToJson`; what it lacks is as in `like`. JSON from before there were rewards lacks their parameters;
 * mainnet's apply. Parameters of governance are in the result where the JSON or `like` has them.
 *
 * @throws {TypeError} if it is not the JSON of parameters
 */
export function parametersFromJson(json: Json, like: Parameters = mainnetParameters): Parameters {
  const { costModels: usual, protocolVersion, ...others } = like;
  if (!isObject(json)) throw new TypeError("protocol parameters are not an object");
  const { costModels, ...rest } = json;
  const governance = Object.entries(protocolParameters(like)).filter(([name]) =>
    !(name in like) && rest[name] !== undefined
  );
  return {
    ...inFormOf({ protocolVersion, ...others, ...Object.fromEntries(governance) }, rest),
    costModels: costModels === undefined ? usual : costModelsFromJson(costModels),
  };
}

function costModelsFromJson(json: Json): Parameters["costModels"] {
  if (!isObject(json)) throw new TypeError("cost models are not an object");
  return new Map(
    Object.entries(json).map(([name, costs]) => {
      if (!Array.isArray(costs)) throw new TypeError(`the cost model of ${name} is not a list`);
      return [PLUTUS_LANGUAGES.findIndex((one) => one === name), costs.map(exactOf)];
    }),
  );
}
