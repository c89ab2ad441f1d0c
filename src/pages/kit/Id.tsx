/// <reference lib="dom" />
/** Ids, hashes and addresses: they are shortened in the middle, do not wrap unless a view says so, and copy whole. */
import { toast } from "./toast.tsx";

/** An id shortened in the middle: the first and last characters that people compare. */
export const shortId = (id: string, ends = 8): string =>
  id.length > 2 * ends + 3 ? `${id.slice(0, ends + 2)}…${id.slice(-ends)}` : id;

/** A link to another service's page, which opens in a tab of its own; nothing where there is no such page. */
export function SiteLink({ href, children }: { readonly href: string | undefined; readonly children: string }) {
  if (href === undefined) return null;
  return <a class="site-link" href={href} target="_blank" rel="noopener">{children}</a>;
}

/** Puts text on the clipboard, and says so. */
export async function copyText(text: string, what = "Copied"): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    // without a secure context there is no clipboard
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "sr";
    (document.querySelector("dialog[open]") ?? document.body).append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    toast(copied ? what : "The browser does not allow this page to copy.", copied ? "good" : "bad");
  }
}

/**
 * An id with a button that copies it. `href` makes it a link; `full` shows as much of it as there is room for; `whole` shows
 * all of it, in several lines where one is too short; `name` says what is copied.
 */
export function Id({ value, href, full = false, whole = false, name = "id", ends, external = false }: {
  readonly value: string;
  readonly href?: string | undefined;
  readonly full?: boolean;
  readonly whole?: boolean;
  readonly name?: string;
  /** Characters of each end that are shown. */
  readonly ends?: number;
  /** Whether the link leads to another service's page, which opens in a tab of its own. */
  readonly external?: boolean;
}) {
  const text = full || whole ? value : shortId(value, ends);
  const outside = external ? { target: "_blank", rel: "noopener" } : {};
  return (
    <span class={whole ? "id whole" : full ? "id full" : "id"}>
      {href === undefined
        ? <bdi class="id-text" title={value}>{text}</bdi>
        : (
          <a class="id-text" href={href} title={value} {...outside}>
            <bdi>{text}</bdi>
          </a>
        )}
      <button
        type="button"
        class="copy"
        aria-label={`Copy ${name} ${shortId(value, 4)}`}
        title="Copy"
        onClick={() => void copyText(value, `Copied the ${name}`)}
      >
        <svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
          <rect x="5.5" y="5.5" width="8" height="8.5" rx="1.5" fill="none" stroke="currentColor" stroke-width="1.4" />
          <path
            d="M10.5 3.2A1.5 1.5 0 0 0 9.2 2H4a1.5 1.5 0 0 0-1.5 1.5v6A1.5 1.5 0 0 0 3.6 11"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
          />
        </svg>
      </button>
    </span>
  );
}
