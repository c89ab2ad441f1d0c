/** Text of a description: what stands between backticks is code. */
export function Marked({ text }: { readonly text: string }) {
  const parts = text.split("`");
  return <>{parts.map((part, i) => i % 2 === 1 && i < parts.length - 1 ? <code key={i}>{part}</code> : part)}</>;
}
