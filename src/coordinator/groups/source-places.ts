/**
 * From a text back to the files of the group that deploys it. Texts are kept by their hash, with the places of whoever had
 * them first: another group's, maybe another organization's, whose file names are nobody else's business.
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
  // Its files were renamed or deleted since: what was kept counts when it knows no other files.
  const kept = await findSource(service.store.queries, sources.sha)
  return kept ? limitToOwn(kept.sourceMap, sources) : wholeText(sources.mainVCL.name)
}

/** What was kept with a text, as far as it tells of these files alone. */
export function limitToOwn(
  kept: SourceMap,
  { mainVCL, includes }: Pick<Release, 'mainVCL' | 'includes'>,
): SourceMap {
  const own = new Set([mainVCL, ...includes].map(({ name }) => name))
  const isOwn = kept.files.every((name) => name === prologueFile || own.has(name))
  return isOwn ? kept : wholeText(mainVCL.name)
}

/** Undefined when that is another text by now. */
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
