/** The product as built by `npm run build`: benchmarks measure what is run, not the output of a TypeScript loader. */

/** `path` is the source's, such as `src/main.js`; `Module` is its type there. */
export async function loadBuilt<Module>(path: string): Promise<Module> {
  // Safe: the compiler made this file from the source that the type is taken from.
  return (await import(new URL(`../../dist/${path}`, import.meta.url).href)) as Module
}
