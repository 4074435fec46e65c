/** YAML, of which JSON is a part, with the line of everything in it: for files whose readers are told what is wrong, and where. */
import { LineCounter, parseAllDocuments, type Document } from 'yaml'

/** What anchors may blow a file up to. */
const aliasesMost = 100

export type YamlPath = readonly (string | number)[]

export interface YamlDocument {
  /** Null: it is empty. */
  readonly value: unknown
  /** From 1; of the value at this path, else of what holds it. Null where nothing is. */
  readonly lineOf: (path: YamlPath) => number | null
}

interface YamlProblem {
  /** From 1; null: of the whole file. */
  readonly line: number | null
  readonly message: string
}

interface YamlFile {
  /** Those that could be read. */
  readonly documents: readonly YamlDocument[]
  readonly problems: readonly YamlProblem[]
}

interface YamlOptions {
  /** `source: @main.vcl` without quotes is no YAML, and what everybody writes; it has one meaning only. */
  readonly takesBareAt?: boolean
}

export function readYaml(text: string, { takesBareAt = false }: YamlOptions = {}): YamlFile {
  const lines = new LineCounter()
  const documents: YamlDocument[] = []
  const problems: YamlProblem[] = []
  for (const document of parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })) {
    const errors = document.errors.filter(
      ({ code, pos }) => !takesBareAt || code !== 'BAD_SCALAR_START' || text[pos[0]] !== '@',
    )
    for (const { message, pos } of errors)
      problems.push({ line: lines.linePos(pos[0]).line, message })
    if (errors.length > 0) continue
    try {
      const value: unknown = document.toJS({ maxAliasCount: aliasesMost })
      if (holdsItself(value)) problems.push({ line: null, message: selfHeld })
      else documents.push({ value, lineOf: (path) => findLine(document, lines, path) })
    } catch (error) {
      problems.push({ line: null, message: error instanceof Error ? error.message : String(error) })
    }
  }
  return { documents, problems }
}

const selfHeld = 'an alias (*name) stands inside of what its own anchor (&name) marks'

/** No other form could express it, and a message that quotes it would not end. */
function holdsItself(value: unknown, around: readonly unknown[] = []): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (around.includes(value)) return true
  return Object.values(value).some((inner) => holdsItself(inner, [...around, value]))
}

function findLine(document: Document.Parsed, lines: LineCounter, path: YamlPath): number | null {
  for (let length = path.length; length >= 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (hasRange(node)) return lines.linePos(node.range[0]).line
  }
  return null
}

function hasRange(node: unknown): node is { readonly range: readonly [number, ...number[]] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}
