/** The search of the page's header: one hit opens at once, several are listed. */
import { go, visits } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { sentenceOf } from "../kit/states.tsx";
import { toast } from "../kit/toast.tsx";
import { get, type SearchAnswer } from "./api.ts";
import { pageOf } from "./names.ts";

/** Finds what a text names. */
export const find = (text: string, signal?: AbortSignal): Promise<SearchAnswer> =>
  get(`/search?${new URLSearchParams({ q: text })}`, signal);

/** Opens what a text names, or the list of what it may name. */
async function open(text: string): Promise<void> {
  if (text === "") return;
  try {
    const { hits: [hit, ...others] } = await find(text);
    const page = hit && others.length === 0 ? pageOf(hit.kind, hit.id) : undefined;
    go(page ?? `/search?${new URLSearchParams({ q: text })}`);
  } catch (error) {
    toast(sentenceOf(error), "bad");
  }
}

export function Finder() {
  return (
    <Search
      // what was searched for is not left beside another view
      key={visits.value}
      label="Search the chain"
      placeholder="Hash, address, name"
      value=""
      onSearch={() => {}}
      onEnter={(text) => void open(text.slice(0, 300))}
    />
  );
}
