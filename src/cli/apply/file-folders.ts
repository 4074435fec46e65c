/** `kind: files`: a folder of VCL, in which each file becomes a document of kind file under its own name. */
import { join } from 'node:path'
import { matchesGlob } from '../../resources/glob.js'
import type { Problems } from './problems.js'
import { messageOf, type FolderDocument } from './documents.js'
import type { Folder } from './folder.js'

const defaultMatch = '*.vcl'
const keysKnown = ['kind', 'folder', 'match']

/** True if the document has the key `folder`; `kind: files` is also the plural spelling of `kind: file`. */
export function isFileFolder({ values }: FolderDocument): boolean {
  const keys = Object.keys(values).map((key) => key.toLowerCase())
  return keys.includes('folder')
}

/** Returns one document per matching file; none if the document is invalid. */
export async function readFileFolder(
  folder: Folder,
  { values, at }: FolderDocument,
  problems: Problems,
): Promise<readonly FolderDocument[]> {
  const before = problems.count
  const given = new Map(Object.entries(values).map(([key, value]) => [key.toLowerCase(), value]))
  for (const key of Object.keys(values))
    if (!keysKnown.includes(key.toLowerCase()))
      problems.add(at(key), `${key} is not known here; known are ${keysKnown.join(', ')}`)
  const path = given.get('folder')
  const match = given.get('match') ?? defaultMatch
  if (typeof path !== 'string') {
    problems.add(at('folder'), 'folder: expected a path inside the folder of the documents')
    return []
  }
  if (typeof match !== 'string' || match === '' || match.includes('/')) {
    problems.add(at('match'), 'match: expected a pattern of file names, like *.vcl')
    return []
  }
  if (problems.count > before) return []
  try {
    const names = (await folder.list(path)).filter((name) => matchesGlob(Array.from(match), name))
    if (names.length === 0) problems.add(at('folder'), `folder: ${path} has no file ${match}`)
    return names.map((name) => ({
      values: { kind: 'file', name, source: `@${join(path, name)}` },
      at: () => at('folder'),
    }))
  } catch (error) {
    problems.add(at('folder'), `folder: ${path}: ${messageOf(error)}`)
    return []
  }
}
