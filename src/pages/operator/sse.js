// @ts-check
/** The parser of server-sent events. Browsers get the library's own module under this name (`src/edge/operator/pages.ts`). */
export { createParser } from "eventsource-parser";
