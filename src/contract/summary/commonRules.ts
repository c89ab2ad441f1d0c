/** Rules for every transaction before it is signed, whatever its intent. */
import type { Summary, SummaryInput } from "#src/contract/summary/schema.ts";
import type { Intent, Reason, Vouched } from "#src/contract/summary/intent.ts";
import {
  addressKey,
  check,
  DEFAULT_MAX_FEE,
  DEFAULT_MAX_LOCKED,
  isPlain,
  isWallet,
  ownerOf,
} from "#src/contract/summary/rules.ts";

/** Checks the rules that do not depend on the intent's type. */
export function* commonRules(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = DEFAULT_MAX_FEE, validUntil } = intent;
  const { from, until } = summary.validity;
  for (const { code, message } of summary.unknown) yield { code: `unknown_${code}`, message };
  yield* check(summary.valid, "invalid", "It is marked as failing in phase 2.");
  yield* check(summary.balanced === true, "unbalanced", "It does not spend exactly what it pays.");
  yield* check(summary.metadata.length === 0, "metadata", "It carries metadata.");
  yield* check(
    summary.fee >= 0n && summary.fee <= maxFee,
    "fee",
    `Its fee of ${summary.fee} lovelace is more than ${maxFee}.`,
  );
  yield* check(from === null, "valid_from", "It is not valid from now on.");
  yield* check(until !== null, "valid_until", "It is valid for ever.");
  yield* check(
    validUntil === undefined || (until !== null && until.slot <= BigInt(validUntil)),
    "valid_until",
    "Its validity interval ends too late.",
  );
  yield* signers(summary, intent);
  yield* money(summary, intent);
  yield* runs(summary, intent);
}

/** Only the requester signs and, in a transfer, the next owner. */
function* signers(summary: Summary, intent: Intent): Generator<Reason> {
  const next = intent.type === "transfer" ? ownerOf(intent.to) : undefined;
  for (const { key, requester, why } of summary.signers) {
    const mayAgree = key === next && why.every((one) => one === "required");
    yield* check(requester || mayAgree, "signer", `It asks for a signature of the key ${key}.`);
  }
  const agrees = (who: (signer: Summary["signers"][number]) => boolean) =>
    summary.signers.some((signer) => who(signer) && signer.why.includes("required"));
  const own = addressKey(summary.address ?? "");
  yield* check(
    agrees(({ key }) => key === own) === summary.scripts.length > 0,
    "signer",
    "The requester's signature is required without need, or is needed but not required.",
  );
  yield* check(
    next === undefined || agrees(({ key }) => key === next),
    "signer",
    "The signature of the next owner is not required.",
  );
}

/** Wallet inputs belong to the requester, the rest returns to the requester, and the collateral at risk is bounded. */
function* money(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = DEFAULT_MAX_FEE, maxLocked = DEFAULT_MAX_LOCKED, maxCollateral = 2n * maxFee } = intent;
  for (const input of summary.spends) {
    const meant = input.output?.whose === "contract" && input.output.holds !== null;
    yield* check(isWallet(input) || meant, "input", `It spends ${input.outputRef}, which is none of the requester's.`);
  }
  for (const { index, purpose, address, amount } of summary.pays) {
    const isPaid = amount.lovelace > 0n && Object.values(amount.assets).every((quantity) => quantity > 0n);
    yield* check(isPaid, "amount", `Its output ${index} has an amount of ada or of an asset that is not positive.`);
    yield* check(purpose !== "payment", "payment", `Its output ${index} pays ${address}.`);
  }
  const { collateral, net } = summary;
  if (collateral !== null) {
    yield* check(summary.scripts.length > 0, "collateral", "It puts up collateral, and runs no script.");
    for (const input of collateral.inputs) {
      yield* check(isWallet(input), "collateral", `Its collateral ${input.outputRef} is none of the requester's.`);
    }
    const back = collateral.return;
    yield* check(
      back === null || (back.whose === "requester" && isPlain(back)),
      "collateral",
      "Its collateral does not return to the requester.",
    );
    yield* check(
      collateral.total !== null && collateral.total === collateral.atRisk && collateral.total <= maxCollateral &&
        collateral.total >= 0n && returnsAssets(collateral),
      "collateral",
      `More than ${maxCollateral} lovelace of collateral is at risk.`,
    );
  } else yield* check(summary.scripts.length === 0, "collateral", "It runs scripts without collateral.");
  yield* check(
    net !== null && net.lovelace >= -(maxFee + maxLocked) &&
      Object.values(net.assets).every((quantity) => quantity >= 0n),
    "net",
    "It costs the requester more than intended.",
  );
}

/**
 * In `apply` and `transfer`, where others are paid, something other than the builder must vouch for the requester's inputs
 * or for the contract's. The ledger does so for inputs that are the collateral as well: the collateral return and the
 * total that the transaction states must add up to their true value.
 */
export function vouchingRules(summary: Summary, { type }: Intent, vouched: Vouched): Reason[] {
  if (type !== "apply" && type !== "transfer") return [];
  const claimed = (inputs: readonly SummaryInput[]) =>
    inputs.map(({ outputRef }) => outputRef).filter((ref) => !vouched(ref)).sort().join();
  const own = claimed(summary.spends.filter(isWallet));
  const others = claimed(summary.spends.filter((input) => !isWallet(input)));
  return check(
    own === "" || others === "" || own === claimed(summary.collateral?.inputs ?? []),
    "unvouched",
    "What it spends is known only from the builder.",
  );
}

function returnsAssets({ inputs, return: back }: NonNullable<Summary["collateral"]>): boolean {
  const sums = new Map<string, bigint>(Object.entries(back?.amount.assets ?? {}));
  for (const { output } of inputs) {
    for (const [asset, quantity] of Object.entries(output?.amount.assets ?? {})) {
      sums.set(asset, (sums.get(asset) ?? 0n) - quantity);
    }
  }
  return [...sums.values()].every((quantity) => quantity === 0n);
}

/** Only the contract runs, and exactly one copy of it is provided: as a reference script or in the witnesses. */
function* runs(summary: Summary, { policy }: Intent): Generator<Reason> {
  const wrong = (hash: string | null) => hash === null || (policy !== undefined && hash !== policy);
  for (const { hash, purpose, index } of summary.scripts) {
    yield* check(!wrong(hash), "script", `Another script runs (${purpose} ${index}).`);
  }
  const carried = [...summary.attached, ...summary.references.map(({ output }) => output?.script ?? null)];
  for (const script of carried) {
    yield* check(
      script !== null && script.version !== null && !wrong(script.hash),
      "script",
      "It attaches another script.",
    );
  }
  const needed = Math.min(1, summary.scripts.length);
  yield* check(carried.length === needed, "script", `It brings ${carried.length} scripts, and needs ${needed}.`);
}
