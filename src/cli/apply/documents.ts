/** The YAML and JSON documents of a folder, each with the file and line of everything in it. */
import { LineCounter, parseAllDocuments, type Document } from 'yaml'
import { isFields, type Fields } from '../api-shapes.js'
import type { Problems } from './problems.js'
import type { Folder } from './folder.js'

/** As many as the coordinator places in one call. */
export const documentsMost = 1_000
/** What anchors may blow a file up to. */
const aliasesMost = 100

export interface FolderDocument {
  readonly values: Fields
  /** `site.yaml line 7`: of the value at this path, else of what holds it. */
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
    const text = bytes.toString('utf8')
    const lines = new LineCounter()
    const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
    for (const document of parsed) {
      const source = { file, text, lines, document }
      if (reportErrors(source, problems)) continue
      documents.push(...toDocuments(source, problems))
    }
  }
  if (documents.length > documentsMost)
    problems.add('the folder', `${documents.length} documents; ${documentsMost} are the most`)
  return documents
}

interface Source {
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  readonly document: Document.Parsed
}

/** `source: @main.vcl` without quotes is no YAML, and what everybody writes (docs/behaviour.md, Apply); it has one meaning only. */
function reportErrors({ file, text, lines, document }: Source, problems: Problems): boolean {
  const errors = document.errors.filter(
    ({ code, pos }) => code !== 'BAD_SCALAR_START' || text[pos[0]] !== '@',
  )
  for (const { message, pos } of errors)
    problems.add(`${file} line ${lines.linePos(pos[0]).line}`, message)
  return errors.length > 0
}

/** One map, or a list of maps; an empty document is none. */
function toDocuments(source: Source, problems: Problems): readonly FolderDocument[] {
  const { file, document } = source
  const value = readValue(source, problems)
  if (value === null || value === undefined) return []
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  return items.flatMap((values, index) => {
    const base = Array.isArray(value) ? [index] : []
    const at = (...path: readonly (string | number)[]): string => locate(source, [...base, ...path])
    if (isFields(values)) return [{ values, at }]
    problems.add(document.contents === null ? file : at(), 'a document is a map: kind, name, …')
    return []
  })
}

function readValue({ file, document }: Source, problems: Problems): unknown {
  try {
    const value: unknown = document.toJS({ maxAliasCount: aliasesMost })
    if (!holdsItself(value)) return value
    problems.add(file, 'an alias (*name) stands inside of what its own anchor (&name) marks')
    return undefined
  } catch (error) {
    problems.add(file, messageOf(error))
    return undefined
  }
}

/** No other form could express it, and a message that quotes it would not end. */
function holdsItself(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (around.includes(value)) return true
  return Object.values(value).some((inner) => holdsItself(inner, [...around, value]))
}

function locate({ file, lines, document }: Source, path: readonly (string | number)[]): string {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (hasRange(node)) return `${file} line ${lines.linePos(node.range[0]).line}`
  }
  return file
}

function hasRange(node: unknown): node is { readonly range: readonly number[] & { 0: number } } {
  return isFields(node) && Array.isArray(node['range'])
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
