/** The product as `npm run build` made it: what is measured is what is run, not what a loader for TypeScript makes of it. */

/** `path` is the source's, such as `src/main.js`; `Module` is its type there. */
export async function loadBuilt<Module>(path: string): Promise<Module> {
  // Safe: the compiler made this file from the source that the type is taken from.
  return (await import(new URL(`../../dist/${path}`, import.meta.url).href)) as Module
}
