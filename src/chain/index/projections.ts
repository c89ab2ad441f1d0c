/** Combines several projections into one, so that rows they share are read once. */
import type { Folded, Membership, Projection } from "#src/chain/index/projection.ts";

/** Puts projections of the same members together under their common name. Throws `RangeError` where their members differ. */
export function together(parts: readonly Projection[]): Projection {
  const [first] = parts;
  if (!first || parts.some(({ name, members }) => name !== first.name || members?.column !== first.members?.column)) {
    throw new RangeError("projections of different things");
  }
  return {
    name: first.name,
    tables: parts.flatMap(({ tables }) => tables),
    passing: parts.flatMap(({ passing }) => passing ?? []),
    ...(first.members ? { members: joinedMembers(first.members.column, parts) } : {}),
    keys: (block) => parts.flatMap((part) => part.keys(block)),
    fold: (block, rows, settled, restoring) =>
      joinedFolds(parts.map((part) => part.fold(block, rows, settled, restoring))),
    undoKeys: (affected, way) => parts.flatMap((part) => part.undoKeys?.(affected, way) ?? []),
    undo: (point, affected, rows) => parts.flatMap((part) => part.undo(point, affected, rows)),
  };
}

function joinedMembers(column: string, parts: readonly Projection[]): Membership {
  const all = parts.flatMap(({ members }) => members ? [members] : []);
  return {
    column,
    tables: [...new Set(all.flatMap(({ tables }) => tables))],
    kept: [...new Set(all.flatMap(({ kept }) => kept ?? []))],
    joinedKeys: (members) => all.flatMap((one) => one.joinedKeys?.(members) ?? []),
    joined: (members, at, rows) => all.flatMap((one) => one.joined?.(members, at, rows) ?? []),
  };
}

/** If one fold needs things created or rows read, that happens first, and all folds run again. */
function joinedFolds(folds: readonly Folded[]): Folded {
  const wants = folds.flatMap((one) => one.type === "want" ? one.wants : []);
  if (wants.length > 0) return { type: "want", wants };
  const queries = folds.flatMap((one) => one.type === "more" ? one.queries : []);
  if (queries.length > 0) return { type: "more", queries };
  const done = folds.flatMap((one) => one.type === "done" ? [one] : []);
  return {
    type: "done",
    writes: done.flatMap(({ writes }) => writes),
    touched: done.flatMap(({ touched }) => touched),
  };
}
