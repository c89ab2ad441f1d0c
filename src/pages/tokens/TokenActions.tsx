/// <reference lib="dom" />
/** The actions on a token: requests, for everybody; applying, transferring and ending, for its owner; what ends it is last. */
import { elementAt } from "#src/base/present.ts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fromHex, fromUtf8, toHex } from "#src/base/bytes.ts";
import { ApiError } from "#src/client/http.ts";
import type { UpdateDryRun } from "#src/client/tokens.ts";
import { Ada } from "../kit/amounts.tsx";
import { CheckField, Form, SelectField, TextField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Panel } from "../kit/parts.tsx";
import { Alert } from "../kit/states.tsx";
import { apply, type ChangeType, end, entered, requestChange, transfer } from "./actions.tsx";
import { SlotAgo } from "./parts.tsx";
import { client, explorerTx, LOCAL, type Token, withReasons } from "./service.ts";
import { wallet, walletNow } from "./wallet.tsx";

/** A change that the reader began at a fact; key and value in hexadecimal. */
export interface Draft {
  readonly type: "update" | "delete";
  readonly key: string;
  readonly value: string;
}

type Form = "request" | "transfer";

/** The actions on a token as buttons; a form appears behind its button. */
export function TokenActions({ token, draft }: { readonly token: Token; readonly draft: Draft | undefined }) {
  const { tokenId } = token;
  const key = wallet.value?.key;
  const isOwner = key !== undefined && key === token.owner;
  const [open, setOpen] = useState<Form | undefined>(draft === undefined ? undefined : "request");
  useLayoutEffect(() => {
    if (draft) setOpen("request");
  }, [draft]);
  const toggle = (form: Form, name: string, tone = "") => (
    <button
      type="button"
      class={tone}
      aria-expanded={open === form}
      onClick={() => setOpen(open === form ? undefined : form)}
    >
      {name}
    </button>
  );
  return (
    <section class="token-actions" aria-label="Actions">
      <div class="buttons">
        {toggle("request", "Request a change", "primary")}
        {isOwner
          ? (
            <>
              <ApplyButtons token={token} />
              {toggle("transfer", "Transfer the token")}
              <button type="button" class="danger" onClick={() => void end(tokenId)}>End the token</button>
            </>
          )
          : (
            <span class="note">
              {key === undefined
                ? "Connect the owner's wallet to apply requests, to transfer the token or to end it."
                : "Your wallet does not own this token. Its owner applies requests, transfers the token or ends it."}
            </span>
          )}
      </div>
      {open === "request" && <RequestForm tokenId={tokenId} draft={draft} />}
      {open === "transfer" && isOwner && <TransferPanel tokenId={tokenId} />}
    </section>
  );
}

/** What the ledger says of a token, in a line. */
export function LedgerLine({ token, lastSlot }: {
  readonly token: Token;
  /** Slot of the last event. */
  readonly lastSlot: number | undefined;
}) {
  const pairs = Object.entries({
    Owner: <Id value={token.owner} name="owner's key hash" ends={6} />,
    Root: <Id value={token.root} name="root" ends={6} />,
    State: (
      <Id
        value={token.outputRefId}
        name="state output"
        href={explorerTx(elementAt(token.outputRefId.split("-"), 0))}
        external
        ends={6}
      />
    ),
    "Last event": lastSlot === undefined ? undefined : <SlotAgo slot={lastSlot} />,
  });
  return (
    <dl class="ledger-line" aria-label="On the ledger">
      {pairs.map(([name, value]) =>
        value && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        )
      )}
    </dl>
  );
}

const CHANGES = [["insert", "insert a new fact"], ["update", "update a fact"], ["delete", "delete a fact"]] as const;

/** What a field shows of bytes that are not text. */
const shown = (hex: string, inHex: boolean): string => inHex ? hex : fromUtf8(fromHex(hex)) ?? "";

function RequestForm({ tokenId, draft }: { readonly tokenId: string; readonly draft: Draft | undefined }) {
  const [type, setType] = useState<ChangeType>("insert");
  const [key, setKey] = useState("");
  const [before, setBefore] = useState("");
  const [after, setAfter] = useState("");
  const [hex, setHex] = useState(false);
  useLayoutEffect(() => {
    if (!draft) return;
    const inHex = draft.key === "" || [draft.key, draft.value].some((one) => fromUtf8(fromHex(one)) === undefined);
    setType(draft.type);
    setHex(inHex);
    setKey(shown(draft.key, inHex));
    setBefore(shown(draft.value, inHex));
    setAfter(draft.type === "update" ? shown(draft.value, inHex) : "");
  }, [draft]);
  useLayoutEffect(() => {
    if (!draft) document.querySelector<HTMLElement>("#request-change select")?.focus();
  }, []);
  const begun = useRef<Draft | undefined>(undefined);
  useLayoutEffect(() => {
    // once the form has the fields of the draft
    if (!draft || draft === begun.current || draft.type !== type) return;
    begun.current = draft;
    const field = draft.type === "update" ? ".field:has(textarea) + .field textarea" : "select";
    document.querySelector<HTMLElement>(`#request-change form ${field}`)?.focus();
  }, [draft, type]);
  const wrong = (text: string) =>
    hex && !/^([0-9a-f]{2})*$/i.test(text.trim()) ? "Hexadecimal digits in pairs" : undefined;
  // an empty key is a key, but rarely what a reader means
  const [isKeyMissing, setKeyMissing] = useState(false);
  const used = [key, ...(type === "insert" ? [] : [before]), ...(type === "delete" ? [] : [after])];
  const run = async () => {
    if (key === "" && !hex) return setKeyMissing(true);
    const bytes = (text: string) => toHex(entered(text, hex));
    const wanted = {
      type,
      key: bytes(key),
      oldValue: type === "insert" ? "" : bytes(before),
      newValue: type === "delete" ? "" : bytes(after),
    };
    if (!await requestChange(tokenId, wanted)) return;
    setKey("");
    setBefore("");
    setAfter("");
  };
  return (
    <div id="request-change">
      <Panel title="Request a change">
        <p class="note intro">
          You can request a change of any token with a wallet of your own, also without owning the token. Your wallet
          signs the request and locks a deposit of a few ada with it. The change is made when the token's owner signs a
          transaction that applies the request. The deposit returns when the owner applies or refuses the request, less
          an offered fee if it is applied, or when you take it back, which your wallet signs.
        </p>
        <Form verb="Request" run={run} disabled={used.some((text) => wrong(text) !== undefined)}>
          <SelectField label="Change" value={type} options={CHANGES} onChange={setType} />
          <TextField
            label="Key"
            value={key}
            onInput={setKey}
            mono={hex}
            error={wrong(key) ??
              (isKeyMissing && key === "" && !hex
                ? "Enter a key. The empty key is entered in hexadecimal."
                : undefined)}
          />
          {type !== "insert" && (
            <TextField
              label="Current value"
              value={before}
              onInput={setBefore}
              mono={hex}
              error={wrong(before)}
              lines={2}
            />
          )}
          {type !== "delete" && (
            <TextField label="New value" value={after} onInput={setAfter} mono={hex} error={wrong(after)} lines={2} />
          )}
          <CheckField label="Key and values are bytes in hexadecimal" checked={hex} onChange={setHex} />
        </Form>
      </Panel>
    </div>
  );
}

function ApplyButtons({ token: { tokenId, root, counts: { requests: open } } }: { readonly token: Token }) {
  const [tried, setTried] = useState<
    { readonly of: string; readonly outcome?: UpdateDryRun; readonly error?: unknown }
  >();
  // what a dry run found holds for the state and the requests that it saw
  const of = `${root} ${open}`;
  const found = tried?.of === of ? tried : undefined;
  const tryOut = async () => {
    setTried(undefined);
    try {
      const connected = await walletNow();
      if (connected === undefined) throw new ApiError(LOCAL, "wallet", "Connect the owner's wallet first.");
      const { TokenClient } = await client();
      setTried({ of, outcome: await new TokenClient(location.origin).tryApply(connected.address, tokenId) });
    } catch (error) {
      setTried({ of, error });
    }
  };
  return (
    <>
      <button
        type="button"
        disabled={open === 0}
        title="As many open requests as fit into one transaction, oldest first"
        onClick={() => void apply(tokenId, [])}
      >
        Apply all that fit
      </button>
      <Action run={tryOut} disabled={open === 0}>Dry run</Action>
      {found !== undefined && (
        <div class="dry-run-result">
          <div role="status">{found.outcome && <DryRun outcome={found.outcome} />}</div>
          <Alert error={withReasons(found.error)} />
        </div>
      )}
    </>
  );
}

function DryRun({ outcome: { applied, left, mpfRoot, fee, size } }: { readonly outcome: UpdateDryRun }) {
  return (
    <div class="dry-run">
      <p>
        {applied.length} would be applied, for a fee of <Ada lovelace={fee} /> ({size} bytes).
      </p>
      <p class="note">
        The root would be <Id value={mpfRoot} name="root" />
      </p>
      {left.length > 0 && (
        <ul class="rows">
          {left.slice(0, 50).map(({ request, code, message, lostTo }) => (
            <li key={request}>
              <Id value={request} name="request" ends={4} />
              <span class="grow">
                stays open: {message} ({code})
                {lostTo !== undefined && (
                  <>
                    ; lost to <Id value={lostTo} name="request" ends={4} />
                  </>
                )}
              </span>
            </li>
          ))}
          {left.length > 50 && <li class="note">and {left.length - 50} more</li>}
        </ul>
      )}
    </div>
  );
}

function TransferPanel({ tokenId }: { readonly tokenId: string }) {
  const [to, setTo] = useState("");
  const run = async () => {
    if (await transfer(tokenId, to.trim())) setTo("");
  };
  return (
    <Panel title="Transfer the token">
      <p class="note intro">Both owners sign: you here, the new owner under “Accept a token”.</p>
      <Form verb="Transfer" run={run} disabled={to.trim() === ""}>
        <TextField label="Address of the new owner" value={to} onInput={setTo} mono />
      </Form>
    </Panel>
  );
}
