/**
 * Maps a text back to the files of the group that deploys it. Texts are stored by hash, with the source map of the first group
 * that had the text. That group may belong to another organization, whose file names must not be shown.
 */
import { prologueFile } from '../../vcl/prologue.js'
import type { SourceMap } from '../../vcl/source-map.js'
import type { Release } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { findSource } from '../fleet/sources.js'
import { findGroup } from '../fleet/group-queries.js'
import type { StateService } from '../service.js'
import { flattenFiles } from './deploy-sources.js'

export async function readSourceMap(
  service: StateService,
  deploy: { readonly groupId: number; readonly sources: Release },
): Promise<SourceMap> {
  const { sources } = deploy
  const flattened = await flattenAgain(service, deploy)
  if (flattened) return flattened
  // The files were renamed or deleted since: the stored source map is used if it names no other files.
  const kept = await findSource(service.store.queries, sources.sha)
  return kept ? limitToOwn(kept.sourceMap, sources) : wholeText(sources.mainVCL.name)
}

/** Returns the stored source map if it names only these files; else one for the whole text. */
export function limitToOwn(
  kept: SourceMap,
  { mainVCL, includes }: Pick<Release, 'mainVCL' | 'includes'>,
): SourceMap {
  const own = new Set([mainVCL, ...includes].map(({ name }) => name))
  const isOwn = kept.files.every((name) => name === prologueFile || own.has(name))
  return isOwn ? kept : wholeText(mainVCL.name)
}

/** Returns undefined if the result is a different text now. */
async function flattenAgain(
  service: StateService,
  { groupId, sources }: { readonly groupId: number; readonly sources: Release },
): Promise<SourceMap | undefined> {
  const { queries } = service.store
  const group = await findGroup(queries, { kind: 'all' }, groupId)
  if (!group) return undefined
  try {
    const { mainVCL, includes, domains } = sources
    const gathered = await flattenFiles(
      service,
      queries,
      { ...group, domains },
      { mainVCL, includes },
    )
    const isSame = 'source' in gathered && gathered.source.sha === sources.sha
    return isSame ? gathered.source.sourceMap : undefined
  } catch (error) {
    if (error instanceof FleetError) return undefined
    throw error
  }
}

function wholeText(name: string): SourceMap {
  return { files: [name], segments: [[1, 1, 0, 1, 1]] }
}
