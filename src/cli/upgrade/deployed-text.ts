/** Builds a group's deployed VCL as one text: its files at the pinned versions, flattened as the coordinator does. */
import { randomBytes } from 'node:crypto'
import { bundleVcl, type Bundle, type VclText } from '../../vcl/bundle.js'
import { findStatements } from '../../vcl/statements.js'
import type { Api } from '../api.js'
import { isFields, nameOf, requireFields, requireList, type Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'

/** Throws CliError if the text cannot be built. */
export async function readDeployedText(api: Api, { wish }: Fields): Promise<Bundle> {
  if (!isFields(wish)) throw new CliError(exitCodes.refused, 'its first deploy is under way')
  const main = await readText(api, requireFields(wish['mainVCL']))
  const includes: VclText[] = []
  for (const file of requireList(wish['includes'])) includes.push(await readText(api, file))
  const hasDomains = requireList(wish['domains']).length > 0
  const bundle = bundleVcl(main, new Map(includes.map((file) => [file.name, file])), {
    allowedExternal: findExternal([main, ...includes]),
    // The coordinator has already checked the deployed VCL.
    modules: null,
    // No real group: the values are used only for this compile.
    prologue: hasDomains ? { groupId: 0, cacheKey: randomBytes(16).toString('hex') } : undefined,
  })
  if (bundle.ok) return bundle
  throw new CliError(exitCodes.refused, bundle.errors.join('\n'))
}

async function readText(api: Api, file: Fields): Promise<VclText> {
  const path = `/files/${String(file['id'])}/versions/${String(file['version'])}`
  const { source } = await api.readObject(path)
  return { name: nameOf(file) ?? '', text: String(source) }
}

/** Includes other than the group's own files are ones that the coordinator allows on the cache's host. */
function findExternal(files: readonly VclText[]): ReadonlySet<string> {
  const own = new Set(files.map(({ name }) => name))
  const included = files.flatMap(({ text }) =>
    [...findStatements(text)].flatMap((found) => (found.kind === 'include' ? [found.name] : [])),
  )
  return new Set(included.filter((name) => !own.has(name)))
}
