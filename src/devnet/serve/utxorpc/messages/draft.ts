/** Types of messages that are only written: of every version, so that the library's `PartialMessage` does not apply. */

/** A message of which any member may be left out. */
export type Draft<T> = T extends Uint8Array ? Uint8Array
  : T extends string | number | bigint | boolean | undefined ? T
  : T extends readonly (infer Element)[] ? Draft<Element>[]
  : T extends { case: infer Case extends string; value: infer Value } ? { case: Case; value: Draft<Value> }
  : T extends { case: undefined } ? { case: undefined; value?: undefined }
  : { [Name in keyof T as T[Name] extends (...args: never[]) => unknown ? never : Name]?: Draft<T[Name]> | undefined };
