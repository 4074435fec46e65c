/** Converts an object to the document from which `apply` would create it. Pure. */
import type { Fields } from '../api-shapes.js'
import type { PresentObject } from './apply-objects.js'

/** `source`: reference to the content of a file. */
export function toDocument(
  { kind, name, fields, deployed }: PresentObject,
  source: string,
): Fields {
  if (kind === 'domain') return { kind, fqdn: name }
  const { sha: _, mainVersion = null, mainVCL, ...rest } = fields
  const main = mainVersion === null ? mainVCL : { name: mainVCL, version: mainVersion }
  return {
    kind,
    name,
    ...(kind === 'file' && { source }),
    ...(kind === 'vclgroup' && { mainVCL: main }),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null)),
    ...(deployed !== undefined && { deployed }),
  }
}

const maxLength = 100

/** Maps object names to file names that cannot leave the folder and do not differ in case only. */
export function chooseFileNames(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const chosen = new Map<string, string>()
  for (const name of names) {
    const plain = name.replaceAll(/[^A-Za-z0-9._-]/g, '_').replace(/^[.-]/, '_')
    const short = plain.length > maxLength ? plain.slice(-maxLength).replace(/^[.-]/, '_') : plain
    let free = short
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${number}-${short}`
    taken.add(free.toLowerCase())
    chosen.set(name, free)
  }
  return chosen
}
