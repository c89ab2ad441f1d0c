/**
 * Script templates: names or keys under `all`, `any` and `some`, and slots from and until which they hold. A template
 * becomes a native script of the ledger once each name stands for a key.
 */
import type { Json } from "#src/base/json.ts";
import { isRecord } from "#src/base/record.ts";
import { type NativeScript } from "#src/cardano/nativeScript.ts";
import type { ScriptForm, ScriptTemplate } from "#src/wallets/shared/types.ts";

/**
 * A script with its cosigners' keys from JSON that was stored.
 *
 * @throws TypeError where it is none.
 */
export function templateOf(json: Json): ScriptTemplate {
  if (!isTemplate(json)) throw new TypeError("stored JSON that is no script template");
  return json;
}

function isTemplate(value: unknown): value is ScriptTemplate {
  return isRecord(value) && isForm(value.script) && isRecord(value.keys) &&
    Object.values(value.keys).every((key) => typeof key === "string");
}

function isForm(value: unknown): value is ScriptForm {
  if (typeof value === "string") return true;
  if (!isRecord(value)) return false;
  const isList = (list: unknown) => Array.isArray(list) && list.every(isForm);
  if ("all" in value) return isList(value.all);
  if ("any" in value) return isList(value.any);
  const { some } = value;
  if (some !== undefined) return isRecord(some) && typeof some.at_least === "number" && isList(some.from);
  const slot = "active_from" in value ? value.active_from : value.active_until;
  return typeof slot === "number" || typeof slot === "bigint";
}

/** Children of a script; none at a leaf. */
export function childrenOf(script: ScriptForm): readonly ScriptForm[] {
  if (typeof script === "string") return [];
  if ("all" in script) return script.all;
  if ("any" in script) return script.any;
  return "some" in script ? script.some.from : [];
}

/** Names and keys in a script, in order, each once. */
export function leavesOf(script: ScriptForm): readonly string[] {
  if (typeof script === "string") return [script];
  return [...new Set(childrenOf(script).flatMap(leavesOf))];
}

/**
 * A script in one line, which ids of shared wallets cover: `all [cosigner#0,at_least 1 [cosigner#1,active_from 120]]`.
 */
export function scriptText(script: ScriptForm): string {
  if (typeof script === "string") return script;
  const list = `[${childrenOf(script).map(scriptText).join(",")}]`;
  if ("all" in script) return `all ${list}`;
  if ("any" in script) return `any ${list}`;
  if ("some" in script) return `at_least ${script.some.at_least} ${list}`;
  return "active_from" in script ? `active_from ${script.active_from}` : `active_until ${script.active_until}`;
}

/** The native script, with a key hash (56 hexadecimal digits) for each leaf; order is kept. */
export function toNative(script: ScriptForm, keyHash: (leaf: string) => string): NativeScript {
  if (typeof script === "string") return { kind: "key", hash: keyHash(script) };
  const scripts = () => childrenOf(script).map((one) => toNative(one, keyHash));
  if ("all" in script) return { kind: "all", scripts: scripts() };
  if ("any" in script) return { kind: "any", scripts: scripts() };
  if ("some" in script) return { kind: "at least", count: BigInt(script.some.at_least), scripts: scripts() };
  return "active_from" in script
    ? { kind: "from", slot: BigInt(script.active_from) }
    : { kind: "before", slot: BigInt(script.active_until) };
}

/** A native script as a template, with a text for each key hash. */
export function fromNative(script: NativeScript, leaf: (keyHash: string) => string): ScriptForm {
  switch (script.kind) {
    case "key":
      return leaf(script.hash);
    case "all":
      return { all: script.scripts.map((one) => fromNative(one, leaf)) };
    case "any":
      return { any: script.scripts.map((one) => fromNative(one, leaf)) };
    case "at least":
      return { some: { at_least: Number(script.count), from: script.scripts.map((one) => fromNative(one, leaf)) } };
    case "from":
      return { active_from: exact(script.slot) };
    case "before":
      return { active_until: exact(script.slot) };
  }
}

function exact(slot: bigint): number | bigint {
  return slot <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(slot) : slot;
}
