/** The editable fields of a group, as the form holds them and as the API accepts them. Pure functions. */
import type { GivenPolicy } from '../../../resources/rollout.js'
import type { Group } from '../../../resources/vclgroup.js'
import { splitWords } from '../../parts/split-words.js'

export interface GroupFields {
  readonly name: string
  /** Ids; at most one main VCL. */
  readonly main: readonly number[]
  /** Empty: each deploy uses the newest version. */
  readonly version: string
  readonly includes: readonly number[]
  readonly tests: readonly number[]
  readonly requireTests: boolean
  readonly domains: readonly number[]
  readonly deployments: readonly number[]
  readonly keepOnFailure: boolean
  /** Separated by blanks; empty: any release. */
  readonly releases: string
  /** Null: all caches at once. */
  readonly rollout: GivenPolicy | null
}

const empty: GroupFields = {
  name: '',
  main: [],
  version: '',
  includes: [],
  tests: [],
  requireTests: false,
  domains: [],
  deployments: [],
  keepOnFailure: true,
  releases: '',
  rollout: null,
}

export function readGroupFields(group: Group | null): GroupFields {
  if (group === null) return empty
  const { name, keepOnFailure, mainVCL, includes, domains, deployments, releases } = group
  return {
    name,
    keepOnFailure,
    requireTests: group.requireTests,
    rollout: group.rollout,
    releases: releases?.join(' ') ?? '',
    main: mainVCL === null ? [] : [mainVCL.id],
    version: String(mainVCL?.version ?? ''),
    includes: includes.map(({ id }) => id),
    tests: group.tests.map(({ id }) => id),
    domains: domains.map(({ id }) => id),
    deployments: deployments.map(({ id }) => id),
  }
}

/** Which types of objects the user may reference. */
export interface Choosable {
  readonly file: boolean
  readonly domain: boolean
  readonly deployment: boolean
}

/** Objects that the user may not read cannot be chosen; their fields stay unchanged. */
export function toGroupBody(fields: GroupFields, may: Choosable): object {
  const { name, keepOnFailure, main, version, includes, domains, deployments } = fields
  const { tests, requireTests, rollout } = fields
  const releases = splitWords(fields.releases)
  return {
    name,
    keepOnFailure,
    requireTests,
    rollout,
    releases: releases.length === 0 ? null : releases,
    ...(may.file && {
      mainVCL: { id: main[0], version: version === '' ? null : Number(version) },
      includes: toReferences(includes),
      tests: toReferences(tests),
    }),
    ...(may.domain && { domains: toReferences(domains) }),
    ...(may.deployment && { deployments: toReferences(deployments) }),
  }
}

export function toReferences(ids: readonly number[]): readonly { readonly id: number }[] {
  return ids.map((id) => ({ id }))
}
