/**
 * The arguments that scalus passes to scripts, extracted by scripts: every Plutus script of a transaction is replaced
 * by one that accepts every redeemer except one marked redeemer; for that one it traces all of its arguments (as CBOR,
 * in hexadecimal) and fails.
 */
import scalus from "scalus";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { as, decodeAll, type Encodable, encode, head, raw, Tagged } from "#src/cardano/cbor.ts";
import { readTransaction, type Transaction } from "#src/cardano/conway/transaction.ts";
import { Constr, type Data, DataMap, decodeData, encodeData } from "#src/cardano/data.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { hash224 } from "#src/cardano/hash.ts";
import { refKey, type Utxo, walkOutput } from "#src/cardano/output.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { REDEEMER_TAGS } from "#src/cardano/transaction.ts";
import { Walk } from "#src/cardano/walk.ts";
import { lookUp } from "#src/ledger/inputs.ts";
import { plutusUses, scriptsOf } from "#src/ledger/scripts.ts";

type Language = 1 | 2 | 3;

/** A term as a function of the number of lambdas around it. */
type Term = (depth: number) => string;

const natural = (value: bigint): string => {
  const groups = [value & 127n];
  for (let rest = value >> 7n; rest > 0n; rest >>= 7n) groups.push(rest & 127n);
  return groups.map((group, i) => (i < groups.length - 1 ? "1" : "0") + group.toString(2).padStart(7, "0")).join("");
};
const lambda = (body: (argument: Term) => Term): Term => (depth) =>
  "0010" + body((at) => "0000" + natural(BigInt(at - depth)))(depth + 1);
const apply = (fun: Term, ...args: Term[]): Term =>
  args.reduce<Term>((f, argument) => (depth) => "0011" + f(depth) + argument(depth), fun);
const force = (body: Term): Term => (depth) => "0101" + body(depth);
const delay = (body: Term): Term => (depth) => "0001" + body(depth);
const error: Term = () => "0110";
const unit: Term = () => "0100" + "100110";
const integer = (value: number): Term => () => "0100" + "100000" + natural(BigInt(value) * 2n);
const builtin = (tag: number, forces = 0): Term => {
  const plain: Term = () => "0111" + tag.toString(2).padStart(7, "0");
  return Array.from({ length: forces }).reduce<Term>(force, plain);
};
const [add, divide, modulo, equal, less] = [0, 3, 6, 7, 8].map((tag) => builtin(tag)) as [Term, Term, Term, Term, Term];
const [cons, slice, length, index] = [11, 12, 13, 14].map((tag) => builtin(tag)) as [Term, Term, Term, Term];
const choose = (condition: Term, then: Term, otherwise: Term) =>
  force(apply(builtin(26, 1), condition, delay(then), delay(otherwise)));
const bound = (value: Term, body: (value: Term) => Term) => apply(lambda(body), value);
const subtract = (a: Term, b: Term) => apply(builtin(1), a, b);

/** Hexadecimal bytes, from the last to the first, as a byte string. */
const hexadecimal = (bytes: Term): Term =>
  bound(
    lambda((digit) =>
      choose(apply(less, digit, integer(10)), apply(add, digit, integer(48)), apply(add, digit, integer(87)))
    ),
    (digit) =>
      bound(
        lambda((self) =>
          lambda((at) =>
            lambda((done) =>
              choose(
                apply(equal, at, integer(0)),
                done,
                bound(subtract(at, integer(1)), (before) =>
                  bound(apply(index, bytes, before), (byte) =>
                    apply(
                      self,
                      self,
                      before,
                      apply(
                        cons,
                        apply(digit, apply(divide, byte, integer(16))),
                        apply(cons, apply(digit, apply(modulo, byte, integer(16))), done),
                      ),
                    ))),
              )
            )
          )
        ),
        (self) => apply(self, self, apply(length, bytes), apply(slice, integer(0), integer(0), bytes)),
      ),
  );

const MARK = 424_242;

/** Traces arguments and fails when the redeemer is the mark. */
const judged = (redeemer: Term, args: readonly Term[], otherwise: Term): Term => {
  const none = apply(builtin(49), unit);
  const list = args.reduceRight<Term>((rest, argument) => apply(builtin(32, 1), argument, rest), none);
  const bytes = apply(builtin(51), apply(builtin(39), list));
  return choose(
    apply(builtin(47), redeemer, apply(builtin(40), integer(MARK))),
    bound(bytes, (bytes) => apply(builtin(28, 1), apply(builtin(25), hexadecimal(bytes)), delay(error))),
    otherwise,
  );
};

/** A probe, in the bytes of a witness set; `id` makes it different from the others. */
function probe(language: Language, withDatum: boolean, id: number): Uint8Array {
  const plain: Term = language === 3
    ? lambda((context) => {
      const fields = apply(builtin(30, 2), apply(builtin(42), context));
      const redeemer = apply(builtin(33, 1), apply(builtin(34, 1), fields));
      return force(judged(redeemer, [context], delay(unit)));
    })
    : withDatum
    ? lambda((datum) =>
      lambda((redeemer) => lambda((context) => force(judged(redeemer, [datum, redeemer, context], delay(unit)))))
    )
    // a script that also spends has one argument more
    : lambda((redeemer) =>
      lambda((context) => force(judged(redeemer, [redeemer, context], delay(lambda(() => unit)))))
    );
  const bits = bound(integer(id), () => plain)(0);
  const padded = bits + "0".repeat(7 - (bits.length % 8)) + "1";
  const flat = Uint8Array.from(padded.match(/.{8}/g)!, (byte) => parseInt(byte, 2));
  return encode(concat(Uint8Array.of(1, language === 3 ? 1 : 0, 0), flat));
}

/** Replaces hashes in some bytes. */
function swapped(bytes: Uint8Array, hashes: ReadonlyMap<string, string>): Uint8Array {
  let hex = toHex(bytes);
  for (const [from, to] of hashes) hex = hex.replaceAll(from, to);
  return fromHex(hex);
}

/**
 * A probed run: the transaction with its probes, and the arguments that scalus passed to the script, or another
 * failure.
 */
export interface Probed {
  readonly language: Language;
  readonly pointer: RedeemerPointer;
  readonly transaction: Transaction;
  readonly utxos: readonly Utxo[];
  readonly shown: readonly Data[] | Error;
}

const ZEROS = [166, 175, 297].map((count) => new Array<number>(count).fill(0));

/** Probes every run of a transaction's scripts. `utxos` contains all its inputs. */
export function probed(bytes: Uint8Array, utxos: readonly Utxo[], slots: SlotConfig): Probed[] {
  const before = read(bytes);
  const uses = plutusUses(scriptsOfAll(before, utxos));
  const { provided } = scriptsOfAll(before, utxos);
  return [false, true].flatMap((withDatum) => {
    const scripts = [...new Set(uses.map(({ script }) => script))].map((hash, id) => {
      const language = provided.get(hash)!.language as Language;
      const code = probe(language, withDatum, id);
      return { hash, language, code, probe: hash224(concat(Uint8Array.of(language), code)) };
    });
    const hashes = new Map(scripts.map(({ hash, probe }) => [hash, probe]));
    const changed = utxos.map(({ ref, output }) => ({
      ref,
      output: walkOutput(new Walk(swapped(output.raw, hashes))),
    }));
    const [body, witnesses, valid, auxiliary] = as(decodeAll(bytes), "array").value;
    const newBody = swapped(raw(body!), hashes);
    const fields = as(witnesses, "map").value.filter(([key]) => [0, 1, 2, 4].includes(Number(as(key, "int").value)));
    const byLanguage = ([[3, 1], [6, 2], [7, 3]] as const).flatMap(([field, language]) => {
      const of = scripts.filter((script) => script.language === language).map(({ code }) => code);
      return of.length > 0 ? [[encode(field), encode(new Tagged(258, of))] as const] : [];
    });
    const write = (redeemers: Encodable) =>
      concat(
        head(4, 4),
        newBody,
        head(5, fields.length + byLanguage.length + 1),
        ...fields.flatMap(([key, value]) => [raw(key), raw(value)]),
        ...byLanguage.flat(),
        encode(5),
        encode(redeemers),
        raw(valid!),
        raw(auxiliary!),
      );
    // the position of what each redeemer is for: replaced hashes have another order
    const all = scriptsOfAll(read(write(new Map([[[0, 0], [0, [0, 0]]]]))), changed);
    const places = plutusUses(all);
    return places.flatMap(({ purpose, index, script }): Probed[] => {
      const language = all.provided.get(script)!.language as Language;
      const hasDatum = language < 3 && purpose === "spend";
      if (hasDatum !== withDatum) return [];
      const marked = write(
        new Map(places.map((place, i) => {
          const isMarked = place.purpose === purpose && place.index === index;
          return [[REDEEMER_TAGS[place.purpose], place.index], [isMarked ? MARK : [i], [0, 0]]];
        })),
      );
      const pointer = { purpose, index };
      return [{ language, pointer, transaction: read(marked), utxos: changed, shown: ask(marked, changed, slots) }];
    });
  });
}

function read(bytes: Uint8Array): Transaction {
  const transaction = readTransaction(bytes);
  if (!transaction.ok) throw new Error(transaction.error.message);
  return transaction.value;
}

function scriptsOfAll({ body, witnesses }: Transaction, utxos: readonly Utxo[]) {
  const outputs = new Map(utxos.map(({ ref, output }) => [refKey(ref), output]));
  const view = { get: (ref: Utxo["ref"]) => outputs.get(refKey(ref)), outputs: () => outputs.values() };
  return scriptsOf(body, witnesses.scripts, lookUp(view, body.inputs).found, lookUp(view, body.references).found);
}

function ask(transaction: Uint8Array, utxos: readonly Utxo[], slots: SlotConfig): readonly Data[] | Error {
  const outputs = new Map(utxos.map((utxo) => [refKey(utxo.ref), utxo]));
  const entries = [...outputs.values()].flatMap(({ ref, output }) => [
    encode([fromHex(ref.txHash), ref.index]),
    output.raw,
  ]);
  try {
    scalus.Scalus.evalPlutusScripts(
      transaction,
      concat(head(5, outputs.size), ...entries),
      new scalus.SlotConfig(slots.zeroTime, slots.zeroSlot, slots.slotLength),
      ZEROS,
    );
    return new Error("no script failed");
  } catch (failure) {
    const { logs = [], message } = failure as { logs?: readonly string[]; message?: string };
    const traced = logs.map((log) => /^[0-9a-f]+/.exec(log)?.[0]).find((log) => log !== undefined && log.length > 20);
    return traced ? decodeData(fromHex(traced)) as readonly Data[] : new Error(`${message} ${logs.join("; ")}`);
  }
}

/** Machine steps of the wrapper that `appliedTo` adds around a script: an application, a lambda and a variable. */
export const AROUND = { memory: 300n, steps: 48_000n };

/**
 * A script (the bytes of a witness set) applied to arguments, as a program: `(\\s -> s a b) script`, so that the
 * script's own bits keep their position in their bytes.
 */
export function appliedTo(script: Uint8Array, args: readonly Data[]): Uint8Array {
  const code = as(decodeAll(script), "bytes").value;
  const chunked = (bytes: Uint8Array) => {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += 255) {
      const chunk = bytes.subarray(at, at + 255);
      chunks.push(Uint8Array.of(chunk.length), chunk);
    }
    return concat(...chunks, Uint8Array.of(0));
  };
  let bits = "0011" + "0010" + "0011".repeat(args.length) + "0000" + natural(1n);
  for (const argument of args) {
    bits += "0100" + "110000";
    bits += "0".repeat(7 - (bits.length % 8)) + "1";
    for (const byte of chunked(encodeData(argument))) bits += byte.toString(2).padStart(8, "0");
  }
  const before = Uint8Array.from(bits.match(/.{8}/g)!, (byte) => parseInt(byte, 2));
  return encode(concat(code.subarray(0, 3), before, code.subarray(3)));
}

/** The first difference of two data, with both values there; undefined if they are equal. */
export function firstDifference(a: Data, b: Data, path = ""): string | undefined {
  const text = (data: Data) => toHex(encodeData(data));
  if (text(a) === text(b)) return undefined;
  const parts = (data: Data): readonly Data[] | undefined =>
    data instanceof Constr
      ? data.fields
      : data instanceof DataMap
      ? data.entries.flat()
      : data instanceof Uint8Array || typeof data === "bigint"
      ? undefined
      : data;
  const [ours, theirs] = [parts(a), parts(b)];
  const isAlike = a.constructor === b.constructor && (!(a instanceof Constr) || a.tag === (b as Constr).tag);
  if (isAlike && ours && theirs && ours.length === theirs.length) {
    for (const [i, part] of ours.entries()) {
      const found = firstDifference(part, theirs[i]!, `${path}.${i}`);
      if (found) return found;
    }
  }
  return `${path}: ${text(a)} and ${text(b)}`;
}
