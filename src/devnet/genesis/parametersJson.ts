/**
 * Protocol parameters as JSON, as the devnet stores and shows them. Amounts are JSON numbers, cost models go by name.
 */
import type { Json } from "#src/base/json.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";

/** Names of Plutus languages, by their numbers in cost models. */
export const LANGUAGES = ["PlutusV1", "PlutusV2", "PlutusV3"];

/** The JSON of parameters, to be written with `toJson`. */
export function parametersToJson(parameters: Parameters): Json {
  const models = [...parameters.costModels].map(([language, costs]) => [LANGUAGES[language]!, [...costs]] as const);
  return { ...parameters, costModels: Object.fromEntries(models) } as unknown as Json;
}

/** JSON in the form of `like`: a `bigint` that JSON made a `number` is one again, and what JSON lacks is as in `like`. */
function inFormOf<T>(like: T, json: unknown): T;
function inFormOf(like: unknown, json: unknown): unknown {
  if (json === undefined) return like;
  if (typeof like === "bigint") return BigInt(json as number | bigint);
  if (typeof like !== "object" || like === null) return json;
  return Object.fromEntries(
    Object.entries(like).map(([name, value]) => [name, inFormOf(value, (json as Record<string, unknown>)[name])]),
  );
}

/** Decodes the JSON of `parametersToJson`. JSON from before there were rewards lacks their parameters; mainnet's apply. */
export function parametersFromJson(json: Json): Parameters {
  const { costModels, ...rest } = json as unknown as {
    readonly costModels: Readonly<Record<string, readonly (number | bigint)[]>>;
  };
  const { costModels: _, protocolVersion, ...like } = mainnetParameters;
  return {
    ...inFormOf({ protocolVersion, ...like }, rest),
    costModels: new Map(
      Object.entries(costModels).map(([name, costs]) => [LANGUAGES.indexOf(name), costs.map(BigInt)]),
    ),
  };
}
