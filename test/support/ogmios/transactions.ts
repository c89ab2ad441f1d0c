/** Transactions of every form for Ogmios' JSON, and what must be the same of two of them. */
import fc from "fast-check";
import { fromHex } from "#src/base/bytes.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { baseAddress, enterpriseAddress, pointerAddress, rewardAddress } from "#src/cardano/address.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import { encodableCredential } from "#src/cardano/encodeCertificate.ts";
import { encodeProposal } from "#src/cardano/encodeProposal.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { votersIn } from "#src/cardano/governed.ts";
import { encodeMetadata, type Metadatum, MetadatumMap } from "#src/cardano/metadata/metadatum.ts";
import { compareRefs, type Output, refKey } from "#src/cardano/output.ts";
import { encodeNative, type NativeScript } from "#src/cardano/nativeScript.ts";
import { BodyTransaction } from "#src/cardano/scanBody.ts";
import { encodeAssets } from "#src/cardano/value.ts";
import { ratioText } from "#src/ogmios/values.ts";
import { action } from "../chain/arbitraryGovernance.ts";
import { anchor, credential, drep, hash28, hash32, lovelace, ref, small } from "../chain/arbitraryValues.ts";

const bytes = (most: number) => fc.uint8Array({ maxLength: most });
const sized = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const slot = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const network = fc.constantFrom(0 as const, 1 as const);
const set = (elements: readonly Encodable[]) => new Tagged(258, elements);

const address = fc.oneof(
  fc.tuple(network, credential).map(([id, payment]) => enterpriseAddress(id, payment).hex),
  fc.tuple(network, credential, credential).map(([id, payment, stake]) => baseAddress(id, payment, stake).hex),
  fc.tuple(network, credential, small).map(([id, payment, place]) =>
    pointerAddress(id, payment, { slot: BigInt(place), transaction: 1n, certificate: 300n }).hex
  ),
);
const account = fc.tuple(network, credential).map(([id, stake]) => rewardAddress(id, stake).hex);
const anchorOrNull = fc.option(anchor).map((of): Encodable => of ? [of.url, fromHex(of.hash)] : null);
const assets = (quantity: fc.Arbitrary<bigint>) =>
  fc.array(fc.tuple(hash28, bytes(32), quantity), { maxLength: 5 })
    .map((all) => new Map(all.map(([policy, name, of]) => [policy + Buffer.from(name).toString("hex"), of])));
const positive = fc.bigInt({ min: 1n, max: (1n << 64n) - 1n });

/** A native script. */
export const nativeScript = fc.letrec<{ script: NativeScript }>((tie) => ({
  script: fc.oneof(
    { depthSize: "small" },
    hash28.map((hash): NativeScript => ({ kind: "key", hash })),
    fc.record({ kind: fc.constantFrom("from" as const, "before" as const), slot }),
    fc.record({
      kind: fc.constantFrom("all" as const, "any" as const),
      scripts: fc.array(tie("script"), { maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant("at least" as const),
      count: fc.bigInt({ min: -5n, max: 5n }),
      scripts: fc.array(tie("script"), { maxLength: 4 }),
    }),
  ),
})).script;

/** CBOR of Plutus data. */
const data = fc.letrec<{ data: Encodable }>((tie) => ({
  data: fc.oneof(
    { depthSize: "small" },
    fc.bigInt({ min: -(1n << 80n), max: 1n << 80n }),
    bytes(40),
    fc.array(tie("data"), { maxLength: 3 }),
    fc.array(tie("data"), { maxLength: 3 }).map((fields) => new Tagged(121, fields)),
    fc.array(fc.tuple(tie("data"), tie("data")), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
})).data.map((of) => new Encoded(encode(of)));

const metadatum = fc.letrec<{ value: Metadatum }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.bigInt({ min: -(1n << 64n) + 1n, max: (1n << 64n) - 1n }),
    fc.string({ maxLength: 10, unit: "grapheme" }),
    fc.uint8Array({ maxLength: 20 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(fc.oneof(fc.string({ maxLength: 5 }), fc.bigInt({ min: -9n, max: 9n })), tie("value")), {
      maxLength: 3,
    }).map((entries) => new MetadatumMap(entries)),
  ),
})).value;

const script = fc.oneof(
  nativeScript.map((of): Encodable => [0, new Encoded(encodeNative(of))]),
  fc.tuple(fc.constantFrom(1, 2, 3), bytes(30)).map(([language, of]): Encodable => [language, of]),
);

const output = fc.record({
  address,
  lovelace: positive,
  assets: assets(positive),
  datum: fc.option(fc.oneof(
    hash32.map((hash): Encodable => [0, fromHex(hash)]),
    data.map((of): Encodable => [1, new Tagged(24, of.bytes)]),
  )),
  script: fc.option(script),
}).map(({ address, lovelace, assets, datum, script }): Encodable =>
  new Map<Encodable, Encodable>([
    [0, fromHex(address)],
    [1, assets.size > 0 ? [lovelace, encodeAssets(assets)] : lovelace],
    ...(datum ? [[2, datum] as const] : []),
    ...(script ? [[3, new Tagged(24, encode(script))] as const] : []),
  ])
);

const drepOf = drep.map((of): Encodable =>
  of.kind === "abstain" ? [2] : of.kind === "no confidence" ? [3] : encodableCredential(of)
);
const hashBytes = hash28.map(fromHex);
const who = credential.map(encodableCredential);
const relay = fc.oneof(
  fc.tuple(fc.option(fc.nat({ max: 65_535 })), fc.option(sized(4)), fc.option(sized(16)))
    .map((parts): Encodable => [0, ...parts]),
  fc.tuple(fc.option(fc.nat({ max: 65_535 })), fc.domain()).map((parts): Encodable => [1, ...parts]),
  fc.domain().map((name): Encodable => [2, name]),
);
const certificate: fc.Arbitrary<Encodable> = fc.oneof(
  fc.tuple(fc.constantFrom(0, 1), who),
  fc.tuple(fc.constant(2), who, hashBytes),
  fc.tuple(
    fc.constant(3),
    hashBytes,
    hash32.map(fromHex),
    lovelace,
    lovelace,
    fc.nat({ max: 100 }).map((of) => new Tagged(30, [of, 101])),
    account.map(fromHex),
    fc.uniqueArray(hash28, { maxLength: 3 }).map((owners) => owners.map(fromHex)),
    fc.array(relay, { maxLength: 3 }),
    anchorOrNull,
  ),
  fc.tuple(fc.constant(4), hashBytes, lovelace),
  fc.tuple(fc.constant(5), hashBytes, hashBytes, hash32.map(fromHex)),
  fc.tuple(fc.constant(6), fc.tuple(fc.constantFrom(0, 1), lovelace)),
  fc.tuple(fc.constantFrom(7, 8), who, lovelace),
  fc.tuple(fc.constant(9), who, drepOf),
  fc.tuple(fc.constant(10), who, hashBytes, drepOf),
  fc.tuple(fc.constant(11), who, hashBytes, lovelace),
  fc.tuple(fc.constant(12), who, drepOf, lovelace),
  fc.tuple(fc.constant(13), who, hashBytes, drepOf, lovelace),
  fc.tuple(fc.constant(14), who, who),
  fc.tuple(fc.constant(15), who, anchorOrNull),
  fc.tuple(fc.constant(16), who, lovelace, anchorOrNull),
  fc.tuple(fc.constant(17), who, lovelace),
  fc.tuple(fc.constant(18), who, anchorOrNull),
);

const voter = fc.record({
  role: fc.constantFrom("committee" as const, "drep" as const, "pool" as const),
  credential,
  votes: fc.uniqueArray(
    fc.record({ action: ref, vote: fc.constantFrom("no" as const, "yes" as const, "abstain" as const) }),
    { minLength: 1, maxLength: 3, selector: ({ action }) => refKey(action) },
  ),
}).map((of) => of.role === "pool" ? { ...of, credential: { kind: "key" as const, hash: of.credential.hash } } : of);

/** An action within what the schema allows, which is less than the ledger does. */
const boundedAction = action.map((of): Action => {
  if (of.kind === "treasury") return { ...of, payments: of.payments.map(([to, amount]) => [to, amount >> 1n]) };
  if (of.kind !== "hard fork") return of;
  const { major, minor } = of.version;
  return { ...of, version: { major: major & 0xffffn, minor: minor & 0xffffn } };
});

const refs = fc.uniqueArray(ref, { maxLength: 4, selector: refKey })
  .map((all) => set(all.map(({ txHash, index }) => [fromHex(txHash), index])));

const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const some = <T>(of: fc.Arbitrary<T>) => optional(fc.array(of, { minLength: 1, maxLength: 3 }));

const body = fc.record({
  0: refs,
  1: fc.array(output, { maxLength: 3 }),
  2: lovelace,
  3: optional(slot),
  4: some(certificate).map((all) => all && set(all)),
  5: optional(fc.dictionary(account, lovelace, { minKeys: 1, maxKeys: 3 }))
    .map((of) => of && new Map(Object.entries(of).map(([to, amount]) => [fromHex(to), amount]))),
  8: optional(slot),
  9: optional(
    assets(fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }).filter((of) => of !== 0n))
      .filter((of) => of.size > 0).map(encodeAssets),
  ),
  11: optional(hash32.map(fromHex)),
  13: optional(refs),
  14: some(hash28).map((all) => all && set([...new Set(all)].map(fromHex))),
  15: optional(network),
  16: optional(output),
  17: optional(lovelace),
  18: optional(refs),
  19: optional(fc.uniqueArray(voter, {
    minLength: 1,
    maxLength: 3,
    selector: ({ role, credential: { kind, hash } }) => role + kind + hash,
  })).map((all) => all && new Encoded(encodeVotes(all))),
  20: some(
    fc.record({ deposit: lovelace, account, action: boundedAction, anchor }).map((of) =>
      new Encoded(encodeProposal(of))
    ),
  ).map((all) => all && set(all)),
  21: optional(lovelace),
  22: optional(positive),
});

const witnesses = fc.record({
  0: some(fc.tuple(sized(32), sized(64))),
  1: some(nativeScript.map((of) => new Encoded(encodeNative(of)))),
  2: some(fc.tuple(sized(32), sized(64), sized(32), fc.constantFrom(Uint8Array.of(0xa0), new Uint8Array(0)))),
  3: some(bytes(20)),
  4: some(data),
  5: optional(fc.uniqueArray(
    fc.tuple(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 999 })), fc.tuple(data, fc.tuple(lovelace, lovelace))),
    { minLength: 1, maxLength: 3, selector: ([key]) => key.join() },
  )).map((all) => all && new Map(all)),
  6: some(bytes(20)),
  7: some(bytes(20)),
});

const auxiliary = fc.record({
  metadata: fc.dictionary(fc.nat({ max: 2_000 }).map(String), metadatum, { maxKeys: 3 })
    .map((labels) => new Map(Object.entries(labels).map(([label, value]) => [BigInt(label), value] as const))),
  native: fc.array(nativeScript, { maxLength: 2 }),
  plutus: fc.array(bytes(20), { maxLength: 2 }),
}).map(({ metadata, native, plutus }) =>
  encode(
    new Tagged(
      259,
      new Map<Encodable, Encodable>([
        [0, new Encoded(encodeMetadata(metadata))],
        ...(native.length > 0
          ? [
            [
              1,
              native.map((of) => new Encoded(encodeNative(of))),
            ] as const,
          ]
          : []),
        ...(plutus.length > 0 ? [[3, plutus] as const] : []),
      ]),
    ),
  )
);

/** A map of the members that are there. */
function fieldsOf(record: { readonly [field: string]: Encodable | undefined }): Uint8Array {
  return encode(
    new Map(
      Object.entries(record).flatMap(([field, value]) => value === undefined ? [] : [[Number(field), value] as const]),
    ),
  );
}

/** A transaction that uses any of the members that transactions of Conway and before may have; its values make no sense for a ledger. */
export const anyTransaction: fc.Arbitrary<ScannedTransaction> = fc.record({
  body,
  witnesses,
  valid: fc.boolean(),
  auxiliary: optional(auxiliary),
  auxiliaryHash: hash32,
}).map(({ body, witnesses, valid, auxiliary, auxiliaryHash }) =>
  new BodyTransaction({
    index: 0,
    valid,
    body: fieldsOf({ ...body, ...(auxiliary ? { 7: fromHex(auxiliaryHash) } : {}) }),
    witnesses: fieldsOf(witnesses),
    auxiliaryData: auxiliary,
    lastSlotIncluded: false,
  })
);

/** What projections read. */
export function membersOf(transaction: ScannedTransaction) {
  const { hash, valid, collateralReturn, totalCollateral, fee, mint, validFrom, validTo } = transaction;
  const { certificates, withdrawals, governs, proposals, donation, requiredSigners } = transaction;
  return {
    ...{ hash, valid, totalCollateral, fee, mint, validFrom, validTo, donation },
    inputs: [...transaction.inputs].sort(compareRefs),
    references: [...transaction.references].sort(compareRefs),
    collateral: [...transaction.collateral].sort(compareRefs),
    outputs: transaction.outputs.map(contentOf),
    collateralReturn: collateralReturn && contentOf(collateralReturn),
    withdrawals: new Map([...withdrawals].sort()),
    // a move of rewards stands among the proposals
    certificates: [...certificates.filter(isNoMove), ...certificates.filter((one) => !isNoMove(one))].flatMap(stated),
    requiredSigners: [...requiredSigners].sort(),
    ...{ governs: governs ?? false, proposals: proposals ?? [] },
    voters: votersIn(transaction),
  };
}

/** An output without its encoding. */
const contentOf = ({ raw: _, ...content }: Output) => content;

const isNoMove = ({ kind }: Certificate) => kind !== "move rewards";

/** What the JSON tells of a certificate: a registration that delegates stands there as two. */
function stated(certificate: Certificate): object[] {
  switch (certificate.kind) {
    case "register": {
      const { to, ...rest } = certificate;
      return to ? [rest, { kind: "delegate", credential: rest.credential, to }] : [rest];
    }
    case "register pool":
      return [{
        ...certificate,
        margin: ratioText(certificate.margin),
        // a name without a port
        relays: certificate.relays.map((relay) =>
          relay.kind === "host" && relay.port === undefined ? { kind: "service", name: relay.name } : relay
        ),
      }];
    case "move rewards":
      return [{
        kind: certificate.kind,
        to: typeof certificate.to === "bigint" ? certificate.to : certificate.to.length,
      }];
    default:
      return [certificate];
  }
}
