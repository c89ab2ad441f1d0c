/**
 * Reads of the tree over all unspent outputs, with proofs. All parts of an answer are read in one transaction, so they are of
 * one block. A tree that is not at the newest block, or does not agree with the outputs, gives `utxo_root_unavailable`.
 */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Point, Tip } from "#src/cardano/block.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { type OutRef, type Utxo, walkOutput } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import { dropTree, readPlace, readRootsOf, readRows, treeAt, type TreeTables } from "#src/chain/utxoRoot/treeRows.ts";
import { foldExclusion, foldInclusion } from "#src/csmt/fold.ts";
import { addressPrefix, keyBelow, outputKey, PREFIX_BITS } from "#src/csmt/key.ts";
import type { LoadedTree } from "#src/csmt/loading.ts";
import { canonicalOutput, outputValue } from "#src/csmt/output.ts";
import { encodeCompleteness, encodeExclusion, encodeInclusion } from "#src/csmt/proof.ts";
import { proveCompleteness, proveExclusion, proveInclusion } from "#src/csmt/prove.ts";
import { rowsAhead } from "#src/csmt/rows.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** Where the outputs of a tree are, by their owner. The functions run in a transaction that sees one state. */
export interface RootSource {
  readonly store: Pick<Store, "sql">;
  readonly tables: TreeTables;
  /** The newest block. */
  readonly tip: (sql: Queries) => Promise<Tip>;
  /** The slot of the network's newest block, while the rows are far behind it. */
  readonly behind?: (sql: Queries) => Promise<number | undefined>;
  /** The unspent ones of some outputs. */
  readonly unspent: (sql: Queries, refs: readonly OutRef[]) => Promise<readonly Utxo[]>;
  /** How many unspent outputs an address has (bytes in hexadecimal), and the bytes of their CBOR; of `most` at most. */
  readonly sizeAt: (sql: Queries, address: string, most: number) => Promise<OutputsSize>;
  /** The unspent outputs at an address, with their CBOR. */
  readonly unspentAt: (sql: Queries, address: string) => Promise<readonly EncodedOutput[]>;
  /** The roots of blocks of the chain, newest first. */
  readonly roots: (sql: Queries) => Promise<readonly BlockRoot[]>;
}

/** How many outputs there are, and the bytes of their CBOR. */
export interface OutputsSize {
  readonly count: number;
  readonly bytes: number;
}

/** The root after a block; null: no output. */
export interface BlockRoot extends Point {
  readonly root: Uint8Array | null;
}

/** An output and its CBOR. */
export interface EncodedOutput {
  readonly ref: OutRef;
  readonly cbor: Uint8Array;
}

/** A statement about the set, at one block. */
export interface Proved<T> {
  readonly at: BlockRoot;
  readonly value: T;
  readonly proof: Uint8Array;
}

/** Reads of several parts of one answer, in one transaction. */
interface PointReads {
  readonly at: BlockRoot;
  /** The transaction, for rows beside those of the outputs. */
  readonly sql: Queries;
  /** As `UtxoRootReads.output`. */
  output(ref: OutRef): Promise<Proved<EncodedOutput> | undefined>;
  /** As `UtxoRootReads.address`; undefined: the address has too many outputs, or too large ones. */
  address(address: string): Promise<Proved<readonly EncodedOutput[]> | undefined>;
}

export type RootUnavailable = Failure<"utxo_root_unavailable">;

/** Outputs of an address that one answer has, and the bytes of their CBOR, at most. */
const MOST_OUTPUTS = 20_000;
const MOST_BYTES = 16_000_000;

type TooLarge = Failure<"too_many_outputs" | "answer_too_large">;

export class UtxoRootReads {
  constructor(private readonly source: RootSource) {}

  /** The newest block with its root. */
  root(): Promise<Result<BlockRoot, RootUnavailable>> {
    return this.#read((_, { at }) => Promise.resolve(at));
  }

  /** The roots of the newest blocks, newest first. */
  roots(): Promise<Result<readonly BlockRoot[], RootUnavailable>> {
    return this.#read((sql) => this.source.roots(sql));
  }

  /** Roots after blocks, by hash, in a transaction of the caller; without those that are not kept. */
  rootsOf(sql: Queries, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array | null>> {
    return readRootsOf(sql, this.source.tables, hashes);
  }

  /** The slot of the network's newest block, that of the newest block here, and whether all reads answer. */
  async progress(): Promise<{ readonly tipSlot: number; readonly slot: number; readonly ready: boolean }> {
    return await this.#snapshot(async (sql) => {
      const { slot, hash } = await this.source.tip(sql);
      const ahead = await this.source.behind?.(sql);
      const hasTree = (await readPlace(sql, this.source.tables))?.hash === hash;
      return { tipSlot: ahead ?? slot, slot, ready: hasTree && ahead === undefined };
    });
  }

  /** Reads several parts of one answer, and other rows of the database, at one block. */
  together<T>(work: (reads: PointReads) => Promise<T>): Promise<Result<T, RootUnavailable>> {
    return this.#read((sql, state) =>
      work({
        at: state.at,
        sql,
        output: (ref) => this.#output(sql, state, ref),
        address: async (address) => {
          const read = await this.#address(sql, state, address);
          return read.ok ? read.value : undefined;
        },
      })
    );
  }

  /** An output, in the ledger's own encoding, with the proof that it is unspent; undefined if it is not. */
  output(ref: OutRef): Promise<Result<Proved<EncodedOutput> | undefined, RootUnavailable>> {
    return this.#read((sql, state) => this.#output(sql, state, ref));
  }

  /** Whether an address has an output of a reference, with the proof. */
  outputAt(
    address: string,
    ref: OutRef,
  ): Promise<Result<Proved<EncodedOutput | undefined>, RootUnavailable>> {
    return this.#read(async (sql, state): Promise<Proved<EncodedOutput | undefined>> => {
      const [utxo] = await this.source.unspent(sql, [ref]);
      if (utxo?.output.address === address) return await included(state, utxo);
      const { at, tree } = state;
      const proof = await tree.run((top) => proveExclusion(top, outputKey(address, ref)));
      if (proof === undefined || (proof && !isRoot(at, foldExclusion(proof)))) throw damaged();
      return { at, value: undefined, proof: encodeExclusion(proof) };
    });
  }

  /** All outputs of an address, in the order of their references' encodings, with the proof that there are no others. */
  async address(
    address: string,
  ): Promise<Result<Proved<readonly EncodedOutput[]>, RootUnavailable | TooLarge>> {
    const read = await this.#read((sql, state) => this.#address(sql, state, address));
    return read.ok ? read.value : read;
  }

  /** The unspent outputs at an address, without a proof. */
  async unspentAt(address: string): Promise<Result<readonly EncodedOutput[], RootUnavailable | TooLarge>> {
    const read = await this.#read((sql) => this.#unspentAt(sql, address));
    if (!read.ok) return read;
    if (!read.value.ok) return read.value;
    const pacer = new EventLoopPacer();
    const value: EncodedOutput[] = [];
    for (const { ref, cbor } of read.value.value) {
      value.push({ ref, cbor: canonical(cbor) });
      await pacer.step();
    }
    return ok(value);
  }

  async #output(sql: Queries, state: RootState, ref: OutRef): Promise<Proved<EncodedOutput> | undefined> {
    const [utxo] = await this.source.unspent(sql, [ref]);
    return utxo && await included(state, utxo);
  }

  /** The outputs at an address, as the rows have them. */
  async #unspentAt(sql: Queries, address: string): Promise<Result<readonly EncodedOutput[], TooLarge>> {
    const { count, bytes } = await this.source.sizeAt(sql, address, MOST_OUTPUTS + 1);
    if (count > MOST_OUTPUTS) {
      return fail("too_many_outputs", `The address has more than ${MOST_OUTPUTS} outputs.`, { most: MOST_OUTPUTS });
    }
    if (bytes > MOST_BYTES) {
      return fail(
        "answer_too_large",
        `The outputs of the address have ${bytes} bytes; at most ${MOST_BYTES} are given.`,
        {
          mostBytes: MOST_BYTES,
        },
      );
    }
    return ok(await this.source.unspentAt(sql, address));
  }

  async #address(
    sql: Queries,
    { at, tree }: RootState,
    address: string,
  ): Promise<Result<Proved<readonly EncodedOutput[]>, TooLarge>> {
    const read = await this.#unspentAt(sql, address);
    if (!read.ok) return read;
    const outputs = read.value;
    const prefix = addressPrefix(address);
    const below = toHex(prefix).slice(0, PREFIX_BITS / 4);
    tree.add(await readRows(sql, this.source.tables, rowsAhead([prefix]), below));
    const { proof, elements } = await tree.run((top) => proveCompleteness(top, prefix));
    const pacer = new EventLoopPacer();
    const byKey = new Map<string, EncodedOutput>();
    for (const output of outputs) {
      byKey.set(toHex(keyBelow(prefix, output.ref)), output);
      await pacer.step();
    }
    const value: EncodedOutput[] = [];
    for (const { path, value: digest } of elements) {
      const output = byKey.get(toHex(path));
      const cbor = output && canonical(output.cbor);
      if (!output || !cbor || !equalBytes(digest, blake2b256(cbor))) throw damaged();
      value.push({ ref: output.ref, cbor });
      await pacer.step();
    }
    if (value.length !== outputs.length) throw damaged();
    return ok({ at, value, proof: encodeCompleteness(proof) });
  }

  /** Reads with the tree at the newest block, in one transaction. A damaged tree is given up, so that it is built again. */
  async #read<T>(work: (sql: Queries, state: RootState) => Promise<T>): Promise<Result<T, RootUnavailable>> {
    const { store, tables, tip: readTip } = this.source;
    let damagedAt: string | undefined;
    const read = await this.#snapshot(async (sql) => {
      const { slot, hash } = await readTip(sql);
      if (await this.source.behind?.(sql) !== undefined) {
        return unavailable("The index of the chain is far behind the network's newest block.");
      }
      const place = await readPlace(sql, tables);
      if (place?.hash !== hash) return unavailable("The tree of the unspent outputs is not at the newest block yet.");
      try {
        return ok(await work(sql, { at: { slot, hash, root: place.root }, tree: treeAt(sql, tables, place) }));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        damagedAt = hash;
        return unavailable("The tree of the unspent outputs is damaged; it is built again with the next block.");
      }
    });
    if (damagedAt !== undefined) await dropTree(store.sql, tables, damagedAt);
    return read;
  }

  async #snapshot<T>(work: (sql: Queries) => Promise<T>): Promise<T> {
    const { done } = await this.source.store.sql.begin(
      "isolation level repeatable read read only",
      async (sql) => ({ done: await work(sql) }),
    );
    return done;
  }
}

interface RootState {
  readonly at: BlockRoot;
  readonly tree: LoadedTree;
}

async function included({ at, tree }: RootState, { ref, output }: Utxo): Promise<Proved<EncodedOutput>> {
  const proof = await tree.run((top) => proveInclusion(top, outputKey(output.address, ref)));
  if (!proof || !equalBytes(proof.value, outputValue(output)) || !isRoot(at, foldInclusion(proof))) throw damaged();
  return { at, value: { ref, cbor: canonicalOutput(output) }, proof: encodeInclusion(proof) };
}

/** An output in the ledger's own encoding, by its bytes in a transaction. */
function canonical(cbor: Uint8Array): Uint8Array {
  return canonicalOutput(walkOutput(new Walk(cbor)));
}

function isRoot({ root }: BlockRoot, folded: Uint8Array | undefined): boolean {
  return root !== null && folded !== undefined && equalBytes(root, folded);
}

function damaged(): RangeError {
  return new RangeError("the tree is not that of the outputs");
}

function unavailable(message: string) {
  return fail("utxo_root_unavailable", message);
}
