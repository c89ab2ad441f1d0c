/**
 * The handshake: the client proposes versions, the server accepts the highest common one.
 *
 * Assumptions: a version v is encoded with bit 15 set (except version 1, which is older). The data of a version is a
 * bare network magic up to version 14 and `[magic, query]` from 15 on. A proposal may contain unknown versions with
 * data of any form.
 */
import { as, CborError, decode, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import type { Protocol } from "#src/node/protocols/protocol.ts";
import { messageParts, readSmallNumber, requireCount } from "#src/node/protocols/values.ts";

/** Versions that client and server of this module support. */
export const VERSIONS: readonly number[] = [16, 17, 18, 19, 20, 21, 22, 23];

/** The data of a version: the network's magic, and whether the client only queries the versions. */
interface VersionData {
  readonly magic: number;
  readonly query: boolean;
}

/** Versions and their data; undefined where the form is unknown. */
type VersionTable = ReadonlyMap<number, VersionData | undefined>;

/** Why a server refuses. */
export type HandshakeRefusal =
  | { readonly type: "mismatch"; readonly versions: readonly number[] }
  | { readonly type: "undecoded"; readonly version: number; readonly text: string }
  | { readonly type: "refused"; readonly version: number; readonly text: string };

/** Messages of the handshake. */
export type HandshakeMessage =
  | { readonly type: "propose"; readonly versions: VersionTable }
  | { readonly type: "accept"; readonly version: number; readonly data: VersionData }
  | { readonly type: "refuse"; readonly refusal: HandshakeRefusal }
  | { readonly type: "queryReply"; readonly versions: VersionTable };

type HandshakeState = "propose" | "confirm" | "done";

/** The last version with a bare magic. */
const LAST_BARE = 14;

/** The protocol. */
export const handshake: Protocol<HandshakeState, HandshakeMessage> = {
  name: "handshake",
  id: 0,
  initial: "propose",
  agency: { propose: "client", confirm: "server", done: "none" },
  transitions: {
    propose: { propose: "confirm" },
    confirm: { accept: "done", refuse: "done", queryReply: "done" },
    done: {},
  },
  limits: { client: { message: 8192, ingress: 16_384 }, server: { message: 8192, ingress: 16_384 } },
  encode(message) {
    return [encode(value(message))];
  },
  decode(bytes) {
    const { tag, rest } = messageParts(decode(bytes));
    requireCount(tag === 1 ? 2 : 1, rest);
    switch (tag) {
      case 0:
        return { type: "propose", versions: readTable(rest[0]) };
      case 1: {
        const version = fromWire(readSmallNumber(rest[0]));
        const data = readData(version, rest[1]);
        if (!data) throw new CborError(`what belongs to version ${version} has an unknown shape`);
        return { type: "accept", version, data };
      }
      case 2:
        return { type: "refuse", refusal: readRefusal(rest[0]) };
      case 3:
        return { type: "queryReply", versions: readTable(rest[0]) };
      default:
        throw new CborError(`there is no message ${tag}`);
    }
  },
};

/** The answer of a server that supports `versions` on the network `magic`. */
export function negotiate(
  proposed: VersionTable,
  versions: readonly number[],
  magic: number,
): Exclude<HandshakeMessage, { type: "propose" }> {
  const version = Math.max(...versions.filter((version) => proposed.has(version)));
  if (version === -Infinity) return { type: "refuse", refusal: { type: "mismatch", versions } };
  const data = proposed.get(version);
  if (!data) {
    const text = "what belongs to the version is not [network magic, query]";
    return { type: "refuse", refusal: { type: "undecoded", version, text } };
  }
  if (data.magic !== magic) {
    const text = `version data mismatch: ${showVersionData(magic, false)} /= ${
      showVersionData(data.magic, data.query)
    }`;
    return { type: "refuse", refusal: { type: "refused", version, text } };
  }
  if (data.query) return { type: "queryReply", versions: versionTable(versions, magic, false) };
  return { type: "accept", version, data };
}

/** A table that gives each version the same magic. */
export function versionTable(versions: readonly number[], magic: number, query: boolean): VersionTable {
  return new Map(versions.map((version) => [version, { magic, query }]));
}

/** The server's magic in a refusal because of the magic; null if it is not stated, undefined for another refusal. */
export function otherMagic(text: string): number | null | undefined {
  if (!/magic|version data mismatch/i.test(text)) return undefined;
  const own = /unNetworkMagic = (\d+)/.exec(text)?.[1];
  return own === undefined ? null : Number(own);
}

/** Version data in a node's wording, which clients look for. */
function showVersionData(magic: number, query: boolean): string {
  return `NodeToClientVersionData {networkMagic = NetworkMagic {unNetworkMagic = ${magic}}, query = ${
    query ? "True" : "False"
  }}`;
}

function toWire(version: number): number {
  return version === 1 ? 1 : version | 0x8000;
}

function fromWire(version: number): number {
  return version & 0x7fff;
}

function value(message: HandshakeMessage): Encodable {
  switch (message.type) {
    case "propose":
      return [0, tableValue(message.versions)];
    case "accept":
      return [1, toWire(message.version), dataValue(message.version, message.data)];
    case "refuse":
      return [2, refusalValue(message.refusal)];
    case "queryReply":
      return [3, tableValue(message.versions)];
  }
}

function tableValue(versions: VersionTable): Encodable {
  const ascending = [...versions].sort(([a], [b]) => a - b);
  return new Map(ascending.flatMap(([version, data]) => data ? [[toWire(version), dataValue(version, data)]] : []));
}

function dataValue(version: number, { magic, query }: VersionData): Encodable {
  return version <= LAST_BARE ? magic : [magic, query];
}

function refusalValue(refusal: HandshakeRefusal): Encodable {
  switch (refusal.type) {
    case "mismatch":
      return [0, [...refusal.versions].sort((a, b) => a - b).map(toWire)];
    case "undecoded":
      return [1, toWire(refusal.version), refusal.text];
    case "refused":
      return [2, toWire(refusal.version), refusal.text];
  }
}

function readTable(item: Item | undefined): VersionTable {
  const versions = new Map<number, VersionData | undefined>();
  for (const [key, data] of as(item, "map").value) {
    // versions of other protocols (node-to-node versions lack the bit) are ignored
    const number = key.type === "int" ? Number(key.value) : -1;
    if (number !== 1 && !(number >= 0x8000 && number <= 0xffff)) continue;
    const version = fromWire(number);
    versions.set(version, readData(version, data));
  }
  return versions;
}

function readData(version: number, item: Item | undefined): VersionData | undefined {
  if (version <= LAST_BARE) return item?.type === "int" ? { magic: Number(item.value), query: false } : undefined;
  if (item?.type !== "array" || item.value.length !== 2) return undefined;
  const [magic, query] = item.value;
  if (magic?.type !== "int" || magic.value < 0n || magic.value > 0xffffffffn || query?.type !== "bool") {
    return undefined;
  }
  return { magic: Number(magic.value), query: query.value };
}

function readRefusal(item: Item | undefined): HandshakeRefusal {
  const { tag, rest } = messageParts(as(item, "array"));
  if (tag === 0) {
    requireCount(1, rest);
    return {
      type: "mismatch",
      versions: as(rest[0], "array").value.map((version) => fromWire(readSmallNumber(version))),
    };
  }
  requireCount(2, rest);
  if (tag > 2) throw new CborError("an unknown reason of a refusal");
  const version = fromWire(readSmallNumber(rest[0]));
  return { type: tag === 1 ? "undecoded" : "refused", version, text: as(rest[1], "text").value };
}
