/// <reference lib="dom" />
/** Where the focus goes when what had it is gone: never to the body, where a key would have no target. */

/** An element with those around it, the innermost first. */
export function withParents(element: Element | null): Element[] {
  return element === null ? [] : [element, ...withParents(element.parentElement)];
}

/**
 * Focuses the first element, or the heading of the part that it was in: what a dialog was opened from may be gone or
 * disabled by what was done in it.
 */
export function focusNear([element, ...parents]: readonly Element[]): void {
  if (element instanceof HTMLElement && element.isConnected && !element.matches(":disabled, body")) {
    return element.focus();
  }
  const heading = parents.find((one) => one.isConnected && one.matches("section, dialog, main"))
    ?.querySelector<HTMLElement>("h1, h2");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/**
 * Keeps the focus near an element that is removed while it has the focus, as a row of a list that is refreshed.
 * A view that focuses something itself as it is rendered goes first.
 */
export function keepFocus(): void {
  let last: readonly Element[] = [];
  document.addEventListener("focusin", ({ target }) => last = withParents(target as Element));
  // the reader took the focus away
  document.addEventListener("click", () => {
    if (document.activeElement === document.body) last = [];
  }, { capture: true });
  new MutationObserver(() => {
    if (document.activeElement !== document.body || last[0]?.isConnected !== false) return;
    const gone = last;
    last = [];
    focusNear(gone);
  }).observe(document.body, { childList: true, subtree: true });
}
