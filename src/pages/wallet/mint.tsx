// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** Tokens of the wallet's own policy: minted and burnt. */
import { useState } from "preact/hooks";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { ApiError } from "#src/client/http.ts";
import { Loaded, useData } from "../kit/data.tsx";
import { Form, SelectField, TextField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Choice, Facts, Panel } from "../kit/parts.tsx";
import { Empty } from "../kit/states.tsx";
import { readUnits } from "./amounts.ts";
import { type AssetBook, titleOf, useAssets } from "./assets.tsx";
import { PassphraseForm } from "./secrets.tsx";
import { send, type WalletSummary } from "./service.ts";
import { construct } from "./draft.ts";
import { useDraft } from "./signing.tsx";
import type { WalletTab } from "./tab.ts";

/** The policy: this wallet's policy key signs, without a time limit. */
const POLICY = "cosigner#0";
/** Bytes of an asset's name at most. */
const LONGEST = 32;

/** A wallet that an older release created has no policy key yet. */
function MakePolicyKey({ id, made }: { readonly id: string; readonly made: () => Promise<void> }) {
  return (
    <Panel title="Mint and burn">
      <p class="note">This wallet has no policy key yet. It is made from the wallet's keys, once.</p>
      <PassphraseForm
        verb="Make the policy key"
        run={async (passphrase) => {
          await send("POST", `/wallets/${id}/policy-key`, { passphrase });
          await made();
        }}
      />
    </Panel>
  );
}

type Way = "mint" | "burn";

/** What the reader has entered; it stays while a transaction is signed. */
interface Entry {
  readonly name: string;
  /** Name of the asset to burn; undefined for the first one. */
  readonly chosen: string | undefined;
  readonly text: string;
}

export function Mint({ wallet, reload }: WalletTab) {
  const { id } = wallet;
  const policy = useData(
    async () =>
      (await send<{ policy_id: string }>("POST", `/wallets/${id}/policy-id`, { policy_script_template: POLICY }))
        .policy_id,
    [id],
  );
  const book = useAssets(wallet);
  const lacksKey = policy.error instanceof ApiError && policy.error.code === "missing_policy_public_key";
  const [way, setWay] = useState<Way>("mint");
  const [entry, setEntry] = useState<Entry>({ name: "", chosen: undefined, text: "" });
  const change = (changed: Partial<Entry>) => setEntry((before) => ({ ...before, ...changed }));
  const { sign, signing } = useDraft({ wallet, reload }, () => change({ text: "" }));
  if (lacksKey) return <MakePolicyKey id={id} made={policy.reload} />;
  if (signing) return signing;
  return (
    <Panel
      title="Mint and burn"
      aside={
        <Choice label="Mint or burn" value={way} onChange={setWay} options={[["mint", "Mint"], ["burn", "Burn"]]} />
      }
    >
      <Loaded data={policy} rows={4}>
        {(policyId) => (
          <MintForm wallet={wallet} policyId={policyId} book={book.value} {...{ way, entry, change, sign }} />
        )}
      </Loaded>
    </Panel>
  );
}

function MintForm({ wallet, policyId, book, way, entry: { name, chosen, text }, change, sign }: {
  readonly wallet: WalletSummary;
  readonly policyId: string;
  readonly book: AssetBook | undefined;
  readonly way: Way;
  readonly entry: Entry;
  readonly change: (changed: Partial<Entry>) => void;
  readonly sign: ReturnType<typeof useDraft>["sign"];
}) {
  const own = wallet.availableAssets.filter(({ policy_id }) => policy_id === policyId);
  const burnt = own.find((one) => one.asset_name === chosen) ?? own[0];
  const assetName = way === "mint" ? toHex(utf8(name.trim())) : burnt?.asset_name;
  const long = (assetName?.length ?? 0) > 2 * LONGEST;
  // quantities of the ledger itself: decimals are for display alone
  const quantity = readUnits(text, 0, 2n ** 63n - 1n);
  const most = way === "burn" ? BigInt(burnt?.quantity ?? 0) : undefined;
  const tooMuch = quantity.ok && most !== undefined && quantity.value > most;
  const ready = quantity.ok && quantity.value > 0n && !tooMuch && !long && assetName !== undefined;
  const build = async () => {
    if (!ready) return;
    const operation = { [way]: { quantity: quantity.value } };
    sign(
      way === "mint" ? "Sign and mint" : "Sign and burn",
      await construct(wallet, {
        mint_burn: [{ policy_script_template: POLICY, asset_name: assetName, operation }],
      }, { mint: new Map([[policyId + assetName, way === "mint" ? quantity.value : -quantity.value]]) }),
    );
  };
  return (
    <>
      <Facts pairs={[["Policy of this wallet", <Id value={policyId} name="policy id" full />]]} />
      <p class="note">Only this wallet can mint and burn tokens of this policy, at any time.</p>
      {way === "burn" && own.length === 0
        ? <Empty title="This wallet has no tokens of its own policy to burn" />
        : (
          <Form verb="Review" disabled={!ready} run={build}>
            {way === "mint"
              ? (
                <TextField
                  label="Name of the token"
                  value={name}
                  onInput={(name) => change({ name })}
                  hint="At most 32 bytes; it may be empty. The same name again makes more of the same token."
                  error={long ? "This is longer than 32 bytes." : undefined}
                />
              )
              : (
                <SelectField
                  label="Token"
                  value={burnt?.asset_name ?? ""}
                  onChange={(chosen) => change({ chosen })}
                  options={own.map((one) =>
                    [
                      one.asset_name,
                      `${titleOf(book, policyId, one.asset_name)} (${one.quantity})`,
                    ] as const
                  )}
                />
              )}
            <TextField
              label="Quantity"
              value={text}
              onInput={(text) => change({ text })}
              inputMode="numeric"
              hint="Whole units."
              error={tooMuch
                ? "More than this wallet has available."
                : text.trim() !== "" && !quantity.ok
                ? quantity.problem
                : undefined}
            />
          </Form>
        )}
    </>
  );
}
