/** Watches files of the configuration. */
import { stat } from "node:fs/promises";

async function version(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}

/**
 * Calls `changed` after one of the files was changed or replaced, until the returned function is called. It polls:
 * notifications of the system follow neither a replaced file nor the symbolic links of mounted secrets.
 */
export async function watchFiles(
  files: readonly string[],
  changed: () => Promise<void>,
  everyMs = 1_000,
): Promise<() => void> {
  const versions = async () => (await Promise.all(files.map(version))).join();
  let seen = await versions();
  let busy = false;
  const look = async () => {
    const now = await versions();
    if (now === seen) return;
    seen = now;
    await changed();
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    void look().finally(() => busy = false);
  }, everyMs);
  return () => clearInterval(timer);
}
