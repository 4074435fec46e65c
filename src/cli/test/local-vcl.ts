/** A local VCL with its includes from the same folder. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError, exitCodes, usageError } from '../cli-error.js'
import { flattenTested, type TestedVcl } from '../../vcl-tests/tested-vcl.js'
import type { VclText } from '../../vcl/bundle.js'
import { readLocalIncludes } from './local-includes.js'

interface LocalVcl {
  readonly vcl: TestedVcl
  /** All files of the VCL. */
  readonly files: readonly string[]
}

/** Throws CliError: usage if the main file cannot be read, refused if the VCL cannot be flattened. */
export async function readLocalVcl(path: string): Promise<LocalVcl> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`)
  })
  const main = { name: path, text }
  const folder = dirname(path)
  const { found, missing } = await readLocalIncludes(folder, [main])
  for (const { name, includedBy } of missing)
    throw new CliError(
      exitCodes.refused,
      `${includedBy} includes ${JSON.stringify(name)}, which is not in ${folder}`,
    )
  const files = [path, ...[...found.keys()].map((name) => join(folder, name))]
  return { vcl: flatten(main, found, []), files }
}

/** Throws CliError if the VCL cannot be flattened. */
export function flatten(
  main: VclText,
  includes: ReadonlyMap<string, VclText>,
  domains: readonly string[],
): TestedVcl {
  const flat = flattenTested(main, includes, domains)
  if (flat.ok) return flat.vcl
  throw new CliError(exitCodes.refused, flat.errors.join('\n'))
}
