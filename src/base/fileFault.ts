/** Why a file cannot be read or written, in words. */
import { errorCode } from "#src/base/errorCode.ts";
import { reason } from "#src/base/log.ts";

const WORDS: Readonly<Record<string, string>> = {
  EACCES: "this user has no right to it",
  EEXIST: "there is something else of this name",
  EISDIR: "it is a folder, not a file",
  ENOENT: "there is no such file",
  ENOSPC: "the disk is full",
  ENOTDIR: "a part of its path is a file, not a folder",
  EPERM: "this user has no right to it",
  EROFS: "its file system is read-only",
};

/** The reason of a failed access to a file, with the operating system's code; other errors as they are. */
export function fileFault(error: unknown): string {
  const code = errorCode(error);
  return Object.hasOwn(WORDS, code) ? `${WORDS[code]} (${code})` : reason(error);
}
