/** What acknowledged operations promise, and whether their transactions do that. */
import { saysSpent } from "#src/cardano/failureText.ts";
import type { Outcome, Person } from "./disorderPeople.ts";
import {
  leastLovelace,
  leastPayment,
  type PlainChange,
  type PlainContract,
  type PlainState,
  type PlainStep,
} from "./plainChain.ts";

/** An operation that was acknowledged. */
export interface Promised {
  readonly kind: "fund" | "boot" | "request" | "update" | "retract" | "transfer" | "end" | "pay";
  readonly by: Person;
  /** The transaction; of a boot by a signing instance only the token is known. */
  hash?: string;
  readonly token?: string;
  readonly key?: string;
  readonly change?: PlainChange;
  /** References of the requests that it applies or retracts. */
  readonly requests?: readonly string[];
  readonly root?: string;
  readonly to?: Person;
  readonly amount?: bigint;
}

/** The ledger's order of inputs. */
export const byRef = (a: string, b: string): number =>
  a.slice(0, 64) === b.slice(0, 64) ? Number(a.slice(65)) - Number(b.slice(65)) : a < b ? -1 : 1;

/** Adds up how a promised transaction changes each user's lovelace; gives where it is not what was promised. */
export function explained(
  { kind, by, token, key, change: wanted, requests = [], root, to, amount = 0n }: Promised,
  { transaction: { fee, mint, outputs }, effect }: PlainStep,
  add: (person: Person, lovelace: bigint) => void,
  personOf: (address: string) => Person | undefined,
): string[] {
  const problems: string[] = [];
  const same = (what: string, is: unknown, should: unknown) => {
    if (JSON.stringify(is) !== JSON.stringify(should)) {
      problems.push(`${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`);
    }
  };
  const { booted, ended, moved, requested, applied, retracted } = effect;
  const does = { boot: booted?.id, end: ended?.id, move: moved?.after.id, requests: requested.length };
  const nothing = { boot: undefined, end: undefined, move: undefined, requests: 0 };
  const closes = [applied, retracted].map((some) => some.map(({ ref }) => ref).sort());
  const quantities = [...mint].map(([unit, quantity]) => [unit.slice(56), Number(quantity)]);
  if (kind === "fund") {
    add(by, amount);
    same("what it does", does, nothing);
    return problems;
  }
  if (fee < 155_381n || fee > 2_000_000n) problems.push(`the fee is ${fee}`);
  add(by, -fee);
  switch (kind) {
    case "boot":
      same("what it does", does, { ...nothing, boot: token });
      same("what it mints", quantities, [[token, 1]]);
      same("the owner", booted?.owner, by.keyHash);
      same("the root", booted?.root, "00".repeat(32));
      add(by, -(booted?.lovelace ?? 0n));
      break;
    case "end":
      same("what it does", does, { ...nothing, end: token });
      same("what it burns", quantities, [[token, -1]]);
      same("what it closes", closes, [[], []]);
      add(by, ended?.lovelace ?? 0n);
      break;
    case "request": {
      same("what it does", does, { ...nothing, requests: 1 });
      const [made] = requested;
      same("the request", made && [made.token, made.key, made.change, made.refund], [token, key, wanted, by.address]);
      if (made) {
        const output = outputs[Number(made.ref.slice(65))]!.output;
        const least = [leastLovelace(output), leastPayment(by.address) + made.tip].reduce((a, b) => a > b ? a : b);
        same("the deposit", String(made.deposit), String(least));
        add(by, -made.deposit);
      }
      break;
    }
    case "update":
    case "transfer":
      same("what it does", does, { ...nothing, move: token });
      same("what it closes", closes, [kind === "update" ? [...requests].sort() : [], []]);
      if (moved) {
        same("the owner", moved.after.owner, kind === "transfer" ? to?.keyHash : moved.before.owner);
        if (root !== undefined) same("the root", moved.after.root, root);
        add(by, moved.before.lovelace - moved.after.lovelace);
      }
      for (const { refund, deposit, tip } of applied) {
        const requester = personOf(refund);
        if (requester) add(requester, deposit - tip);
        else problems.push(`the refund goes to ${refund}`);
        add(by, tip);
      }
      break;
    case "retract":
      same("what it does", does, nothing);
      same("what it closes", closes, [[], [...requests].sort()]);
      for (const { deposit } of retracted) add(by, deposit);
      break;
    case "pay":
      same("what it does", does, nothing);
      same("what it closes", closes, [[], []]);
      if (!outputs.some(({ address, lovelace }) => address === to?.address && lovelace === amount)) {
        problems.push(`no output pays ${amount} lovelace to ${to?.name}`);
      }
      add(by, -amount);
      if (to) add(to, amount);
      break;
  }
  if (kind !== "boot" && kind !== "end") same("what it mints", quantities, []);
  return problems;
}

/**
 * What speaks against a refusal, once everything is in blocks and nothing was lost: what it says to be gone is there, or
 * the ledger misses a coin, which services must not spend twice.
 */
export function unjustified(
  { kind, by, token = "", requests = [] }: Promised,
  { code, details }: Outcome & { readonly ok: false },
  { tokens, open, utxos, transactions }: PlainState,
  contracts: readonly PlainContract[],
): string[] {
  const isOpen = (request: string) => open.has(request) ? [`the request ${request} is open`] : [];
  switch (code) {
    case "token_unknown":
      return [`there is the token ${token}`];
    case "token_ended":
      return tokens.has(token) ? [`the token ${token} lives`] : [];
    case "request_unknown":
    case "request_pending":
      return requests.flatMap(isOpen);
    case "requests_fail":
      return (details as { requests: { request: string; code: string }[] }).requests
        .filter((one) => one.code === "request_unknown" || one.code === "request_pending")
        .flatMap(({ request }) => isOpen(request));
    case "refused_by_ledger": {
      // a payment that the service has not built may take a coin of its builds
      if (kind === "pay" && by.means === "key") return [];
      const failures = details as { name: string; message?: string; inputs?: { txHash: string; index: number }[] }[];
      // a mempool does not say which: all inputs are
      if (failures.some((one) => one.name === "ConwayMempoolFailure" && saysSpent(one))) return [];
      const missing = failures.find(({ name }) => name === "BadInputsUTxO")?.inputs;
      if (missing === undefined) return [`only ${JSON.stringify(failures)} is said`];
      return missing.flatMap(({ txHash, index }) => {
        const output = transactions.get(txHash)?.transaction.outputs[index];
        if (utxos.has(`${txHash}-${index}`)) return [`${txHash}-${index} is unspent`];
        return contracts.some(({ address }) => address === output?.address) ? [] : [`${txHash}-${index} is a coin`];
      });
    }
    default:
      return [];
  }
}
