/** The VCL of a group as documents for `apply` say, with its domains: what its caches would get. */
import { listOf } from '../apply/bodies.js'
import { readDocuments } from '../apply/documents.js'
import { openFolder } from '../apply/folder.js'
import { Problems } from '../apply/problems.js'
import { readWanted, type WantedEntry } from '../apply/wanted.js'
import { CliError, exitCodes, usageError } from '../cli-error.js'
import type { TestedVcl } from '../../vcl-tests/tested-vcl.js'
import type { VclText } from '../../vcl/bundle.js'
import { flatten } from './local-vcl.js'

/** Throws CliError for a folder, or a group, that is not there or is not right. */
export async function readGroupVcl(path: string, name: string): Promise<TestedVcl> {
  const entries = await readEntries(path)
  const group = entries.find(({ object }) => object.kind === 'vclgroup' && object.name === name)
  if (group === undefined) {
    const names = entries.flatMap(({ object }) => (object.kind === 'vclgroup' ? [object.name] : []))
    throw usageError(
      `--group: ${path} has no vclgroup ${JSON.stringify(name)}; it has ${names.join(', ') || 'none'}`,
    )
  }
  const { fields } = group.object
  const main = requireText(entries, group, String(fields['mainVCL']))
  const includes = listOf(fields['includes']).map((file) => requireText(entries, group, file))
  const byName = new Map(includes.map((file) => [file.name, file]))
  return flatten(main, byName, listOf(fields['domains']))
}

async function readEntries(path: string): Promise<readonly WantedEntry[]> {
  const folder = await openFolder(path)
  const problems = new Problems()
  const documents = await readDocuments(folder, problems)
  const { entries } = await readWanted(folder, documents, problems)
  problems.check()
  return entries
}

function requireText(entries: readonly WantedEntry[], group: WantedEntry, name: string): VclText {
  const entry = entries.find(({ object }) => object.kind === 'file' && object.name === name)
  if (entry?.source && !entry.source.encoded) return { name, text: entry.source.source }
  const why = entry ? 'is not a text file' : 'has no document in the folder'
  throw new CliError(exitCodes.usage, `${group.at()}: file ${JSON.stringify(name)} ${why}`)
}
