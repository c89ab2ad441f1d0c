// A thread on Node 20, which reads TypeScript only with help.
import { register } from "tsx/esm/api";

register();
await import("./thread.ts");
