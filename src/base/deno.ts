/** The release of Deno that everything is tested with, as npm names it; a test compares it with `package.json`. */
export const DENO = "deno@2.9.6";

/** How a task of the repository is started on a machine that has only Node. */
export const DENO_TASK = `npx -y ${DENO} task`;
