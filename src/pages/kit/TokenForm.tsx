/// <reference lib="dom" />
/** The form of a page whose service requires a token. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { TextField } from "./forms.tsx";
import { title } from "./router.ts";

/** Calls `onToken` with what was entered, without the spaces around it. */
export function TokenForm({ heading, children, rejected, onToken }: {
  readonly heading: string;
  /** Which token, and where it is kept. */
  readonly children: ComponentChildren;
  /** Whether the token of before was rejected. */
  readonly rejected: boolean;
  readonly onToken: (token: string) => void;
}) {
  const [token, setToken] = useState("");
  useLayoutEffect(() => {
    title.value = "Token";
    document.querySelector<HTMLInputElement>(".login input")?.focus();
  }, []);
  return (
    <form
      class="login panel"
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") onToken(token.trim());
      }}
    >
      <h1 tabIndex={-1}>{heading}</h1>
      <p>{children}</p>
      <TextField label="Token" type="secret" required value={token} onInput={setToken} />
      {rejected && <p class="alert" role="alert">This token was rejected.</p>}
      <button type="submit" class="primary">Go on</button>
    </form>
  );
}
