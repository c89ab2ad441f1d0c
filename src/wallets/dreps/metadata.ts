/** Metadata of representatives (CIP-119). */
import { isObject, type Json, readJson } from "#src/base/json.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { DrepAnchor } from "#src/wallets/dreps/types.ts";
import { type FetchOptions, fetchOutside } from "#src/base/outsideFetch.ts";

export interface DrepMetadata {
  /** 1 to 80 characters. */
  readonly name: string;
  readonly objectives?: string;
  readonly motivations?: string;
  readonly qualifications?: string;
  readonly paymentAddress?: string;
  /** Whether it asks not to be listed. */
  readonly doNotList: boolean;
  readonly references: readonly { readonly label: string; readonly uri: string }[];
}

/** Most bytes of a text, which may contain pictures. */
const MOST_BYTES = 524_288;
/** Most characters of one part, and most references; longer parts are left out. */
const LONGEST = 1_000;
const MOST_REFERENCES = 32;

const fields = (json: Json | undefined) => isObject(json) ? json : undefined;

/** A text, plain or wrapped by JSON-LD. */
function text(json: Json | undefined, most = LONGEST): string | undefined {
  const bare = fields(json)?.["@value"] ?? json;
  return typeof bare === "string" && bare !== "" && Array.from(bare).length <= most ? bare : undefined;
}

/** Reads metadata from JSON; `undefined` where there is no name. */
export function readDrepMetadata(json: Json | undefined): DrepMetadata | undefined {
  const body = fields(fields(json)?.body);
  const name = text(body?.givenName, 80);
  if (body === undefined || name === undefined) return undefined;
  const { doNotList, references } = body;
  const wrapped = fields(doNotList)?.["@value"] ?? doNotList;
  const parts = {
    objectives: text(body.objectives),
    motivations: text(body.motivations),
    qualifications: text(body.qualifications),
    paymentAddress: text(body.paymentAddress),
  };
  return {
    name,
    ...Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)),
    doNotList: wrapped === true || wrapped === "true",
    references: (Array.isArray(references) ? references : []).flatMap((one) => {
      const [label, uri] = [text(fields(one)?.label), text(fields(one)?.uri)];
      return label === undefined || uri === undefined ? [] : [{ label, uri }];
    }).slice(0, MOST_REFERENCES),
  };
}

/** Fetches metadata and checks its hash; `undefined` where it cannot be fetched or is not the registered one. */
export async function fetchDrepMetadata(
  { url, hash }: DrepAnchor,
  options: Omit<FetchOptions, "body" | "maxBytes">,
): Promise<DrepMetadata | undefined> {
  const answer = await fetchOutside(url, { ...options, maxBytes: MOST_BYTES });
  if (!answer.ok || answer.value.status !== 200 || hash256(answer.value.bytes) !== hash) return undefined;
  return readDrepMetadata(readJson(answer.value.bytes));
}
