import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { languageViews, scriptDataHash } from "#src/cardano/integrity.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";

const zeros = (count: number): readonly bigint[] => Array.from({ length: count }, () => 0n);

describe("languageViews", () => {
  it("wraps Plutus V1 twice, as the ledger's CDDL shows for the all-zero model", () => {
    const views = toHex(languageViews(new Map([[0, zeros(166)]]), [0]));
    expect(views).toBe("a1" + "4100" + "58a8" + "9f" + "00".repeat(166) + "ff");
  });

  it("encodes Plutus V2 plainly, as the CDDL shows for the all-zero model", () => {
    const views = toHex(languageViews(new Map([[1, zeros(175)]]), [1]));
    expect(views).toBe("a1" + "01" + "98af" + "00".repeat(175));
  });

  it("puts Plutus V1 last, because its key is longer", () => {
    const models = new Map([[0, [1n]], [1, [2n]], [2, [-900n]]]);
    expect(toHex(languageViews(models, [0, 1, 2, 1]))).toBe("a3" + "018102" + "02813903" + "83" + "4100" + "439f01ff");
  });

  it("has null for a language without a cost model", () => {
    expect(toHex(languageViews(new Map(), [2]))).toBe("a102f6");
    expect(toHex(languageViews(new Map(), [0]))).toBe("a1" + "4100" + "41f6");
  });
});

describe.each([9, 10, 11] as const)("cost models of version %i", (major) => {
  it.each([[[0]], [[1]], [[2]], [[0, 1, 2]]])(
    "of languages %j are hashed as another library hashes them",
    (languages) => {
      const parameters = mainnetParametersAt(major);
      const models = csl.Costmdls.new();
      const names = [csl.Language.new_plutus_v1(), csl.Language.new_plutus_v2(), csl.Language.new_plutus_v3()];
      for (const language of languages) {
        const model = csl.CostModel.new();
        parameters.costModels.get(language)!.forEach((cost, index) => model.set(index, csl.Int.from_str(String(cost))));
        models.insert(names[language]!, model);
      }
      const redeemers = "a182000082d87980821903e81903e8";
      const theirs = csl.hash_script_data(csl.Redeemers.from_hex(redeemers), models).to_hex();
      expect(scriptDataHash({ redeemers: fromHex(redeemers), languages, parameters })).toBe(theirs);
    },
  );
});

describe("scriptDataHash", () => {
  const parameters = { costModels: new Map([[2, [7n]]]) };

  it("is absent if there is nothing to hash", () => {
    expect(scriptDataHash({ languages: [], parameters })).toBeUndefined();
  });

  it("is over an empty map of redeemers, the datums and an empty map of views for datums alone", () => {
    const datums = fromHex("811864");
    expect(scriptDataHash({ datums, languages: [], parameters })).toBe(hash256(fromHex("a0" + "811864" + "a0")));
  });

  it("is over the bytes of the witness set and the views of the languages", () => {
    const redeemers = fromHex("a182000082d87980821903e81903e8");
    expect(scriptDataHash({ redeemers, languages: [2], parameters })).toBe(
      hash256(fromHex(toHex(redeemers) + "a1028107")),
    );
  });
});
