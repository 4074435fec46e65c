/** The VCL that a deploy of a group would load on caches: the files at their pinned versions, flattened to one text. */
import { bundleInSteps } from '../../vcl/bundle.js'
import type { ReleaseDomain, ReleaseFile } from '../fleet/vcl-group.js'
import { FleetError } from '../../errors.js'
import { readFileTexts, toVclText, type ChosenVersion, type FileText } from '../files/file-texts.js'
import type { SourceRecord } from '../fleet/sources.js'
import type { Queries } from '../store/store.js'
import type { GroupRecord } from '../fleet/group-queries.js'
import { runInSteps } from '../../in-steps.js'
import type { StateService } from '../service.js'

export interface GatheredFiles {
  readonly mainVCL: ReleaseFile
  readonly includes: readonly ReleaseFile[]
  readonly deploymentIds: readonly number[]
  readonly domains: readonly ReleaseDomain[]
  readonly releases: readonly string[] | null
}

export interface GatheredSources extends GatheredFiles {
  readonly source: SourceRecord
}

/** `error`: one line per mistake, with its file, line and position in the author's text. */
export type Gathered = GatheredSources | (GatheredFiles & { readonly error: string })

/** The fields of a group, besides its files, that affect the deployed VCL. */
type FlattenedGroup = Pick<
  GroupRecord,
  'id' | 'organizationId' | 'cacheKey' | 'domains' | 'deployments' | 'releases'
>

/** `files` defaults to the group's own. Throws FleetError conflict if there is no main file or its version does not exist. */
export async function gatherSources(
  service: StateService,
  group: GroupRecord,
  files: ChosenFiles = chooseOwn(group),
): Promise<Gathered> {
  return flattenFiles(service, service.store.queries, group, files)
}

function chooseOwn(group: GroupRecord): ChosenFiles {
  const { mainFileId: id, mainFileVersion: version } = requireOwnMain(group)
  return {
    mainVCL: { id, version },
    includes: group.includes.map(({ id }) => ({ id, version: null })),
  }
}

export interface MainFile {
  readonly mainFileId: number
  /** Null: the head. */
  readonly mainFileVersion: number | null
}

/** Only a console group can have no main file. */
export function requireOwnMain({ mainFile, mainFileVersion }: GroupRecord): MainFile {
  if (mainFile) return { mainFileId: mainFile.id, mainFileVersion }
  throw new FleetError('conflict', 'deploy', 'the group has no VCL; give it one first')
}

export interface ChosenFiles {
  readonly mainVCL: ChosenVersion
  readonly includes: readonly ChosenVersion[]
}

/** Flattens these files in place of the group's own. */
export async function flattenFiles(
  service: StateService,
  queries: Queries,
  group: FlattenedGroup,
  chosen: ChosenFiles,
): Promise<Gathered> {
  const texts = await readFileTexts(queries, [chosen.mainVCL, ...chosen.includes])
  const [main, ...includes] = texts
  if (main?.id !== chosen.mainVCL.id) {
    const { id, version } = chosen.mainVCL
    const what = version === null ? `file ${id}` : `version ${version} of file ${id}`
    const message = `${what} does not exist`
    throw new FleetError('conflict', 'deploy', message)
  }
  const files = {
    mainVCL: toReleaseFile(main),
    includes: includes.map(toReleaseFile),
    deploymentIds: group.deployments.map(({ id }) => id),
    domains: group.domains,
    releases: group.releases,
  }
  const steps = bundleInSteps(
    toVclText(main),
    new Map(includes.map((file) => [file.name, toVclText(file)])),
    {
      allowedExternal: service.settings.allowedIncludes,
      modules: allowedModulesOf(service, group.organizationId),
      prologue:
        group.domains.length === 0 ? undefined : { groupId: group.id, cacheKey: group.cacheKey },
    },
  )
  const bundle = await runInSteps(steps)
  if (!bundle.ok) return { ...files, error: bundle.errors.join('\n') }
  const { sha, text, sourceMap } = bundle
  return { ...files, source: { sha, text, sourceMap } }
}

/** Null: VCL of the system administrator may import any module. */
export function allowedModulesOf(
  service: StateService,
  organizationId: number | null,
): ReadonlySet<string> | null {
  return organizationId === null ? null : service.settings.allowedModules
}

function toReleaseFile({ id, name, version }: FileText): ReleaseFile {
  return { id, name, version }
}
