/**
 * The checks of proofs as a client makes them, from the text of a response, and what they are measured against. It is
 * bundled and runs in Deno, Node and browsers.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concat, equalBytes, fromHex } from "#src/base/bytes.ts";
import { blake2b256, initHash } from "#src/cardano/hash.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { absentDuring, verifyKeyHistory } from "#src/client/keyHistory.ts";
import { verifyOffline } from "#src/client/offlineProof.ts";
import { verifyFact } from "#src/client/proofs.ts";
import {
  type TrustedRoot,
  verifyRequestSet,
  verifyTokenFacts,
  verifyTokenList,
  verifyTokenState,
} from "#src/packages/clientLedger.ts";
import { verifyAddress, verifyNoOutput, verifyOutput } from "#src/csmt/verify.ts";
import { acceptCheckpoint, parsePolicy, type Policy } from "#src/tlog/policy.ts";
import { parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";
import { verifyConsistency } from "#src/tlog/tree.ts";
import { openAddCheckpoint } from "#src/tlog/witness.ts";

/** What the reader of a proof knows. */
export interface ProofQuestion {
  readonly trusted: TrustedRoot;
  readonly tokenId: string;
  readonly key: string;
  /** Root of the token's facts. */
  readonly root: string;
  readonly address: string;
  readonly ref: OutRef;
  readonly policy: string;
  /** Root of the smaller log. */
  readonly before: string;
}

/** A proof to verify: the text of a response. */
export interface ProofCase {
  readonly name: string;
  readonly check: CheckName;
  readonly text: string;
  readonly question: Partial<ProofQuestion>;
  /** Whether the hash in WebAssembly is loaded before. */
  readonly fast: boolean;
}

type CheckName = keyof typeof CHECKS;

/** The first state of a history: the one before it has facts that no request set. */
const FIRST = 1;

const rootOf = ({ trusted }: ProofQuestion) => trusted.utxoRoot === null ? null : fromHex(trusted.utxoRoot);

function policyOf({ policy }: ProofQuestion): Policy {
  const parsed = parsePolicy(policy);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

const CHECKS = {
  output: (text: string, question: ProofQuestion) => {
    const { address, ref } = question;
    const { output, proof } = JSON.parse(text);
    return output === null
      ? verifyNoOutput(rootOf(question), { address, ref }, fromHex(proof)).ok
      : verifyOutput(rootOf(question), { ref, cbor: fromHex(output) }, fromHex(proof)).ok;
  },
  address: (text: string, question: ProofQuestion) => {
    const { entries, proof }: { entries: { txHash: string; index: number; cbor: string }[]; proof: string } = JSON
      .parse(text);
    const outputs = entries.map(({ txHash, index, cbor }) => ({ ref: { txHash, index }, cbor: fromHex(cbor) }));
    return verifyAddress(rootOf(question), { address: question.address, outputs }, fromHex(proof)).ok;
  },
  tokens: (text: string, question: ProofQuestion) => verifyTokenList(JSON.parse(text), question).ok,
  state: (text: string, question: ProofQuestion) => verifyTokenState(JSON.parse(text), question).ok,
  requests: (text: string, question: ProofQuestion) => verifyRequestSet(JSON.parse(text), question).ok,
  facts: (text: string, question: ProofQuestion) => verifyTokenFacts(JSON.parse(text), question).ok,
  fact: (text: string, { tokenId, key, root }: ProofQuestion) =>
    verifyFact(JSON.parse(text), { tokenId, key, trusted: { root } }).ok,
  offline: (text: string, { policy }: ProofQuestion) => verifyOffline(JSON.parse(text), policy).ok,
  history: (text: string, { tokenId, key, policy }: ProofQuestion) =>
    verifyKeyHistory(JSON.parse(text), { tokenId, key, policy, from: FIRST }).ok,
  absence: (text: string, { tokenId, key, policy }: ProofQuestion) => {
    const verified = verifyKeyHistory(JSON.parse(text), { tokenId, key, policy, from: FIRST });
    return verified.ok && absentDuring(verified.value, verified.value.from, verified.value.to) === true;
  },
  logged: (text: string, question: ProofQuestion) => {
    const proof = parseLogProof(text);
    return proof.ok && proof.value.extra !== undefined &&
      verifyLogProof(policyOf(question), proof.value.extra, proof.value).ok;
  },
  consistency: (text: string, question: ProofQuestion) => {
    const opened = openAddCheckpoint(text, () => policyOf(question).logs.map(({ key }) => key));
    if (opened.type !== "open") return false;
    const { request: { before, proof }, signed: { checkpoint: { size, root } } } = opened;
    return verifyConsistency({ before, size, beforeRoot: fromHex(question.before), root, proof });
  },
};

function verify({ name, check, text, question }: ProofCase): void {
  // each check reads the members that its case has
  if (!CHECKS[check](text, question as ProofQuestion)) throw new Error(`${name} is not verified`);
}

/** Longest time of one case, about, and its least and most rounds. */
const CASE_MS = 400;
const [LEAST, MOST] = [2, 2_000];

/** Milliseconds of the first verification. */
export async function timeFirst(one: ProofCase): Promise<number> {
  if (one.fast) await initHash();
  const began = performance.now();
  verify(one);
  return performance.now() - began;
}

/**
 * Milliseconds of each, once it is warm: the lower quartile, which other load changes less than the median. Those without
 * the hash in WebAssembly have to come first.
 */
export async function timeAll(cases: readonly ProofCase[]): Promise<number[]> {
  const times: number[] = [];
  for (const one of cases) {
    if (one.fast) await initHash();
    times.push(quartile(one));
  }
  return times;
}

function quartile(one: ProofCase): number {
  const times: number[] = [];
  for (let spent = 0; times.length < LEAST || (spent < CASE_MS && times.length < MOST);) {
    const began = performance.now();
    verify(one);
    times.push(performance.now() - began);
    spent += times.at(-1) ?? 0;
  }
  // the first ones are not warm
  const later = times.slice(Math.floor(times.length / 3)).sort((a, b) => a - b);
  return later[Math.floor(later.length / 4)] ?? NaN;
}

/** Hashes from a leaf to the root of a binary tree of 100,000 leaves. */
const PATH = 17;

/** A proof of the plainest kind: the other hash at each level of a binary tree. */
function plainProof(leaf: Uint8Array, path: readonly Uint8Array[]): Uint8Array {
  return path.reduce(
    (hash, other) => sha256(concat(Uint8Array.of(1), hash, other)),
    sha256(concat(Uint8Array.of(0), leaf)),
  );
}

/** What bounds the checks: hashes, signatures, and a Merkle proof of the plainest kind, each in microseconds. */
export async function timeFloor(policy: string, checkpoint: string): Promise<[name: string, microseconds: number][]> {
  const pair = new Uint8Array(64).fill(7);
  const before = micro(() => blake2b256(pair));
  await initHash();
  const path = Array.from({ length: PATH }, (_, i) => sha256(Uint8Array.of(i)));
  const root = plainProof(pair, path);
  const known = parsePolicy(policy);
  if (!known.ok) throw new Error(known.error.message);
  return [
    ["blake2b-256 of 64 bytes", before],
    ["the same after `initHash()`", micro(() => blake2b256(pair))],
    ["SHA-256 of 65 bytes", micro(() => sha256(concat(Uint8Array.of(1), pair)))],
    [`plain Merkle proof, ${PATH} hashes (${32 * PATH} bytes)`, micro(() => equalBytes(plainProof(pair, path), root))],
    [
      "two signatures of a checkpoint",
      micro(() => {
        if (!acceptCheckpoint(known.value, checkpoint).ok) throw new Error("the checkpoint is not accepted");
      }),
    ],
  ];
}

/** Microseconds of some work: the least of three times 200 ms, since the first ones are not warm. */
function micro(work: () => unknown): number {
  const passes = [0, 1, 2].map(() => {
    let rounds = 0;
    const began = performance.now();
    for (; performance.now() - began < 200; rounds++) work();
    return (performance.now() - began) * 1_000 / rounds;
  });
  return Math.min(...passes);
}
