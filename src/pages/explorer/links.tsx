/** Links to what ids name, and amounts of assets. */
import { hrefOf } from "../kit/router.ts";
import { Ada, Amount } from "../kit/amounts.tsx";
import { Badge } from "../kit/parts.tsx";
import { Id } from "../kit/Id.tsx";
import type { Amount as Quantity } from "./api.ts";
import { assetParts, pageOf, pageOfText, sentenceParts } from "./names.ts";

/** An id as a link to its page. */
export function Ref({ kind, id, full = false, ends }: {
  readonly kind:
    | "block"
    | "transaction"
    | "address"
    | "account"
    | "asset"
    | "policy"
    | "pool"
    | "script"
    | "datum"
    | "drep"
    | "action";
  readonly id: string;
  readonly full?: boolean;
  readonly ends?: number;
}) {
  const page = pageOf(kind, id);
  const names = {
    transaction: "transaction hash",
    block: "block hash",
    script: "script hash",
    drep: "representative",
    action: "governance action",
  };
  const name = kind in names ? names[kind as keyof typeof names] : kind;
  return (
    <Id
      value={id}
      href={page === undefined ? undefined : hrefOf(page)}
      full={full}
      name={name}
      {...(ends === undefined ? {} : { ends })}
    />
  );
}

/** A vote. */
export const VoteBadge = ({ vote }: { readonly vote: string }) => (
  <Badge tone={vote === "yes" ? "good" : vote === "no" ? "bad" : "quiet"}>{vote}</Badge>
);

/** A text that may be an id with a page of its own. */
export function Linked({ text }: { readonly text: string }) {
  const page = pageOfText(text);
  if (page !== undefined) return <Id value={text} href={hrefOf(page)} />;
  return /^[0-9a-z_#]{40,}$/.test(text) ? <Id value={text} /> : <bdi>{text}</bdi>;
}

/** The name of an asset as a link to its page. */
export function AssetLink({ unit, withPolicy = true }: {
  readonly unit: string;
  /** Whether the policy is named too; a table has it in a column of its own. */
  readonly withPolicy?: boolean;
}) {
  const { policy, name, role } = assetParts(unit);
  return (
    <span class="asset-name">
      <a href={hrefOf(pageOf("asset", unit))} title={unit}>
        <bdi>{name === "" ? "(no name)" : name.length > 32 ? `${name.slice(0, 14)}…${name.slice(-8)}` : name}</bdi>
      </a>
      <span class="note">{role === undefined ? "" : ` ${role}`}{withPolicy && ` of ${policy.slice(0, 8)}…`}</span>
    </span>
  );
}

/** Lovelace and assets, each on a line of its own; many assets are folded. `signed`: with a plus where they are positive. */
export function Holding({ lovelace, assets, signed = false }: {
  readonly lovelace: bigint | number | string;
  readonly assets: readonly Quantity[];
  readonly signed?: boolean;
}) {
  const list = (some: readonly Quantity[]) => (
    <ul class="assets">
      {some.map(({ unit, quantity }) => (
        <li key={unit}>
          <Amount amount={quantity} signed={signed} /> <AssetLink unit={unit} />
        </li>
      ))}
    </ul>
  );
  const shown = 4;
  return (
    <div class="holding">
      <Ada lovelace={lovelace} signed={signed} />
      {assets.length > 0 && list(assets.slice(0, shown))}
      {assets.length > shown && (
        <details>
          <summary>{`${assets.length - shown} more assets`}</summary>
          {list(assets.slice(shown, 500))}
          {assets.length > 500 && <p class="note">{`and ${assets.length - 500} more`}</p>}
        </details>
      )}
    </div>
  );
}

/** As `Holding`, for a list in the paths of Blockfrost. */
export function Amounts({ of }: { readonly of: readonly Quantity[] }) {
  const lovelace = of.find(({ unit }) => unit === "lovelace")?.quantity ?? "0";
  return <Holding lovelace={lovelace} assets={of.filter(({ unit }) => unit !== "lovelace")} />;
}

/** The assets of a record of quantities by unit. */
export const assetsIn = (record: Readonly<Record<string, number | bigint>>): Quantity[] =>
  Object.entries(record).map(([unit, quantity]) => ({ unit, quantity: String(quantity) }));

/** A sentence of the ledger, with its ids shortened and linked and its amounts in ada. */
export function Sentence({ text }: { readonly text: string }) {
  return (
    <span class="reason" dir="auto">
      {sentenceParts(text).map((part, i) => {
        if (part.kind === "words") return <bdi key={i}>{part.text}</bdi>;
        return part.kind === "id" ? <Linked key={i} text={part.text} /> : <Ada key={i} lovelace={part.amount} />;
      })}
    </span>
  );
}
