/** The views that are not about the chain, in one file. */
export { DevelopersView } from "./developers.tsx";
export { ToolsView } from "./tools.tsx";
