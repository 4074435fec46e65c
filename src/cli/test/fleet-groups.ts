/** The VCL groups of a folder for `apply`, with their tests and the VCL that their caches would load. */
import { join } from 'node:path'
import { listOf } from '../apply/bodies.js'
import { readDocuments, type FolderDocument } from '../apply/documents.js'
import { openFolder } from '../apply/folder.js'
import { Problems } from '../apply/problems.js'
import { readWanted, type WantedEntry } from '../apply/wanted.js'
import { CliError, usageError } from '../cli-error.js'
import type { TestedVcl } from '../../vcl-tests/tested-vcl.js'
import type { VclText } from '../../vcl/bundle.js'
import { flatten } from './local-vcl.js'

export interface FleetGroup {
  readonly name: string
  /** The folder of the documents. */
  readonly folder: string
  /** Paths of the tests. */
  readonly tests: readonly string[]
  /** The VCL with prologue and routing. Throws CliError if the folder lacks a text or the VCL cannot be flattened. */
  flatten(): TestedVcl
}

/** Throws CliError for invalid documents. `onlyIfTested`: returns none if no document names tests, even if documents are invalid. */
export async function readFleetGroups(
  path: string,
  { onlyIfTested = false }: { readonly onlyIfTested?: boolean } = {},
): Promise<readonly FleetGroup[]> {
  const folder = await openFolder(path).catch((error: unknown) => {
    if (onlyIfTested && error instanceof CliError) return null
    throw error
  })
  if (folder === null) return []
  const problems = new Problems()
  const documents = await readDocuments(folder, problems)
  if (onlyIfTested && !documents.some(({ values }) => 'tests' in values)) return []
  const { entries } = await readWanted(folder, documents, problems)
  problems.check()
  const groups = entries.filter(({ object }) => object.kind === 'vclgroup')
  return groups.map((group) => toFleetGroup(path, group, { entries, documents }))
}

interface Fleet {
  readonly entries: readonly WantedEntry[]
  readonly documents: readonly FolderDocument[]
}

function toFleetGroup(folder: string, group: WantedEntry, fleet: Fleet): FleetGroup {
  const { name, fields } = group.object
  const tests = listOf(fields['tests']).map((file) => join(folder, findPath(fleet, group, file)))
  return {
    name,
    folder,
    tests,
    flatten: () => {
      const main = requireText(fleet, group, String(fields['mainVCL']))
      const includes = listOf(fields['includes']).map((file) => requireText(fleet, group, file))
      const byName = new Map(includes.map((file) => [file.name, file]))
      return flatten(main, byName, listOf(fields['domains']))
    },
  }
}

function requireText({ entries }: Fleet, group: WantedEntry, name: string): VclText {
  const entry = entries.find(({ object }) => object.kind === 'file' && object.name === name)
  if (entry?.source && !entry.source.encoded) return { name, text: entry.source.source }
  const why = entry ? 'is not a text file' : 'has no document in the folder'
  throw usageError(`${group.at()}: file ${JSON.stringify(name)} ${why}`)
}

/** Path of a test file; tests need one, because results refer to its lines. */
function findPath({ documents }: Fleet, group: WantedEntry, name: string): string {
  const document = documents.find(({ values }) => values['name'] === name)
  const source = document?.values['source']
  if (typeof source === 'string' && source.startsWith('@')) return source.slice(1)
  throw usageError(
    `${group.at('tests')}: test ${JSON.stringify(name)} needs a document of kind file with source: @path`,
  )
}
