/** VCL groups: one main VCL, its includes, its domains, and the deployments that place it. */
import { maxReleases, releaseText } from './cache-release.js'
import { id, integer, integerOrNull, managedBy, named, organization } from './common-fields.js'
import { reference, references, text, textOrNull } from './common-fields.js'
import { time, timeOrNull, times, uniqueName } from './common-fields.js'
import { deployment, placementState } from './deployment.js'
import { domain } from './domain.js'
import { file } from './file.js'
import { problems } from './problem.js'
import type { Answer, Fields, Resource } from './resource.js'
import { rolloutPolicy } from './rollout.js'
import { tag } from './tag.js'

/** The maximum number of tests per group. */
const maxTests = 100

export const namedDomain = { id, fqdn: text } as const
const domains = { kind: 'list', of: { kind: 'object', fields: namedDomain } } as const

/** A file at a version. */
const pin = { kind: 'object', fields: { ...named, version: integer } } as const
/** The files of a deploy, at the versions that it pinned. */
const pins = { mainVCL: pin, includes: { kind: 'list', of: pin } } as const

const toFile = { kind: 'reference', to: file, versioned: true, computed: true } as const
const toIncludes = { kind: 'references', to: file, fields: named, computed: true } as const
const toDomains = { kind: 'references', to: domain, fields: namedDomain, computed: true } as const
const includesSummary = 'files that the main VCL includes, by id or name'

const agentStates = {
  kind: 'list',
  computed: true,
  of: {
    kind: 'object',
    fields: {
      agent: reference,
      state: { kind: 'words', of: ['wanted', 'applying', 'applied', 'failed'] },
      revision: integerOrNull,
      error: textOrNull,
      deployedAt: timeOrNull,
    },
  },
} as const

const staged = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'What is staged, at the versions that it was staged with',
  fields: { tags: references, domains, ...pins, agentStates, problems },
} as const

const releases = {
  kind: 'list',
  of: { kind: 'text', form: releaseText },
  atLeast: 1,
  atMost: maxReleases,
  nullable: true,
  description:
    'The releases of the cache that it may go to; null: any. A number without a name is Varnish, and stands for all that begin with it: 7, 6.0, vinyl-9',
} as const

const wish = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'What the newest deploy pinned',
  fields: {
    ...pins,
    domains,
    deployments: { kind: 'list', of: { kind: 'object', fields: { id } } },
    releases,
    pending: { kind: 'flag', description: 'It waits for agents' },
  },
} as const

const fields = {
  id,
  name: uniqueName,
  organization,
  root: {
    kind: 'flag',
    computed: true,
    description:
      'Its VCL is the whole VCL of each cache. It follows the domains: true without, false with some',
    write: { nullable: true, summary: 'follows the domains: true without any' },
  },
  console: {
    kind: 'flag',
    description: 'It is a group of the console: changed there (/api/v1/group), only read here',
  },
  keepOnFailure: {
    kind: 'flag',
    write: {
      nullable: true,
      default: true,
      summary: 'an agent whose cache refuses a deploy keeps the old VCL; true unless given',
    },
  },
  mainVCL: {
    ...toFile,
    nullable: true,
    title: 'main VCL',
    description: "Its version only when one is pinned. null: a console's group without VCL",
    write: {
      required: true,
      summary: 'file by id or name, its newest version at each deploy',
    },
  },
  includes: { ...toIncludes, write: { nullable: true, summary: includesSummary } },
  domains: {
    ...toDomains,
    write: {
      nullable: true,
      summary: 'what it answers for, by id or name; without any its VCL is the whole of each cache',
    },
  },
  deployments: {
    kind: 'references',
    to: deployment,
    fields: named,
    computed: true,
    write: { nullable: true, summary: 'where it goes, by id or name' },
  },
  tests: {
    kind: 'references',
    to: file,
    fields: named,
    atMost: maxTests,
    computed: true,
    description: 'Its tests of VCL: files of type 4',
    write: { nullable: true, summary: 'its tests of VCL, files of type 4 by id or name' },
  },
  requireTests: {
    kind: 'flag',
    description: 'No deploy where no agent can run its tests',
    write: {
      nullable: true,
      default: false,
      summary: 'no deploy where no agent can run its tests; else that is a warning',
    },
  },
  releases: {
    ...releases,
    write: {
      nullable: true,
      summary: 'releases of the cache that it may go to, as 7,6.0,vinyl-9; any unless given',
    },
  },
  rollout: {
    kind: 'object',
    fields: rolloutPolicy,
    nullable: true,
    description: 'How its deploys switch: in waves; null: all at once',
    write: { nullable: true },
  },
  deployed: { kind: 'flag', computed: true, description: 'Whether it is to be deployed' },
  ...placementState,
  problems,
  revision: { ...integer, description: 'The newest that was switched to; 0 before the first' },
  agentStates,
  staged,
  wish,
  managedBy,
  ...times,
} as const satisfies Fields

export const vclGroup = {
  noun: 'vclgroup',
  permission: 'vclgroup',
  event: 'vclgroup',
  path: '/vclgroups',
  nameField: 'name',
  columns: [
    'id',
    'name',
    'stateName',
    'deployed',
    'revision',
    'mainVCL',
    'domains',
    'deployments',
    'console',
  ],
  fields,
} as const satisfies Resource

/** The body that stages other sources; absent fields are taken from the group. */
export const stage = {
  tags: {
    kind: 'references',
    to: tag,
    atLeast: 1,
    fields: named,
    write: {
      required: true,
      summary: 'it goes to all running agents that have all of these, by id or name',
    },
  },
  domains: {
    ...toDomains,
    write: {
      nullable: true,
      summary: 'what it answers for, on the agents of the group too; by id or name',
    },
  },
  mainVCL: {
    ...toFile,
    write: { nullable: true, summary: 'file by id or name, its newest version' },
  },
  includes: { ...toIncludes, write: { nullable: true, summary: includesSummary } },
} as const satisfies Fields

export type Group = Answer<typeof fields>
export type Place = Group['agentStates'][number]
export type Staged = NonNullable<Group['staged']>
export type DesiredRelease = NonNullable<Group['wish']>
export type Pins = Pick<Staged, 'mainVCL' | 'includes'>
export type Pin = Pins['mainVCL']

/** Which agents were chosen for a group and which were not, with reasons. */
export const placementReason = {
  agent: reference,
  deployment: { ...reference, nullable: true },
  chosen: { kind: 'flag' },
  reason: text,
} as const satisfies Fields

export type PlacementReason = Answer<typeof placementReason>

/** The expected placements of a group in its desired state. */
export const foreseenPlacements = {
  name: text,
  agents: {
    kind: 'list',
    of: {
      kind: 'object',
      fields: {
        agent: reference,
        deployment: { ...textOrNull, description: 'null: the group leaves this agent' },
        held: { kind: 'flag', description: 'The group is there already' },
        waiting: {
          kind: 'flag',
          description:
            'The agent is offline: its place is kept until it returns or another agent takes it',
        },
        reason: { ...textOrNull, description: 'Why it leaves, or waits' },
        replaces: {
          ...references,
          description: 'Groups that make way for it there; some with replace only',
        },
      },
    },
  },
  shortage: {
    ...textOrNull,
    description: 'Why a deploy would be refused or wait now; null: it would not',
  },
} as const satisfies Fields

export type ForeseenPlacements = Answer<typeof foreseenPlacements>

export const agentRouting = {
  agent: reference,
  source: { ...text, description: 'The generated VCL that routes requests there' },
} as const satisfies Fields

export type AgentRouting = Answer<typeof agentRouting>

export const historyEntry = {
  revision: { ...integerOrNull, description: 'null: a deploy that failed' },
  at: time,
  account: text,
  action: text,
  result: { ...text, description: 'ok, or the error text' },
  ...pins,
  replaced: { ...references, description: 'Groups whose places it took' },
  replacedBy: {
    ...reference,
    nullable: true,
    description: 'The group that took the last place of this one, which ended it',
  },
} as const satisfies Fields

export type HistoryEntry = Answer<typeof historyEntry>

/** What a verb of a group would change. */
export const verbPlan = {
  verb: { kind: 'words', of: ['deploy', 'rollback', 'promote', 'undeploy'] },
  revision: { ...integerOrNull, description: 'Of a rollback: the one that it goes back to' },
  from: { kind: 'object', nullable: true, fields: pins, description: 'What is deployed' },
  to: { kind: 'object', nullable: true, fields: pins, description: 'What would be; null: nothing' },
  agents: foreseenPlacements.agents,
  routing: {
    kind: 'list',
    description: 'Of agents whose requests would be routed otherwise; equal changes once',
    of: {
      kind: 'object',
      fields: {
        agents: references,
        from: { ...textOrNull, description: 'The generated VCL; null: nothing is routed' },
        to: textOrNull,
      },
    },
  },
  tests: { ...references, description: 'They run before' },
  changes: { kind: 'flag', description: 'Whether it would change anything' },
  refusal: {
    ...textOrNull,
    description: 'Why it would be refused or wait now; null: it would not',
  },
} as const satisfies Fields

export type VerbPlan = Answer<typeof verbPlan>
