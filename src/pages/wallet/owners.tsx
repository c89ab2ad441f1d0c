/** The owners of a shared wallet: who has joined, and what each has to send to whom. */
import { useState } from "preact/hooks";
import { Loaded, useData } from "../kit/data.tsx";
import { Form, TextField } from "../kit/forms.tsx";
import { copyText, Id } from "../kit/Id.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { toast } from "../kit/toast.tsx";
import { invitationText, isAccountKey, readInvitation } from "./invitation.ts";
import { slotTimeText } from "./network.tsx";
import type { KeyedTemplate, Template } from "./ownKeys.ts";
import { ownerName, ownersIn, scriptWords } from "./scripts.ts";
import { read, send } from "./service.ts";
import type { WalletTab } from "./tab.ts";

export function Owners({ wallet, reload }: WalletTab) {
  const path = `/${wallet.prefix}/${wallet.id}/keys`;
  const own = useData((signal) => read<string>(path, { format: "extended" }, signal), [path]);
  const { payment } = wallet;
  if (payment === undefined) return null;
  return (
    <Loaded data={own} rows={6}>
      {(key) => <OwnersAndKeys wallet={wallet} reload={reload} payment={payment} ownKey={key} />}
    </Loaded>
  );
}

function OwnersAndKeys({ wallet, reload, payment, ownKey }: Pick<WalletTab, "wallet" | "reload"> & {
  readonly payment: KeyedTemplate;
  /** This wallet's key of an owner. */
  readonly ownKey: string;
}) {
  const { staking } = wallet;
  const rule = payment.template;
  const owners = ownersIn(rule);
  const missing = owners.filter((owner) => !(owner in payment.cosigners));
  const self = owners.find((owner) => payment.cosigners[owner] === ownKey);
  const invitation = invitationText({
    name: wallet.name,
    rule,
    delegates: staking !== undefined,
    keys: payment.cosigners,
  });
  return (
    <>
      <Rule rule={rule} staking={staking} self={self} />
      {self !== undefined && Object.keys(payment.cosigners).length > 1 && <OwnKey self={self} ownKey={ownKey} />}
      {missing.length > 0 && (
        <>
          <Invite missing={missing} invitation={invitation} />
          <AddKeys wallet={wallet} reload={reload} missing={missing} />
        </>
      )}
      <OwnersList owners={owners} self={self} cosigners={payment.cosigners} />
    </>
  );
}

function Rule({ rule, staking, self }: {
  readonly rule: Template;
  readonly staking: KeyedTemplate | undefined;
  readonly self: string | undefined;
}) {
  return (
    <Panel title="The rule">
      <Facts
        pairs={[
          ["A payment needs", scriptWords(rule, slotTimeText)],
          [
            "Staking",
            staking ? scriptWords(staking.template, slotTimeText) : "this wallet does not delegate",
          ],
          ["You are", self ? ownerName(self) : "not among the owners"],
        ]}
      />
    </Panel>
  );
}

function OwnKey({ self, ownKey }: { readonly self: string; readonly ownKey: string }) {
  return (
    <Panel title="Your key">
      <p>
        {`Send it to the owners who joined before you: they add it as the key of ${ownerName(self)}. `}
        The key is public: it cannot spend anything.
      </p>
      <div class="buttons">
        <button type="button" onClick={() => void copyText(ownKey, "Copied your key")}>Copy your key</button>
        <Id value={ownKey} name="your key" ends={12} />
      </div>
    </Panel>
  );
}

function Invite({ missing, invitation }: { readonly missing: readonly string[]; readonly invitation: string }) {
  return (
    <Panel title="1. Send the invitation to the other owners">
      <p>
        {`${missing.map(ownerName).join(", ")} ${missing.length === 1 ? "has" : "have"} not joined yet. `}
        Each of them pastes this text on their own page, under “Add a wallet”, “Create or join a shared wallet”.
      </p>
      <textarea class="mono" rows={5} readOnly aria-label="Invitation" value={invitation} />
      <div class="buttons">
        <button
          type="button"
          class="primary"
          onClick={() => void copyText(invitation, "Copied the invitation")}
        >
          Copy the invitation
        </button>
      </div>
      <p class="note">
        It has the rule and public keys, and no secret. Use a channel where it cannot be replaced by another text.
      </p>
    </Panel>
  );
}

function OwnersList({ owners, self, cosigners }: {
  readonly owners: readonly string[];
  readonly self: string | undefined;
  readonly cosigners: KeyedTemplate["cosigners"];
}) {
  return (
    <Panel title="Owners">
      <ul class="plain-list">
        {owners.map((owner) => {
          const known = cosigners[owner];
          return (
            <li key={owner} class="spread">
              <span class="badges">
                <b>{ownerName(owner)}</b>
                {owner === self && <Badge>You</Badge>}
                {known ? <Badge tone="good">Joined</Badge> : <Badge tone="warn">Key is missing</Badge>}
              </span>
              {known && <Id value={known} name={`key of ${ownerName(owner)}`} ends={12} />}
            </li>
          );
        })}
      </ul>
      <p class="note">
        {owners.some((owner) => !(owner in cosigners))
          ? "The wallet has no addresses before it has all keys."
          : "All keys are here."}
      </p>
    </Panel>
  );
}

/** The keys of owners who have joined, from their texts. */
function AddKeys(
  { wallet, reload, missing }: Pick<WalletTab, "wallet" | "reload"> & { readonly missing: readonly string[] },
) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  // an owner who has joined may send their own invitation instead, which has their key
  const keyOf = (owner: string): string | undefined => {
    const text = (typed[owner] ?? "").trim();
    return isAccountKey(text) ? text : readInvitation(text)?.keys[owner];
  };
  const keys = Object.fromEntries(missing.flatMap((owner) => {
    const key = keyOf(owner);
    return key ? [[owner, key] as const] : [];
  }));
  const add = async () => {
    const path = `/${wallet.prefix}/${wallet.id}`;
    // the last payment key may start the wallet, after which nothing can be added
    if (wallet.staking) await send("PATCH", `${path}/delegation-script-template`, keys);
    await send("PATCH", `${path}/payment-script-template`, keys);
    setTyped({});
    await reload();
    toast("The keys are added");
  };
  return (
    <Panel title="2. Add the keys that they send back">
      <Form verb="Add" disabled={Object.keys(keys).length === 0} run={add}>
        {missing.map((owner) => (
          <TextField
            key={owner}
            label={`Key of ${ownerName(owner)}`}
            mono
            lines={2}
            value={typed[owner] ?? ""}
            onInput={(text) => setTyped((all) => ({ ...all, [owner]: text }))}
            placeholder="acct_shared_xvk1…"
            error={(typed[owner] ?? "").trim() !== "" && keyOf(owner) === undefined
              ? "This is no account key of a shared wallet. It is in the other owner's list of owners."
              : undefined}
          />
        ))}
      </Form>
    </Panel>
  );
}
