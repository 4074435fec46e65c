/** The YAML and JSON documents of a folder, with the file and line of every value. */
import { readYaml, type YamlDocument } from '../../yaml-lines.js'
import { isFields, type Fields } from '../api-shapes.js'
import type { Problems } from './problems.js'
import type { Folder } from './folder.js'

/** The most that the coordinator places in one call. */
export const maxDocuments = 1_000
export interface FolderDocument {
  readonly values: Fields
  /** For example `site.yaml line 7`: the position of the value at this path, or of the nearest enclosing value. */
  readonly at: (...path: readonly (string | number)[]) => string
}

export async function readDocuments(
  folder: Folder,
  problems: Problems,
): Promise<readonly FolderDocument[]> {
  const documents: FolderDocument[] = []
  for (const file of folder.documents) {
    const bytes = await folder.readFile(file).catch((error: unknown) => {
      problems.add(file, messageOf(error))
    })
    if (bytes === undefined) continue
    const read = readYaml(bytes.toString('utf8'), { takesBareAt: true })
    for (const { line, message } of read.problems)
      problems.add(line === null ? file : `${file} line ${line}`, message)
    for (const document of read.documents) documents.push(...toDocuments(file, document, problems))
  }
  if (documents.length > maxDocuments)
    problems.add('the folder', `${documents.length} documents; ${maxDocuments} are the most`)
  return documents
}

/** Accepts one map or a list of maps; an empty document yields none. */
function toDocuments(
  file: string,
  { value, lineOf }: YamlDocument,
  problems: Problems,
): readonly FolderDocument[] {
  if (value === null) return []
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  return items.flatMap((values, index) => {
    const base = Array.isArray(value) ? [index] : []
    const at = (...path: readonly (string | number)[]): string => {
      const line = lineOf([...base, ...path])
      return line === null ? file : `${file} line ${line}`
    }
    if (isFields(values)) return [{ values, at }]
    problems.add(at(), 'a document is a map: kind, name, …')
    return []
  })
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
