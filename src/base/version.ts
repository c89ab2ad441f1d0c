/** The version of this release: a date. */
import { readFileSync } from "node:fs";

const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** The version in `package.json`, `YYYY.MM.DD`; in every `/health` and every OpenAPI and AsyncAPI document. */
export const VERSION: string = readVersion(manifest);

function readVersion(found: unknown): string {
  if (typeof found === "object" && found !== null && "version" in found && typeof found.version === "string") {
    return found.version;
  }
  throw new Error("package.json has no version");
}
