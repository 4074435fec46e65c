/** Saves the text of unmanaged VCL before it is unloaded (docs/behaviour.md, Takeover). */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { limitFiles, writeDurably } from '../../runtime/durable-file.js'

/** The oldest files are deleted first, so that a cache that is changed again and again does not fill the disk. */
const filesLimit = 200
/** A file name may have 255 bytes; time and ending take 29; VCL names have up to 233 characters (ASCII only). */
const nameLimit = 220

/** Writes `<time>-<name>.vcl`, 0600, and returns that name. A text equal to the last one of this name is not saved again. */
export async function saveUnmanagedSource(
  folder: string,
  name: string,
  source: Buffer,
): Promise<string> {
  const ending = `-${name.slice(0, nameLimit)}.vcl`
  const last = await findLast(folder, ending)
  if (last !== undefined && source.equals(await readFile(join(folder, last)))) return last
  const file = `${new Date().toISOString().replaceAll(':', '-')}${ending}`
  await writeDurably(join(folder, file), source)
  await limitFiles(folder, /\.vcl$/, filesLimit)
  return file
}

/** Requires exactly `2026-11-20T08-31-35.123Z` before the ending: `-a.vcl` must not find `…-b-a.vcl`. */
async function findLast(folder: string, ending: string): Promise<string | undefined> {
  const timeLength = '2026-11-20T08-31-35.123Z'.length
  const files = await readdir(folder)
  return files
    .filter((file) => file.endsWith(ending) && file.length === timeLength + ending.length)
    .toSorted()
    .at(-1)
}
