/**
 * The services of each version of UTxO RPC. Those of 0.18 of `v1alpha` are in a package; the others are made of their
 * descriptions, with the fields that differ:
 *
 * - `v1alpha` before 0.18 has integers in the place of the message BigInt, and lists of transactions to submit and evaluate.
 * - `v1beta` has one quantity in an asset, and the CBOR of an output in it.
 */
import {
  type FieldInfo,
  type Message,
  type MessageType,
  proto3,
  ScalarType,
  type ServiceType,
} from "@bufbuild/protobuf";
import { queryConnect, submitConnect, syncConnect, watchConnect } from "@utxorpc/spec/lib/index.mjs";

/** The services of a version. */
export interface Services {
  readonly query: ServiceType;
  readonly submit: ServiceType;
  readonly sync: ServiceType;
  readonly watch: ServiceType;
}

/** `v1alpha` as of 0.18. */
export const alpha: Services = {
  query: queryConnect.QueryService,
  submit: submitConnect.SubmitService,
  sync: syncConnect.SyncService,
  watch: watchConnect.WatchService,
};

/** `v1alpha` before 0.18. */
export function alphaWithIntegers(): Services {
  return changed(alpha, (name) => name, withIntegers);
}

/** `v1beta`. */
export function beta(): Services {
  return changed(alpha, (name) => name.replace("v1alpha", "v1beta"), withOneQuantity);
}

/** A field of a message, of which what follows from the rest may be left out. */
type PartialFieldInfo = Extract<Parameters<typeof proto3.makeMessageType>[1], readonly unknown[]>[number];

/** A field of a message, or what stands in its place; undefined: nothing. */
type Change = (type: string, field: FieldInfo) => PartialFieldInfo | readonly PartialFieldInfo[] | undefined;

const BIG_INTEGER = "utxorpc.v1alpha.cardano.BigInt";
/** Integers with a sign. */
const SIGNED = new Set(["mint_coin", "delta_coin"]);
/** Fields that were lists, by message. */
const LISTS = new Set(["SubmitTxRequest.tx", "SubmitTxResponse.ref", "EvalTxRequest.tx", "EvalTxResponse.report"]);

function withIntegers(type: string, field: FieldInfo): PartialFieldInfo | readonly PartialFieldInfo[] {
  const { no, name } = field;
  const short = type.slice(type.lastIndexOf(".") + 1);
  if (LISTS.has(`${short}.${name}`)) return { ...field, repeated: true } as PartialFieldInfo;
  if (short === "ReadTipResponse") return [field, { no: 2, name: "timestamp", kind: "scalar", T: ScalarType.UINT64 }];
  // in Plutus data integers have any size
  if (short === "PlutusData") return field;
  const T = SIGNED.has(name) ? ScalarType.INT64 : ScalarType.UINT64;
  if (field.kind === "message" && field.T.typeName === BIG_INTEGER) return { no, name, kind: "scalar", T };
  if (field.kind === "map" && field.V.kind === "message" && field.V.T.typeName === BIG_INTEGER) {
    return { no, name, kind: "map", K: field.K, V: { kind: "scalar", T } };
  }
  return field;
}

function withOneQuantity(type: string, field: FieldInfo): PartialFieldInfo | readonly PartialFieldInfo[] | undefined {
  if (type === "utxorpc.v1alpha.cardano.Asset" && field.kind === "message") {
    return field.name === "output_coin" ? { no: 2, name: "quantity", kind: "message", T: field.T } : undefined;
  }
  if (type === "utxorpc.v1alpha.cardano.TxOutput" && field.name === "script") {
    return [field, { no: 6, name: "original_cbor", kind: "scalar", T: ScalarType.BYTES }];
  }
  return field;
}

/** Services with other names and other fields of their messages. */
function changed(services: Services, rename: (name: string) => string, change: Change): Services {
  const types = new Map<string, MessageType>();
  /** The other type of a message; its fields are made when they are first needed, for messages contain themselves. */
  const typeOf = (type: MessageType): MessageType => {
    const { typeName } = type;
    if (!typeName.startsWith("utxorpc.")) return type;
    let other = types.get(typeName);
    if (!other) {
      other = proto3.makeMessageType(
        rename(typeName),
        () => type.fields.list().flatMap((field) => change(typeName, field) ?? []).map(inside) as FieldInfo[],
      );
      types.set(typeName, other);
    }
    return other;
  };
  const inside = (field: PartialFieldInfo): PartialFieldInfo => {
    if (field.kind === "message") return { ...field, T: typeOf(resolved(field.T)) };
    if (field.kind !== "map" || field.V.kind !== "message") return { ...field };
    return { ...field, V: { kind: "message", T: typeOf(resolved(field.V.T)) } };
  };
  const service = ({ typeName, methods }: ServiceType): ServiceType => ({
    typeName: rename(typeName),
    methods: Object.fromEntries(
      Object.entries(methods).map(([name, { I, O, ...method }]) => [
        name,
        { ...method, I: typeOf(resolved(I)), O: typeOf(resolved(O)) },
      ]),
    ),
  });
  const { query, submit, sync, watch } = services;
  return { query: service(query), submit: service(submit), sync: service(sync), watch: service(watch) };
}

/** A type where the library also takes a function that gives it. */
function resolved<T extends Message<T>>(type: MessageType<T> | (() => MessageType<T>)): MessageType<T> {
  return "typeName" in type ? type : type();
}
