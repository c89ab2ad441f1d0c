import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { CborError, decode, type Encodable, encode } from "#src/cardano/cbor.ts";
import type { FailureName, LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure, failureNames } from "#src/cardano/failureText.ts";
import { readOutput } from "#src/cardano/output.ts";
import { decodeRejection, encodeRejection } from "#src/node/rejections/rejections.ts";
import { account, captured, examples, hash, hash32, key, output, ref } from "../../../support/ledger/failures.ts";
import { vectors } from "../../../support/base/vectors.ts";

const captures = vectors("blocks/captures");
describe("218 rejections of a Conway node", () => {
  it("are decoded to names, and encoded to the same bytes", () => {
    const names = new Map<string, number>();
    const different: string[] = [];
    for (const { name, cbor } of captured) {
      const failures = decodeRejection(fromHex(cbor));
      for (const failure of failures) {
        names.set(failure.name, (names.get(failure.name) ?? 0) + 1);
        expect(describeFailure(failure), `${name}: ${failure.name}`).not.toMatch(/undefined|\[object/);
      }
      if (toHex(encodeRejection(failures)) !== cbor) different.push(name);
    }
    const total = [...names.values()].reduce((a, b) => a + b, 0);
    console.info(`reject reasons: ${captured.length} with ${total} failures of ${names.size} kinds`);
    expect([captured.length, total, names.size]).toEqual([218, 352, 74]);
    for (const unknown of ["UnknownFailure", "EarlierEraFailure", "EraMismatch"]) {
      expect(names.has(unknown)).toBe(false);
    }
    // random data: the transaction is flagged valid and passes, or invalid and fails, which no ledger refuses
    expect(different).toEqual(["test_cbor_214", "test_cbor_179"]);
  });
});

describe("a node's own encodings of refusals (versions 16 to 23)", () => {
  it("are decoded to names in every era", () => {
    const expected: Readonly<Record<string, LedgerFailure["name"]>> = {
      Conway: "DelegateeStakePoolNotRegisteredDELEG",
      Dijkstra: "UnknownFailure",
      WrongEraByron: "EraMismatch",
      WrongEraShelley: "EraMismatch",
    };
    let count = 0;
    for (const query of readdirSync(`${captures}/ntc-golden`)) {
      for (const version of readdirSync(`${captures}/ntc-golden/${query}`)) {
        const folder = `${captures}/ntc-golden/${query}/${version}`;
        for (const file of readdirSync(folder).filter((name) => name.startsWith("ApplyTxErr_"))) {
          const bytes = new Uint8Array(readFileSync(`${folder}/${file}`));
          const era = file.replace("ApplyTxErr_", "");
          const [failure, ...more] = decodeRejection(bytes);
          expect(more).toEqual([]);
          expect(failure!.name, file).toBe(expected[era] ?? "EarlierEraFailure");
          if (failure!.name === "EarlierEraFailure") {
            expect(failure).toMatchObject({
              era,
              failure: era === "Byron" ? "ApplyMempoolPayloadErr" : "DelegateeNotRegisteredDELEG",
            });
          } else if (failure!.name !== "UnknownFailure") expect(encodeRejection([failure!]), file).toEqual(bytes);
          count++;
        }
      }
    }
    expect(count).toBe(80);
  });
});

describe("encodeRejection", () => {
  const corpus = [...captured.flatMap(({ cbor }) => decodeRejection(fromHex(cbor))), ...examples];

  it("encodes what decodeRejection decodes", () => {
    expect(examples.map((each) => decodeRejection(encodeRejection([each]))[0])).toEqual(examples);
    fc.assert(
      fc.property(fc.subarray(corpus, { maxLength: 6 }), (failures) => {
        expect(decodeRejection(encodeRejection(failures))).toEqual(failures);
      }),
      { numRuns: 300 },
    );
  });

  it("has a form for every failure of the Conway rules", () => {
    if (captured.length === 0) return;
    const kinds = new Set<FailureName>(corpus.map(({ name }) => name));
    expect(failureNames.filter((name) => !kinds.has(name)).sort())
      .toEqual(["DeserialiseFailure", "EarlierEraFailure", "EraMismatch", "UnknownFailure"]);
  });

  it("encodes an era mismatch as a node does", () => {
    const mismatch: LedgerFailure = { name: "EraMismatch", transaction: "Conway", ledger: "Babbage" };
    const bytes = encodeRejection([mismatch]);
    expect(decode(bytes)).toEqual(decode(encode([[6, "Conway"], [5, "Babbage"]])));
    expect(decodeRejection(bytes)).toEqual([mismatch]);
    expect(describeFailure(mismatch))
      .toBe("The transaction is for the era Conway, and the ledger is in the era Babbage.");
  });

  it("encodes accounts one by one where the ledger does", () => {
    const accounts = [account, "e0" + "0d".repeat(28)];
    expect(decodeRejection(encodeRejection([{ name: "ProposalReturnAccountDoesNotExist", accounts }])))
      .toEqual(accounts.map((each) => ({ name: "ProposalReturnAccountDoesNotExist", accounts: [each] })));
  });

  it("falls back to a text for what it cannot encode as a node would", () => {
    const untold: LedgerFailure[] = [
      { name: "DeserialiseFailure", message: "These bytes are no transaction." },
      { name: "BabbageOutputTooSmallUTxO", outputs: [{ index: 0, supplied: 1n, expected: 2n }] },
      { name: "CollectErrors", errors: [{ kind: "BadTranslation", language: 1, reason: "InlineDatumsNotSupported" }] },
      { name: "ZeroTreasuryWithdrawals" },
      { name: "VotersDoNotExist", voters: [key] },
      { name: "ExpirationEpochTooSmall", members: [key] },
      { name: "ScriptsNotPaidUTxO", inputs: [ref] },
      { name: "MalformedProposal", reason: "it is empty" },
    ];
    expect(decodeRejection(encodeRejection(untold)))
      .toEqual(untold.map((each) => ({ name: "ConwayMempoolFailure", message: describeFailure(each) })));
  });

  it("encodes the parts that failures name by index, and decodes the indices", () => {
    const certificate = [0, [0, fromHex(hash)]];
    const proposal = [1n, fromHex(account), [6], ["", fromHex(hash32)]];
    const raw = (count: number): Encodable => [fromHex("60" + hash), count];
    const transaction = encode([
      new Map<number, Encodable>([
        [0, [[fromHex(hash32), 300], [fromHex(hash32), 2]]],
        [1, [raw(1), raw(2)]],
        [2, 0],
        [4, [certificate]],
        [5, new Map([[fromHex(account), 1]])],
        [9, new Map([[fromHex(hash), new Map([[fromHex(""), 1]])]])],
        [16, raw(3)],
        [19, new Map([[[2, fromHex(hash)], new Map()], [[3, fromHex(hash)], new Map()]])],
        [20, [proposal]],
      ]),
      new Map(),
      true,
      null,
    ]);
    const script = "0d".repeat(28);
    const failures: LedgerFailure[] = [
      {
        name: "BabbageOutputTooSmallUTxO",
        outputs: [{ index: 1, supplied: 2n, expected: 9n }, { index: 2, supplied: 3n, expected: 9n }],
      },
      { name: "OutputTooBigUTxO", outputs: [{ index: 0, supplied: 9_000, expected: 5_000 }] },
      { name: "OutputBootAddrAttrsTooBig", outputs: [{ index: 1 }] },
      {
        name: "MissingRedeemers",
        redeemers: (["spend", "mint", "cert", "reward", "vote", "propose"] as const)
          .map((purpose) => ({ purpose, index: purpose === "spend" || purpose === "vote" ? 1 : 0, script })),
      },
    ];
    const bytes = encodeRejection(failures, { transaction });
    const read = decodeRejection(bytes, transaction);
    expect(read).toMatchObject(failures);
    const [, , , missing] = read;
    // the second input and the second voter in the ledger's order: index 300 after 2, keys after scripts
    expect(missing).toMatchObject({
      redeemers: [
        { item: toHex(encode([fromHex(hash32), 300])) },
        {},
        { item: toHex(encode(certificate)) },
        {},
        { item: toHex(encode([2, fromHex(hash)])) },
        { item: toHex(encode(proposal)) },
      ],
    });
    expect(decodeRejection(bytes)[0]).toMatchObject({ outputs: [{ supplied: 2n }, { supplied: 3n }] });
    const paid: LedgerFailure = { name: "ScriptsNotPaidUTxO", inputs: [ref] };
    const spends = () => readOutput(decode(fromHex(output)));
    expect(decodeRejection(encodeRejection([paid], { spends }))).toEqual([{ ...paid, outputs: [output] }]);
    expect(encodeRejection([paid], { transaction: Uint8Array.of(1) })).toEqual(encodeRejection([paid]));
  });
});

describe("decodeRejection", () => {
  it("keeps the bytes of unknown failures, and of those with other data", () => {
    const rejection = (...failures: string[]) =>
      fromHex("818206" + (0x80 + failures.length).toString(16) + failures.join(""));
    const cases: [string, string][] = [
      ["82182a01", "LEDGER"],
      ["82018218ff80", "UTXOW"],
      ["8201820082182a01", "UTXO"],
      ["8202820182018209f6", "DELEG"],
      ["8201820082026161", "UTXO"],
      ["820382184000", "GOV"],
      ["05", "LEDGER"],
    ];
    for (const [cbor, rule] of cases) {
      const [failure] = decodeRejection(rejection(cbor));
      expect(failure, cbor).toMatchObject({ name: "UnknownFailure", rule });
      expect(cbor.endsWith((failure as { cbor: string }).cbor)).toBe(true);
    }
    expect(decodeRejection(rejection(...cases.map(([cbor]) => cbor)))).toHaveLength(cases.length);
  });

  it("decodes a plain text as the mempool's failure", () => {
    expect(decodeRejection(encode("bad input(s)"))).toEqual([{
      name: "ConwayMempoolFailure",
      message: "bad input(s)",
    }]);
  });

  it("names the failures of earlier eras, also with older nodes' numbers", () => {
    const of = (era: number, failure: Parameters<typeof encode>[0]) => decodeRejection(encode([[era, [failure]]]))[0];
    const bytes = fromHex(hash);
    expect(of(5, [0, [1, [0, [1, [bytes]]]]])).toMatchObject({ era: "Babbage", failure: "MissingVKeyWitnessesUTXOW" });
    expect(of(5, [0, [2, [1, [7, [0, true, [0]]]]]])).toMatchObject({ failure: "ValidationTagMismatch" });
    expect(of(4, [0, [0, [4, [4, 5, 6]]]])).toMatchObject({ era: "Alonzo", failure: "FeeTooSmallUTxO" });
    expect(of(1, [0, [4, [1, 5, 6]]])).toMatchObject({ era: "Shelley", failure: "ExpiredUTxO" });
    expect(of(2, [0, [4, [1, [[], []], 6]]])).toMatchObject({ era: "Allegra", failure: "OutsideValidityIntervalUTxO" });
    expect(of(3, [1, [1, new Map([[bytes, 1]])]])).toMatchObject({ failure: "WithdrawalsNotInRewardsDELEGS" });
    expect(of(3, [1, [2, [0, [0, bytes]]]])).toMatchObject({ failure: "StakePoolNotRegisteredOnKeyPOOL" });
    expect(of(4, [0, [0, [99]]])).toMatchObject({ name: "UnknownFailure", rule: "LEDGER of Alonzo" });
  });

  it("refuses other bytes with a CborError, and nothing else", () => {
    const bend = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) });
    const sources = captured.length > 0 ? captured.map(({ cbor }) => fromHex(cbor)) : [encodeRejection(examples)];
    const counts = { read: 0, refused: 0 };
    const tryIt = (bytes: Uint8Array) => {
      try {
        for (const failure of decodeRejection(bytes)) describeFailure(failure);
        counts.read++;
      } catch (error) {
        if (!(error instanceof CborError)) throw error;
        counts.refused++;
      }
    };
    fc.assert(
      fc.property(fc.constantFrom(...sources), fc.array(bend, { minLength: 1, maxLength: 4 }), (source, bends) => {
        const bytes = Uint8Array.from(source);
        for (const { at, byte } of bends) bytes[at % bytes.length] = byte;
        tryIt(bytes);
        tryIt(bytes.subarray(0, bends[0]!.at % bytes.length));
      }),
      { numRuns: 2_000 },
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => tryIt(bytes)), { numRuns: 500 });
    expect(counts.read).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(500);
  });
});
