/** The library that shifts the clock of a private cache (clock-offset.c); built beside the programs if there is a C compiler. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Relative to the programs, to bundled tests, and to the sources. */
const folders = ['./', '../bin/', '../../dist/bin/']

/** The path of the library; null: it was not built for this architecture. */
export function findClockLibrary(): string | null {
  const paths = folders.map((folder) =>
    fileURLToPath(new URL(`${folder}clock-offset-${process.arch}.so`, import.meta.url)),
  )
  return paths.find((path) => existsSync(path)) ?? null
}
