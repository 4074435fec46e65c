/** The library that moves the clock of a private cache (clock-offset.c); the build puts it beside the programs where it finds a C compiler. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** From the programs themselves; from bundled tests; from the sources. */
const folders = ['./', '../bin/', '../../dist/bin/']

/** Its path; null: it was not built for this architecture. */
export function findClockLibrary(): string | null {
  const paths = folders.map((folder) =>
    fileURLToPath(new URL(`${folder}clock-offset-${process.arch}.so`, import.meta.url)),
  )
  return paths.find((path) => existsSync(path)) ?? null
}
