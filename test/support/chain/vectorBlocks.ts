/** Real blocks from the vectors. */
import { readdirSync, readFileSync } from "node:fs";
import { as, decode } from "#src/cardano/cbor.ts";
import { fromHex } from "#src/base/bytes.ts";
import { Walk } from "#src/cardano/walk.ts";
import { vectors } from "../base/vectors.ts";

const folder = vectors("blocks");

/** The entry of a block in `index.json`. */
export interface Single {
  readonly file: string;
  readonly era: number;
  readonly slot: number;
  readonly height: number;
  readonly txs: number;
  readonly size: number;
  readonly hash: string;
  readonly prev: string | null;
}

/** The entry of a run of blocks in `index.json`. */
export interface Chunk {
  readonly file: string;
  readonly blocks: number;
  readonly txs: number;
  readonly firstHash: string;
  readonly lastHash: string;
  readonly lastSlot: number;
  readonly lastHeight: number;
}

function index<T>(path: string): T[] {
  return JSON.parse(readFileSync(`${folder}/${path}`, "utf8")) as T[];
}

/** Content of a file of the folder. */
export function blockFile(path: string): Uint8Array {
  return new Uint8Array(readFileSync(`${folder}/${path}`));
}

/** Single blocks, Byron to Conway. */
export const singles: readonly Single[] = index<Single>("single/index.json").filter(({ era }) => era <= 7);

/** Runs of linked blocks. */
export const chunks: readonly Chunk[] = index<Chunk>("chain/index.json");

/** The blocks of a run, each `[era, block]`. */
export function blocksOf(chunk: Chunk): Uint8Array[] {
  const walk = new Walk(blockFile(chunk.file));
  const blocks: Uint8Array[] = [];
  while (walk.at < walk.source.length) blocks.push(walk.raw());
  return blocks;
}

/**
 * Captured blocks in the form in which a node sends them: by name, `[era, block]` extracted from tag 24 and its
 * message.
 */
export function capturedBlocks(): { readonly name: string; readonly bytes: Uint8Array }[] {
  const captures = `${folder}/captures`;
  const messages = readdirSync(captures).filter((name) => name.startsWith("rollforward_ntc"));
  const rolled = messages.map((name) => {
    const message = decode(fromHex(readFileSync(`${captures}/${name}`, "utf8").trim()));
    return { name, bytes: as(as(as(message, "array").value[1], "tag").value, "bytes").value };
  });
  const golden = readdirSync(`${captures}/ntc-golden`, { recursive: true, encoding: "utf8" })
    .filter((name) => /\/Block_/.test(name) && !name.endsWith("Dijkstra"))
    .map((name) => ({ name, bytes: new Walk(blockFile(`captures/ntc-golden/${name}`)).embedded() }));
  return [...rolled, ...golden];
}
