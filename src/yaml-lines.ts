/** Reads YAML (and so JSON) with line numbers, for files whose problems are reported to users by line. */
import { LineCounter, parseAllDocuments, type Document } from 'yaml'

/** The limit on the expansion of aliases. */
const maxAliases = 100

export type YamlPath = readonly (string | number)[]

export interface YamlDocument {
  /** Null: the document is empty. */
  readonly value: unknown
  /** The line, from 1, of the value at this path or else of its closest parent. Null: there is neither. */
  readonly lineOf: (path: YamlPath) => number | null
}

interface YamlProblem {
  /** From 1; null: the whole file. */
  readonly line: number | null
  readonly message: string
}

interface YamlFile {
  /** The documents without problems. */
  readonly documents: readonly YamlDocument[]
  readonly problems: readonly YamlProblem[]
}

interface YamlOptions {
  /** Accepts `source: @main.vcl` without quotes: it is not valid YAML, but common and unambiguous. */
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
      const value: unknown = document.toJS({ maxAliasCount: maxAliases })
      if (holdsItself(value)) problems.push({ line: null, message: selfHeld })
      else documents.push({ value, lineOf: (path) => findLine(document, lines, path) })
    } catch (error) {
      problems.push({ line: null, message: error instanceof Error ? error.message : String(error) })
    }
  }
  return { documents, problems }
}

const selfHeld = 'an alias (*name) stands inside of what its own anchor (&name) marks'

/** A cyclic value cannot be serialized otherwise, and a message that quotes it would be endless. */
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
