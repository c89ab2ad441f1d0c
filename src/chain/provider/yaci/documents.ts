/** The documents of Yaci Store's own API that are not those of Blockfrost, as far as they are used. */
import { z } from "zod";
import { PLUTUS_LANGUAGES } from "#src/cardano/parameters.ts";
import { costModelNames } from "#src/plutus/costModelNames.ts";
import { count, hash, parametersDocument, whole } from "#src/chain/provider/blockfrost/documents.ts";

/** An account, with what the store's node says; amounts are numbers. */
export const stakeAccount = z.object({
  withdrawable_amount: whole.nullish(),
  pool_id: z.string().max(200).nullish(),
});

/** A transaction: the height of its block. */
export const transactionDetails = z.object({ hash, block_height: count });

/** Outputs, spent or not. */
export const outputsByKey = z.array(
  z.object({ tx_hash: hash, output_index: count, owner_addr: z.string().max(1_000).nullish() }),
);

/**
 * The costs of a model in the ledger's order. The store names them as the ledger does, or numbers them ("000"); the
 * order of the document's members is that of a database. Undefined if a name is unknown.
 */
function orderedCosts(language: number, model: Readonly<Record<string, bigint>>): bigint[] | undefined {
  const names = costModelNames(language);
  const places = Object.entries(model).map(([name, cost]) =>
    [/^\d+$/.test(name) ? Number(name) : names.indexOf(name), cost] as const
  );
  places.sort(([a], [b]) => a - b);
  return places.every(([place], i) => place === i) ? places.map(([, cost]) => cost) : undefined;
}

/** Parameters: the cost models as lists, or by the names of the parameters where a store has no lists. */
export const yaciParameters = parametersDocument.omit({ cost_models_raw: true }).extend({
  cost_models_raw: z.record(z.string(), z.array(whole)).nullish(),
  cost_models: z.record(z.string(), z.record(z.string(), whole)).nullish(),
}).transform(({ cost_models, cost_models_raw, ...rest }, context) => {
  if (cost_models_raw) return { ...rest, cost_models_raw };
  const models: Record<string, bigint[]> = {};
  for (const [language, name] of PLUTUS_LANGUAGES.entries()) {
    const model = cost_models?.[name];
    if (!model) continue;
    const costs = orderedCosts(language, model);
    if (!costs) {
      context.addIssue({ code: "custom", message: `the cost model of ${name} has unknown parameters` });
      return z.NEVER;
    }
    models[name] = costs;
  }
  if (Object.keys(models).length > 0) return { ...rest, cost_models_raw: models };
  context.addIssue({ code: "custom", message: "there are no cost models" });
  return z.NEVER;
});
