/** Keeps the newest panic messages of the cache's child: `panics/<time>.txt`, 0600. */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { limitFiles, writeDurably } from '../../runtime/durable-file.js'

/** About 2 kB each. */
const filesLimit = 20
const panicFile = /^\d{4}-.*\.txt$/

export async function savePanicText(folder: string, text: string): Promise<void> {
  const file = `${new Date().toISOString().replaceAll(':', '-')}.txt`
  await writeDurably(join(folder, file), text)
  await limitFiles(folder, panicFile, filesLimit)
}

/** Null when there is none. */
export async function readLastPanic(folder: string): Promise<string | null> {
  const files = (await readdir(folder)).filter((name) => panicFile.test(name)).toSorted()
  const last = files.at(-1)
  return last === undefined ? null : readFile(join(folder, last), 'utf8')
}
