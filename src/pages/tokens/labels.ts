/** Names that the reader gives to tokens. They stay in this browser. */
import { keptLabels } from "../kit/labels.ts";

export const { labels, setLabel } = keptLabels("arbor-token-labels");
