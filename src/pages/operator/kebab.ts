/** An event in kebab case, as subscribers get it. */
export const kebab = (event: string) =>
  event.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();
