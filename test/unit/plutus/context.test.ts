/**
 * Script contexts, field by field, written by hand from the ledger's sources: cardano-ledger `Alonzo/Plutus/TxInfo.hs`,
 * `Babbage/TxInfo.hs`, `Conway/TxInfo.hs`, `Cardano/Ledger/Plutus/TxInfo.hs`; the forms as data from plutus-ledger-api
 * `V1`, `V2` and `V3`.
 */
import { describe, expect, it } from "vitest";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { type Encodable, encode, Encoded, Indefinite } from "#src/cardano/cbor.ts";
import { Constr, constr, type Data, DataMap, encodeData } from "#src/cardano/data.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { lovelace } from "#src/cardano/value.ts";
import { valueData } from "#src/plutus/context/value.ts";
import { ada, alice, asset, atKey, atScript, bob, datumHash, output, World } from "../../support/ledger/draft.ts";
import {
  field,
  hash,
  just,
  key,
  no,
  nothing,
  POLICY,
  read,
  script,
  shown,
  yes,
} from "../../support/plutus/draftContexts.ts";

const S = "51".repeat(28);
const T = "52".repeat(28);
const none = new Uint8Array();
const coin = (amount: bigint): [Data, Data] => [none, new DataMap([[none, amount]])];
const rewardOf = (kind: "key" | "script", of: string) => Uint8Array.of(kind === "key" ? 0xe0 : 0xf0, ...hash(of));
const at = (of: { readonly ref: { readonly txHash: string; readonly index: number } }) => hash(of.ref.txHash);

describe("arguments", () => {
  const world = new World();
  const byHash = world.fund(atScript(S), 5n * ada, { datumHash: datumHash(7n) });
  const inline = world.fund(atScript(S), 5n * ada, { datum: 8n });
  const bare = world.fund(atScript(S), 5n * ada);
  const paying = world.fund(alice.address);
  const draft = {
    inputs: [byHash, inline, bare, paying],
    datums: [7n],
    redeemers: [[0, 0], [0, 1], [0, 2]] as const,
  };
  const spend = (index: number) => ({ purpose: "spend" as const, index });

  it("of a spend under Plutus V2 are datum, redeemer and context; the datum is the output's own or the one with its hash", () => {
    const [datum, redeemer, context] = shown(2, world, draft, spend(0)) as Data[];
    expect([datum, redeemer]).toEqual([7n, 0n]);
    expect((context as Constr).fields[1]).toEqual(constr(1, constr(0, constr(0, at(byHash)), 0n)));
    expect((shown(2, world, draft, spend(1)) as Data[])[0]).toBe(8n);
  });
  it("of a spend under Plutus V1 are the same three, for an output without a datum two", () => {
    const plain = { ...draft, inputs: [byHash, bare, paying], redeemers: [[0, 0], [0, 1]] as const };
    expect(shown(1, world, plain, spend(0))).toHaveLength(3);
    expect(shown(1, world, plain, spend(1))).toHaveLength(2);
  });
  it("under Plutus V3 are only the context, with redeemer and script info in it", () => {
    const info = (index: number) => {
      const args = shown(3, world, draft, spend(index)) as Constr[];
      expect(args).toHaveLength(1);
      const { tag, fields: [, redeemer, of] } = args[0]!;
      expect([tag, redeemer]).toEqual([0, 0n]);
      return of;
    };
    expect(info(0)).toEqual(constr(1, constr(0, at(byHash), 0n), just(7n)));
    expect(info(1)).toEqual(constr(1, constr(0, at(inline), 0n), just(8n)));
    expect(info(2)).toEqual(constr(1, constr(0, at(bare), 0n), nothing));
  });
  it("of other purposes have no datum", () => {
    const mint = { mint: new Map([[POLICY, 1n]]), redeemers: [[1, 0]] as const };
    for (const language of [1, 2] as const) {
      const [redeemer, context] = shown(language, world, mint) as [Data, Constr];
      expect([redeemer, context.fields[1]]).toEqual([0n, constr(0, hash(POLICY))]);
    }
    const [context] = shown(3, world, mint) as [Constr];
    expect(context.fields[2]).toEqual(constr(0, hash(POLICY)));
  });
});

describe("inputs and outputs", () => {
  it("are in the ledger's order and in that of the body; an id is wrapped until Plutus V2", () => {
    const world = new World();
    const [first, second] = [world.fund(alice.address), world.fund(atKey(bob.hash), 3n * ada)];
    const inputs = [second, first];
    const address = constr(0, key(alice.hash), just(constr(0, key(alice.stakeHash))));
    const bare = constr(0, key(bob.hash), nothing);
    const outV1 = (of: Constr, amount: bigint) => constr(0, of, new DataMap([coin(amount)]), nothing);
    const outV2 = (of: Constr, amount: bigint) => constr(0, of, new DataMap([coin(amount)]), constr(0), nothing);
    const wrapped = (of: typeof first) => constr(0, constr(0, at(of)), 0n);
    const plain = (of: typeof first) => constr(0, at(of), 0n);
    expect(field(1, "inputs", world, { inputs })).toEqual([
      constr(0, wrapped(first), outV1(address, 100n * ada)),
      constr(0, wrapped(second), outV1(bare, 3n * ada)),
    ]);
    expect(field(2, "inputs", world, { inputs })).toEqual([
      constr(0, wrapped(first), outV2(address, 100n * ada)),
      constr(0, wrapped(second), outV2(bare, 3n * ada)),
    ]);
    const fields = { 18: [second, first].map(({ ref }) => [hash(ref.txHash), 0]) };
    for (const name of ["inputs", "references"] as const) {
      expect(field(3, name, world, name === "inputs" ? { inputs } : { fields })).toEqual([
        constr(0, plain(first), outV2(address, 100n * ada)),
        constr(0, plain(second), outV2(bare, 3n * ada)),
      ]);
    }
    const outputs = [output(bob.address, 2n * ada), output(atScript(S), 1n * ada)];
    const [one, two] = field(3, "outputs", world, { outputs, paid: 3n * ada }) as Constr[];
    expect(one).toEqual(outV2(constr(0, key(bob.hash), just(constr(0, key(bob.stakeHash)))), 2n * ada));
    expect(two).toEqual(outV2(constr(0, script(S), nothing), ada));
  });
  it("show the datum's hash or the inline datum, and the hash of a reference script of any language", () => {
    const world = new World();
    const code = fromHex("4e4d01000033222220051200120011");
    const native: Encodable = [0, hash(S)];
    const outputs = [
      output(bob.address, ada, { datumHash: datumHash(1n) }),
      output(bob.address, ada, { datum: [1n] }),
      output(bob.address, ada, { script: [2, code] }),
      output(bob.address, ada, { script: [0, native] }),
    ];
    const seen = (field(2, "outputs", world, { outputs, paid: 4n * ada }) as Constr[]).map(({ fields }) => fields);
    expect(seen[0]!.slice(2)).toEqual([constr(1, hash(datumHash(1n))), nothing]);
    expect(seen[1]!.slice(2)).toEqual([constr(2, [1n]), nothing]);
    expect(seen[2]!.slice(2)).toEqual([constr(0), just(hash(hash224(concat(Uint8Array.of(2), code))))]);
    expect(seen[3]!.slice(2)).toEqual([constr(0), just(hash(hash224(concat(Uint8Array.of(0), encode(native)))))]);
  });
  it("show Plutus V1 a datum's hash, and nothing of a reference script: since Conway it is no failure (transTxOutV1)", () => {
    const world = new World();
    const outputs = [output(bob.address, ada, { datumHash: datumHash(1n), script: [1, fromHex("4101")] })];
    const [seen] = field(1, "outputs", world, { outputs, paid: ada }) as Constr[];
    expect(seen!.fields).toHaveLength(3);
    expect(seen!.fields[2]).toEqual(just(hash(datumHash(1n))));
  });
  it("show the pointer of an input, as zeros where it exceeds the ledger's bounds: old outputs may hold such (mkPtrNormalized)", () => {
    const world = new World();
    const pointing = (...numbers: number[]) =>
      toHex(concat(Uint8Array.of(0x40), hash(bob.hash), Uint8Array.from(numbers)));
    const stake = (address: string) => {
      const [seen] = field(2, "inputs", world, { inputs: [world.fund(address)] }) as Constr[];
      return ((seen!.fields[1] as Constr).fields[0] as Constr).fields[1];
    };
    expect(stake(pointing(1, 0x81, 0, 3))).toEqual(just(constr(1, 1n, 128n, 3n)));
    const zeros = just(constr(1, 0n, 0n, 0n));
    expect(stake(pointing(1, 0x83, 0xff, 0x7f, 3))).toEqual(just(constr(1, 1n, 65_535n, 3n)));
    expect(stake(pointing(1, 0x84, 0x80, 0, 3))).toEqual(zeros);
    expect(stake(pointing(1, 2, 0x84, 0x80, 0))).toEqual(zeros);
    expect(stake(pointing(0x90, 0x80, 0x80, 0x80, 0, 2, 3))).toEqual(zeros);
  });
});

describe("values", () => {
  it("have lovelace first, then policies and names by their bytes", () => {
    const world = new World();
    const assets = new Map([[T + "02", 1n], [S + "ff", 2n], [S, 3n], [S + "0a00", 4n], [S + "0a", 5n]]);
    const expected = new DataMap([
      coin(2n * ada),
      [hash(S), new DataMap([[none, 3n], [hash("0a"), 5n], [hash("0a00"), 4n], [hash("ff"), 2n]])],
      [hash(T), new DataMap([[hash("02"), 1n]])],
    ]);
    const draft = { inputs: [world.fund(alice.address), world.fund(bob.address, 2n * ada, { assets })] };
    const [, second] = field(2, "inputs", world, draft) as Constr[];
    expect((second!.fields[1] as Constr).fields[1]).toEqual(expected);
  });
  it("have an entry of lovelace also if there are none", () => {
    expect(valueData(lovelace(0n))).toEqual(new DataMap([coin(0n)]));
  });
  it("that are minted have zero lovelace first until Plutus V2 (transMintValue), none in V3; burning is negative", () => {
    const world = new World();
    const mint = new Map([[T, 1n], [asset(S), -2n]]);
    const minted: [Data, Data][] = [
      [hash(S), new DataMap([[hash(asset(S).slice(56)), -2n]])],
      [hash(T), new DataMap([[none, 1n]])],
    ];
    const draft = { mint, redeemers: [[1, 0], [1, 1]] as const, outputs: [], change: false };
    expect(field(1, "mint", world, draft)).toEqual(new DataMap([coin(0n), ...minted]));
    expect(field(2, "mint", world, draft)).toEqual(new DataMap([coin(0n), ...minted]));
    expect(field(3, "mint", world, draft)).toEqual(new DataMap(minted));
    const other = { mint: new Map(), redeemers: [[0, 0]] as const };
    const spent = (language: 1 | 2 | 3) =>
      (shown(language, world, other, { purpose: "spend", index: 0 }) as Constr[]).at(-1)!.fields[0] as Constr;
    expect(spent(1).fields[3]).toEqual(new DataMap([coin(0n)]));
    expect(spent(3).fields[4]).toEqual(new DataMap([]));
  });
  it("are the fee until Plutus V2, a number in V3", () => {
    const world = new World();
    expect([1, 2, 3].map((language) => field(language as 1 | 2 | 3, "fee", world, { fee: 9n }))).toEqual([
      new DataMap([coin(9n)]),
      new DataMap([coin(9n)]),
      9n,
    ]);
  });
});

describe("withdrawals", () => {
  const world = new World();
  const [high, low] = ["ff".repeat(28), "01".repeat(28)];
  const withdrawals = [[rewardOf("key", low), 1n], [rewardOf("script", high), 2n], [
    rewardOf("key", high),
    3n,
  ]] as const;
  const staking = (of: Constr) => constr(0, of);
  it("are pairs in Plutus V1, by keys before scripts (the order of PlutusLedgerApi.V1.Credential)", () => {
    expect(field(1, "withdrawals", world, { withdrawals })).toEqual([
      constr(0, staking(key(low)), 1n),
      constr(0, staking(key(high)), 3n),
      constr(0, staking(script(high)), 2n),
    ]);
  });
  it("are a map in the same order in Plutus V2", () => {
    expect(field(2, "withdrawals", world, { withdrawals })).toEqual(
      new DataMap([[staking(key(low)), 1n], [staking(key(high)), 3n], [staking(script(high)), 2n]]),
    );
  });
  it("are a map of bare credentials in Plutus V3, by scripts before keys (the order of the ledger's credentials)", () => {
    expect(field(3, "withdrawals", world, { withdrawals })).toEqual(
      new DataMap([[script(high), 2n], [key(low), 1n], [key(high), 3n]]),
    );
  });
  it("are pointed to in the ledger's order in all versions", () => {
    const draft = { withdrawals, redeemers: [[3, 0]] as const };
    const pointer = { purpose: "reward" as const, index: 0 };
    expect((shown(1, world, draft, pointer) as Constr[])[1]!.fields[1]).toEqual(constr(2, staking(script(high))));
    expect((shown(2, world, draft, pointer) as Constr[])[1]!.fields[1]).toEqual(constr(2, staking(script(high))));
    expect((shown(3, world, draft, pointer) as Constr[])[0]!.fields[2]).toEqual(constr(2, script(high)));
  });
});

describe("the interval", () => {
  const world = new World();
  const time = (slot: bigint) => slot < 1_000n ? 5_000n + slot * 10n : undefined;
  const finite = (value: bigint) => constr(1, value);
  const range = (from: number | undefined, before: number | undefined, language: 1 | 2 | 3 = 3) =>
    field(language, "range", world, { fields: { 8: from ?? null, 3: before ?? null } }, { time });
  it("is closed below and open above, in milliseconds", () => {
    const expected = constr(0, constr(0, finite(5_010n), yes), constr(0, finite(5_020n), no));
    expect([range(1, 2, 1), range(1, 2, 2), range(1, 2, 3)]).toEqual([expected, expected, expected]);
  });
  it("is open above also without a lower bound (Conway transValidityInterval; it was closed before Conway)", () => {
    const expected = constr(0, constr(0, constr(0), yes), constr(0, finite(5_020n), no));
    expect([range(undefined, 2, 1), range(undefined, 2, 3)]).toEqual([expected, expected]);
  });
  it("has bounds that are infinite and closed", () => {
    expect(range(1, undefined)).toEqual(constr(0, constr(0, finite(5_010n), yes), constr(0, constr(2), yes)));
    expect(range(undefined, undefined)).toEqual(constr(0, constr(0, constr(0), yes), constr(0, constr(2), yes)));
  });
  it("fails beyond the horizon", () => {
    expect([1, 2, 3].map((language) => range(1, 1_000, language as 1 | 2 | 3))).toEqual(
      new Array(3).fill("TimeTranslationPastHorizon"),
    );
  });
  it("is exact for every slot of 64 bits", () => {
    const draft = { fields: { 3: (1n << 64n) - 1n } };
    const { fields: [, upper] } = field(3, "range", world, draft) as Constr;
    expect(upper).toEqual(constr(0, finite(1_600_000_000_000n + ((1n << 64n) - 1n) * 1_000n), no));
  });
});

describe("signers, datums and redeemers", () => {
  it("signers are ordered by their bytes", () => {
    const world = new World();
    const [a, b] = ["02".repeat(28), "f1".repeat(28)];
    for (const language of [1, 2, 3] as const) {
      expect(field(language, "signers", world, { fields: { 14: [hash(b), hash(a)] } })).toEqual([hash(a), hash(b)]);
    }
  });
  it("datums are ordered by their hashes, as pairs in Plutus V1 and as a map later; inline datums are not among them", () => {
    const world = new World();
    const sorted = [1n, 2n, 3n].map((datum) => [datumHash(datum), datum] as const).sort(([a], [b]) => a < b ? -1 : 1);
    const draft = { datums: [1n, 2n, 3n], inputs: [world.fund(alice.address)] };
    expect(field(1, "datums", world, draft)).toEqual(sorted.map(([of, datum]) => constr(0, hash(of), datum)));
    const inline = { ...draft, inputs: [world.fund(alice.address, 100n * ada, { datum: 9n })] };
    for (const language of [2, 3] as const) {
      expect(field(language, "datums", world, inline)).toEqual(
        new DataMap(sorted.map(([of, datum]) => [hash(of), datum])),
      );
    }
  });
  it("a datum's hash is over its own bytes", () => {
    const world = new World();
    const odd = new Encoded(fromHex("9f1801ff"));
    expect(field(2, "datums", world, { datums: [odd] })).toEqual(new DataMap([[hash(datumHash(odd)), [1n]]]));
  });
  it("redeemers are ordered by purpose (spend, mint, certificate, reward, vote, proposal) and index, not in the order of data", () => {
    const world = new World();
    const inputs = Array.from({ length: 11 }, () => world.fund(atScript(S)));
    const draft = {
      inputs,
      mint: new Map([[S, 1n], [T, 1n]]),
      certificates: [[1, [1, hash(S)]]] as Encodable[],
      withdrawals: [[rewardOf("script", S), 5n]] as const,
      redeemers: [[3, 0], [1, 1], [2, 0], [0, 10], [0, 2], [1, 0]] as const,
    };
    const purposes = (language: 2 | 3) =>
      (field(language, "redeemers", world, draft) as DataMap).entries.map(([purpose, redeemer]) => {
        expect(redeemer).toBe(0n);
        return purpose;
      });
    const ref = (index: number, wrapped: boolean) =>
      constr(0, wrapped ? constr(0, at(inputs[index]!)) : at(inputs[index]!), 0n);
    expect(purposes(2)).toEqual([
      constr(1, ref(2, true)),
      constr(1, ref(10, true)),
      constr(0, hash(S)),
      constr(0, hash(T)),
      constr(3, constr(1, constr(0, script(S)))),
      constr(2, constr(0, script(S))),
    ]);
    expect(purposes(3)).toEqual([
      constr(1, ref(2, false)),
      constr(1, ref(10, false)),
      constr(0, hash(S)),
      constr(0, hash(T)),
      constr(3, 0n, constr(1, script(S), nothing)),
      constr(2, script(S)),
    ]);
  });
  it("of redeemers in a list the last one for a purpose counts", () => {
    const world = new World();
    const witnesses = { 5: [[1, 0, 1n, [1, 1]], [1, 0, 2n, [1, 1]]] as Encodable };
    const redeemers = field(3, "redeemers", world, { witnesses });
    expect(redeemers).toEqual(new DataMap([[constr(0, hash(POLICY)), 2n]]));
  });
});

describe("the id", () => {
  it("is wrapped until Plutus V2", () => {
    const world = new World();
    const bytes = world.write({ mint: new Map([[POLICY, 1n]]), redeemers: [[1, 0]] });
    const { id } = read(bytes);
    expect([1, 2, 3].map((language) => field(language as 1 | 2 | 3, "id", world, bytes))).toEqual([
      constr(0, id),
      constr(0, id),
      id,
    ]);
  });
});

describe("everything that the decoder accepts is shown", () => {
  it("data of any depth, as datum, inline datum and redeemer", () => {
    const world = new World();
    const deep = (levels: number) => new Encoded(Uint8Array.from([...new Uint8Array(levels).fill(0x81), 0x80]));
    const own = world.fund(atScript(S), 9n * ada, { datum: deep(14_000) });
    const draft = {
      inputs: [own],
      datums: [deep(3_000)],
      outputs: [output(bob.address, ada, { datum: deep(4_000) })],
      paid: ada,
      witnesses: { 5: new Map<Encodable, Encodable>([[[0, 0], [deep(3_500), [1, 1]]]]) },
    };
    const [context] = shown(3, world, draft, { purpose: "spend", index: 0 }) as [Constr];
    expect(encodeData(context).length).toBeGreaterThan(2 * 14_000);
    expect(shown(2, world, draft, { purpose: "spend", index: 0 })).toHaveLength(3);
  });
  it("constructors of any number, and forms that other decoders refuse, as their data", () => {
    const world = new World();
    const most = new Encoded(fromHex("d8669f" + "1bffffffffffffffff" + "9f01ff" + "ff"));
    const odd = new Map<Encodable, Encodable>([[0, fromHex(bob.address)], [1, new Indefinite([ada, new Map()])]]);
    const indefinite = new Encoded(concat(Uint8Array.of(0xbf), encode(odd).subarray(1), Uint8Array.of(0xff)));
    const own = world.fund(atScript(S), 9n * ada, { datum: most });
    const draft = { inputs: [own], outputs: [indefinite], paid: ada, redeemers: [[0, 0]] as const };
    const [datum] = shown(2, world, draft, { purpose: "spend", index: 0 }) as Data[];
    expect(datum).toEqual(new Constr((1n << 64n) - 1n, [1n]));
    const [first] = field(3, "outputs", world, {
      ...draft,
      mint: new Map([[POLICY, 1n]]),
      redeemers: [[0, 0], [1, 0]],
    }) as Constr[];
    expect(first!.fields[1]).toEqual(new DataMap([coin(ada)]));
  });
});
