/// <reference lib="dom" />
/** A value that the service wrote into the document. */
export function setting(name: string): string | undefined {
  return document.querySelector<HTMLMetaElement>(`meta[name="arbor-${name}"]`)?.content;
}
