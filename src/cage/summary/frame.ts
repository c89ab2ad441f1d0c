/** What holds for every transaction that somebody is to sign, whatever it is for. */
import type { Summary, SummaryInput } from "#src/api/summary.ts";
import type { Intent, Reason, Vouched } from "#src/cage/summary/intent.ts";
import { isPlain, isWallet, MOST_FEE, MOST_LOCKED, ownerOf, unless } from "#src/cage/summary/rules.ts";

/** What holds for every transaction of the service. */
export function* frame(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = MOST_FEE, validUntil } = intent;
  const { from, until } = summary.validity;
  for (const { code, message } of summary.unknown) yield { code: `unknown_${code}`, message };
  yield* unless(summary.valid, "invalid", "It says of itself that its scripts fail.");
  yield* unless(summary.balanced === true, "unbalanced", "It does not spend exactly what it pays.");
  yield* unless(summary.metadata.length === 0, "metadata", "It carries metadata.");
  yield* unless(
    summary.fee >= 0n && summary.fee <= maxFee,
    "fee",
    `Its fee of ${summary.fee} lovelace is more than ${maxFee}.`,
  );
  yield* unless(from === null, "valid_from", "It is not valid from now on.");
  yield* unless(until !== null, "valid_until", "It is valid for ever.");
  yield* unless(
    validUntil === undefined || (until !== null && until.slot <= BigInt(validUntil)),
    "valid_until",
    "It stays valid for longer than is meant.",
  );
  yield* signers(summary, intent);
  yield* money(summary, intent);
  yield* runs(summary, intent);
}

/** Nobody but the requester signs, and whoever takes a token over. */
function* signers(summary: Summary, intent: Intent): Generator<Reason> {
  const next = intent.type === "transfer" ? ownerOf(intent.to) : undefined;
  for (const { key, requester, why } of summary.signers) {
    const mayAgree = key === next && why.every((one) => one === "required");
    yield* unless(requester || mayAgree, "signer", `It asks for a signature of the key ${key}.`);
  }
  const agrees = (who: (signer: Summary["signers"][number]) => boolean) =>
    summary.signers.some((signer) => who(signer) && signer.why.includes("required"));
  yield* unless(
    agrees(({ requester }) => requester) === summary.scripts.length > 0,
    "signer",
    "Scripts see the requester's signature without need, or need it and do not see it.",
  );
  yield* unless(
    next === undefined || agrees(({ key }) => key === next),
    "signer",
    "The next owner does not have to agree.",
  );
}

/** Wallet inputs are the requester's, what is not meant to be elsewhere comes back to him, and little is at risk. */
function* money(summary: Summary, intent: Intent): Generator<Reason> {
  const { maxFee = MOST_FEE, maxLocked = MOST_LOCKED, maxCollateral = 2n * maxFee } = intent;
  for (const input of summary.spends) {
    const meant = input.output?.whose === "contract" && input.output.holds !== null;
    yield* unless(isWallet(input) || meant, "input", `It spends ${input.outputRef}, which is none of the requester's.`);
  }
  for (const { index, purpose, address, amount } of summary.pays) {
    const isPaid = amount.lovelace > 0n && Object.values(amount.assets).every((quantity) => quantity > 0n);
    yield* unless(isPaid, "amount", `Its output ${index} holds less than something.`);
    yield* unless(purpose !== "payment", "payment", `Its output ${index} pays ${address}.`);
  }
  const { collateral, net } = summary;
  if (collateral !== null) {
    yield* unless(summary.scripts.length > 0, "collateral", "It puts up collateral, and runs no script.");
    for (const input of collateral.inputs) {
      yield* unless(isWallet(input), "collateral", `Its collateral ${input.outputRef} is none of the requester's.`);
    }
    const back = collateral.return;
    yield* unless(
      back === null || (back.whose === "requester" && isPlain(back)),
      "collateral",
      "Its collateral does not return to the requester.",
    );
    yield* unless(
      collateral.total !== null && collateral.total === collateral.atRisk && collateral.total <= maxCollateral &&
        collateral.total >= 0n && returnsAssets(collateral),
      "collateral",
      `More than ${maxCollateral} lovelace of collateral are at risk.`,
    );
  } else yield* unless(summary.scripts.length === 0, "collateral", "It runs scripts without collateral.");
  yield* unless(
    net !== null && net.lovelace >= -(maxFee + maxLocked) &&
      Object.values(net.assets).every((quantity) => quantity >= 0n),
    "net",
    "It takes more from the requester than is meant.",
  );
}

/** Where others are paid, what the requester puts in is known from elsewhere, or else what the contract does. */
export function vouching(summary: Summary, { type }: Intent, vouched: Vouched): Reason[] {
  if (type !== "apply" && type !== "transfer") return [];
  const known = (inputs: readonly SummaryInput[]) => inputs.every(({ outputRef }) => vouched(outputRef));
  const own = summary.spends.filter(isWallet);
  const others = summary.spends.filter((input) => !isWallet(input));
  return unless(known(own) || known(others), "unvouched", "Nobody but who built it says what it spends.");
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

/** Nothing runs but the contract, which is looked up in at most one place or travels along. */
function* runs(summary: Summary, { policy }: Intent): Generator<Reason> {
  const wrong = (hash: string | null) => hash === null || (policy !== undefined && hash !== policy);
  for (const { hash, purpose, index } of summary.scripts) {
    yield* unless(!wrong(hash), "script", `Another script runs (${purpose} ${index}).`);
  }
  const carried = [...summary.attached, ...summary.references.map(({ output }) => output?.script ?? null)];
  for (const script of carried) {
    yield* unless(
      script !== null && script.version !== null && !wrong(script.hash),
      "script",
      "It brings another script.",
    );
  }
  const needed = Math.min(1, summary.scripts.length);
  yield* unless(carried.length === needed, "script", `It brings ${carried.length} scripts, and needs ${needed}.`);
}
