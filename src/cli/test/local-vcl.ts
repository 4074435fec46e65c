/** A VCL of this machine with what it includes, which lies beside it. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError, exitCodes, usageError } from '../cli-error.js'
import { flattenTested, type TestedVcl } from '../../vcl-tests/tested-vcl.js'
import type { VclText } from '../../vcl/bundle.js'
import { includeExpansionLimit } from '../../vcl/limits.js'
import { findStatements } from '../../vcl/statements.js'

export interface LocalVcl {
  readonly vcl: TestedVcl
  /** All files that it is made of. */
  readonly files: readonly string[]
}

/** Throws CliError: usage for a main file that cannot be read, refused for what cannot be flattened. */
export async function readLocalVcl(path: string): Promise<LocalVcl> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`)
  })
  const main = { name: path, text }
  const includes = new Map<string, VclText>()
  const waiting = [main]
  for (let file = waiting.shift(); file; file = waiting.shift())
    for (const name of listIncludes(file.text)) {
      if (includes.has(name) || includes.size === includeExpansionLimit) continue
      const included = await readFile(join(dirname(path), name), 'utf8').catch(() => null)
      if (included === null)
        throw new CliError(
          exitCodes.refused,
          `${file.name} includes ${JSON.stringify(name)}, which is not in ${dirname(path)}`,
        )
      includes.set(name, { name, text: included })
      waiting.push({ name, text: included })
    }
  const files = [path, ...[...includes.keys()].map((name) => join(dirname(path), name))]
  return { vcl: flatten(main, includes, []), files }
}

/** Throws CliError for what cannot be flattened. */
export function flatten(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  domains: readonly string[],
): TestedVcl {
  const flat = flattenTested(main, includes, domains)
  if (flat.ok) return flat.vcl
  throw new CliError(exitCodes.refused, flat.errors.join('\n'))
}

function listIncludes(text: string): readonly string[] {
  return [...findStatements(text)].flatMap((found) =>
    found.kind === 'include' ? [found.name] : [],
  )
}
