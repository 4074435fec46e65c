/** What people change of a group, as its form holds it and as the API takes it: values in, values out. */
import type { GivenPolicy } from '../../../resources/rollout.js'
import type { Group } from '../../../resources/vclgroup.js'
import { splitWords } from '../../parts/split-words.js'

export interface GroupFields {
  readonly name: string
  /** Ids; of the main VCL one at most. */
  readonly main: readonly number[]
  /** Empty: the newest at each deploy. */
  readonly version: string
  readonly includes: readonly number[]
  readonly tests: readonly number[]
  readonly requireTests: boolean
  readonly domains: readonly number[]
  readonly deployments: readonly number[]
  readonly keepOnFailure: boolean
  /** With blanks between; empty: any. */
  readonly releases: string
  /** Null: all at once. */
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

/** Which kinds of objects may be referred to. */
export interface Choosable {
  readonly file: boolean
  readonly domain: boolean
  readonly deployment: boolean
}

/** What may not be read cannot be chosen, and stays as it is. */
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
