/**
 * A relay on gouroboros (Go) or pallas (Rust), between a node's socket and its client: it decodes and encodes
 * everything that passes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import process from "node:process";
import { inject } from "vitest";
import type {} from "./build.ts";
import { endChild } from "../support/base/processes.ts";
import { until } from "../support/base/until.ts";
import { socketPath } from "../support/chain/nodeChain.ts";

/** Whether the relay on gouroboros is available. */
export const hasRelay = inject("relay") !== "";
/** Whether the one on pallas is available. */
export const hasPallas = inject("pallas") !== "";

/** A block as decoded by the relay, or the error. */
export interface RelayedBlock {
  readonly slot: number;
  readonly height: number;
  readonly hash: string;
  readonly previous: string;
  readonly transactions: number;
  /** Hashes of its transactions; only from pallas. */
  readonly ids?: readonly string[];
  readonly error?: string;
}

/** The verdict on a submitted transaction. */
export interface RelayedVerdict {
  readonly hash: string;
  readonly bytes: number;
  /** Number of scripts that run. */
  readonly redeemers: number;
  /** Why gouroboros' rules refuse it; undefined if they do not. */
  readonly gouroboros?: string;
  /** CBOR of the node's refusal; undefined where it was accepted. */
  readonly node?: string;
  /** The refusal as decoded by the relay. */
  readonly reason?: string;
  /** The error of its decoder. */
  readonly unread?: string;
  /** Set if pallas encodes it differently from the node: the node's own bytes are forwarded then. */
  readonly unwritten?: true;
}

/** A query, as decoded by pallas. */
export interface RelayedQuery {
  /** Its name; undefined if it could not be decoded. */
  readonly query?: string;
  /** "re-encoded", "read", "untyped", or why the answer could not be decoded. */
  readonly answer?: string;
}

export interface Relay {
  /** Its node socket. */
  readonly path: string;
  readonly blocks: RelayedBlock[];
  readonly verdicts: RelayedVerdict[];
  /** What pallas reports. */
  readonly queries: RelayedQuery[];
  /** Versions of the protocol that pallas negotiated with the node, by connection. */
  readonly versions: number[];
  /** How often the node made pallas wait. */
  readonly awaits: () => number;
  /** The first verdict on a transaction; waits for it. */
  verdict(hash: string): Promise<RelayedVerdict>;
  /** Why connections ended. */
  readonly closed: string[];
  /** SIGKILL: its socket's file stays, as after a node that crashed. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Ends it and removes its socket. */
  stop(): Promise<void>;
}

/** Starts a relay to the node at a socket, on the network with the magic 42. */
export async function startRelay(node: string, by: "relay" | "pallas" = "relay"): Promise<Relay> {
  const path = socketPath();
  const blocks: RelayedBlock[] = [];
  const verdicts: RelayedVerdict[] = [];
  const queries: RelayedQuery[] = [];
  const versions: number[] = [];
  const closed: string[] = [];
  let awaits = 0;
  let child: ChildProcess | undefined;
  const start = async () => {
    await rm(path, { force: true });
    const started = spawn(inject(by), ["-node", node, "-socket", path], { stdio: ["ignore", "pipe", "inherit"] });
    child = started;
    await new Promise<void>((resolve, reject) => {
      started.once("error", reject);
      started.once("exit", (code) => reject(new Error(`the relay ended with ${code}`)));
      createInterface({ input: started.stdout! }).on("line", (text) => {
        if (process.env.ARBOR_TEST_OUTPUT) console.log(text);
        const { event, ...line } = JSON.parse(text);
        if (event === "ready") resolve();
        if (event === "block") blocks.push(line);
        if (event === "verdict") verdicts.push(line);
        if (event === "query") queries.push(line);
        if (event === "version") versions.push(line.version);
        if (event === "await") awaits++;
        if (event === "closed") closed.push(line.why);
      });
    });
  };
  const kill = async () => {
    if (child) await endChild(child, "SIGKILL");
    child = undefined;
  };
  await start();
  return {
    path,
    blocks,
    verdicts,
    queries,
    versions,
    awaits: () => awaits,
    verdict: async (hash) => {
      const first = () => verdicts.find((verdict) => verdict.hash === hash);
      await until(`the verdict on ${hash}`, () => Promise.resolve(first() !== undefined));
      return first()!;
    },
    closed,
    start,
    kill,
    stop: async () => {
      await kill();
      await rm(path, { force: true });
    },
  };
}
