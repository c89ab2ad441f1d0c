/** Tests of several files on one service, on a devnet that makes blocks. */
import { together } from "../../support/service/together.ts";

together("blocks");
