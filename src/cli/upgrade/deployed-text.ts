/** What is deployed of a group as one text: its files at the versions that were pinned, as the coordinator flattens them. */
import { randomBytes } from 'node:crypto'
import { bundleVcl, type Bundle, type VclText } from '../../vcl/bundle.js'
import { findStatements } from '../../vcl/statements.js'
import type { Api } from '../api.js'
import { isFields, nameOf, requireFields, requireList, type Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'

/** Throws CliError when that cannot be found out. */
export async function readDeployedText(api: Api, { wish }: Fields): Promise<Bundle> {
  if (!isFields(wish)) throw new CliError(exitCodes.refused, 'its first deploy is under way')
  const main = await readText(api, requireFields(wish['mainVCL']))
  const includes: VclText[] = []
  for (const file of requireList(wish['includes'])) includes.push(await readText(api, file))
  const hasDomains = requireList(wish['domains']).length > 0
  const bundle = bundleVcl(main, new Map(includes.map((file) => [file.name, file])), {
    allowedExternal: findExternal([main, ...includes]),
    // What is deployed was judged by the coordinator.
    modules: null,
    // Of no group: the value is used for this one compile.
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

/** What is deployed includes only its own files, and those that the coordinator lets the cache's host have. */
function findExternal(files: readonly VclText[]): ReadonlySet<string> {
  const own = new Set(files.map(({ name }) => name))
  const included = files.flatMap(({ text }) =>
    [...findStatements(text)].flatMap((found) => (found.kind === 'include' ? [found.name] : [])),
  )
  return new Set(included.filter((name) => !own.has(name)))
}
