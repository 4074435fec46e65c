/** Finds the includes of a local VCL in its own folder. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { VclText } from '../../vcl/bundle.js'
import { includeExpansionLimit } from '../../vcl/limits.js'
import { findStatements } from '../../vcl/statements.js'

interface LocalIncludes {
  /** Keyed by the name in include statements. */
  readonly found: ReadonlyMap<string, VclText>
  /** Includes that the folder lacks, with the file that includes them. */
  readonly missing: readonly { readonly name: string; readonly includedBy: string }[]
}

/** `given`: names to skip. Reads no other folder. */
export async function readLocalIncludes(
  folder: string,
  texts: readonly VclText[],
  given: ReadonlySet<string> = new Set(),
): Promise<LocalIncludes> {
  const found = new Map<string, VclText>()
  const missing: LocalIncludes['missing'][number][] = []
  const seen = new Set(given)
  const waiting = [...texts]
  for (let file = waiting.shift(); file; file = waiting.shift())
    for (const name of listIncludes(file.text)) {
      if (seen.has(name) || seen.size === includeExpansionLimit) continue
      seen.add(name)
      const text = name.includes('/') ? null : await readText(join(folder, name))
      if (text === null) missing.push({ name, includedBy: file.name })
      else {
        found.set(name, { name, text })
        waiting.push({ name, text })
      }
    }
  return { found, missing }
}

function listIncludes(text: string): readonly string[] {
  return [...findStatements(text)].flatMap((statement) =>
    statement.kind === 'include' ? [statement.name] : [],
  )
}

function readText(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
