/**
 * Verification of complete answers of this service against the roots of other instances, by the verifiers of the client,
 * which are loaded for the first one.
 */
import { toHex } from "#src/base/bytes.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import { ApiError } from "#src/client/http.ts";
import type { LedgerQuestion, LedgerRequest } from "#src/client/ledgerAnswers.ts";
import type { ProvedFacts, ProvedRequests, ProvedTokens } from "#src/client/tokenTypes.ts";
import type { ChainPoint } from "#src/client/ledgerRoot.ts";
import { instances } from "./instances.ts";
import { get, LOCAL, readConfig } from "./service.ts";
import { itemsOf, type ProvenItems, requestContent, tokenContent } from "./shown.ts";

/** What is verified: all tokens, or what is of one token. */
export type Subject =
  | { readonly kind: "tokens" }
  | { readonly kind: "state" | "requests" | "facts"; readonly tokenId: string };

type Verifiers = typeof import("#src/client/ledgerAnswers.ts");

/** A verified answer. */
export interface Proven {
  /** The block after which it holds. */
  readonly point: ChainPoint;
  /** The instances that know the root after the block. */
  readonly from: readonly string[];
  /** Sentences that say what was checked, and what was not. */
  readonly checked: readonly string[];
  readonly notChecked: readonly string[];
  readonly items: ProvenItems;
  /** Outputs or facts in the answer. */
  readonly size: number;
}

/** Reads an answer with its proof, and verifies it against the instances that the reader named. Throws an `ApiError`. */
export async function prove(subject: Subject): Promise<Result<Proven, Failure>> {
  const [{ fetchTrustedRoot }, verifiers] = await modules();
  const [answer, { network }] = await Promise.all([get<ProvedAnswer>(pathOf(subject)), readConfig()]);
  const { urls, quorum } = instances.peek();
  const root = await fetchTrustedRoot(answer, { instances: urls, ...(quorum === undefined ? {} : { quorum }) });
  if (!root.ok) return root;
  const trusted = root.value;
  const verified = verify(verifiers, subject, answer, { trusted, network: network.id === 1 ? 1 : 0 });
  return verified.ok ? ok({ ...verified.value, from: trusted.from ?? [], size: sizeOf(answer) }) : verified;
}

const modules = () =>
  Promise.all([import("#src/client/ledgerRoot.ts"), import("#src/client/ledgerAnswers.ts")]).catch(() => {
    throw new ApiError(LOCAL, "no_client", "The module for verification could not be loaded. Try again.");
  });

type ProvedAnswer = Partial<ProvedTokens & ProvedRequests & Pick<ProvedFacts, "facts">>;

/** Of an answer that was verified. */
function sizeOf({ tokens = [], request_set: requests = [], facts = [] }: ProvedAnswer): number {
  return [...tokens, ...requests].reduce((sum, { entries }) => sum + entries.length, facts.length);
}

function pathOf(subject: Subject): string {
  if (subject.kind === "tokens") return "/tokens?proof=true";
  return `/token/${subject.tokenId}${subject.kind === "state" ? "" : `/${subject.kind}`}?proof=true`;
}

function verify(
  { verifyRequestSet, verifyTokenFacts, verifyTokenList, verifyTokenState }: Verifiers,
  subject: Subject,
  answer: unknown,
  question: LedgerQuestion,
): Result<Omit<Proven, "from" | "size">, Failure> {
  if (subject.kind === "tokens") {
    const list = verifyTokenList(answer, question);
    return list.ok ? ok({ ...list.value, items: itemsOf(list.value.tokens.map(tokenItem)) }) : list;
  }
  const { kind, tokenId } = subject;
  if (kind === "state") {
    const state = verifyTokenState(answer, { ...question, tokenId });
    return state.ok ? ok({ ...state.value, items: itemsOf([tokenItem(state.value.token)]) }) : state;
  }
  if (kind === "requests") {
    const set = verifyRequestSet(answer, { ...question, tokenId });
    return set.ok ? ok({ ...set.value, items: itemsOf(set.value.requests.map(requestItem)) }) : set;
  }
  const facts = verifyTokenFacts(answer, { ...question, tokenId });
  return facts.ok ? ok({ ...facts.value, items: itemsOf(facts.value.facts) }) : facts;
}

const tokenItem = (token: Parameters<typeof tokenContent>[0] & { readonly tokenId: string }) =>
  [token.tokenId, tokenContent(token)] as const;

function requestItem({ outputRefId, operation, key, ...request }: LedgerRequest): readonly [string, string] {
  const [oldValue, newValue] = operation.type === "insert"
    ? [undefined, operation.value]
    : operation.type === "delete"
    ? [operation.value, undefined]
    : [operation.old, operation.value];
  const change = {
    type: operation.type,
    key: toHex(key),
    oldValue: oldValue && toHex(oldValue),
    newValue: newValue && toHex(newValue),
  };
  return [outputRefId, requestContent({ ...request, change })];
}
