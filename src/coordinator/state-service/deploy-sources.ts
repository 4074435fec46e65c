/** What a deploy of a group would put on caches: the files at their pinned versions, flattened to one text. */
import { bundleVcl, type VclText } from '../../domain/vcl-bundle.js'
import type { WishedFile } from '../../domain/vcl-group.js'
import { FleetError } from '../../errors.js'
import { readFileTexts, type FileText } from '../../store/file-texts.js'
import type { SourceRecord } from '../../store/sources.js'
import type { GroupRecord } from '../../store/vcl-groups.js'
import type { StateService } from './service.js'

export interface GatheredFiles {
  readonly mainVCL: WishedFile
  readonly includes: readonly WishedFile[]
  readonly deploymentIds: readonly number[]
}

export interface GatheredSources extends GatheredFiles {
  readonly source: SourceRecord
}

/** `error`: file, line and position of each mistake in the author's text, a line each. */
export type Gathered = GatheredSources | (GatheredFiles & { readonly error: string })

/** Throws FleetError conflict when the pinned version of the main file does not exist. */
export async function gatherSources(service: StateService, group: GroupRecord): Promise<Gathered> {
  const texts = await readFileTexts(service.store.queries, [
    { id: group.mainFile.id, version: group.mainFileVersion },
    ...group.includes.map((include) => ({ id: include.id, version: null })),
  ])
  const [main, ...includes] = texts
  if (main?.id !== group.mainFile.id) {
    const version = String(group.mainFileVersion)
    const message = `version ${version} of file ${group.mainFile.name} does not exist`
    throw new FleetError('conflict', 'deploy', message)
  }
  const files = {
    mainVCL: toWished(main),
    includes: includes.map(toWished),
    deploymentIds: group.deployments.map(({ id }) => id),
  }
  const bundle = bundleVcl(
    toText(main),
    new Map(includes.map((file) => [file.name, toText(file)])),
    { allowedExternal: service.settings.allowedIncludes },
  )
  if (!bundle.ok) return { ...files, error: bundle.errors.join('\n') }
  const { sha, text, sourceMap } = bundle
  return { ...files, source: { sha, text, sourceMap } }
}

function toText(file: FileText): VclText {
  const text = file.encoded ? Buffer.from(file.source, 'base64').toString('utf8') : file.source
  return { name: file.name, text }
}

function toWished({ id, name, version }: FileText): WishedFile {
  return { id, name, version }
}
