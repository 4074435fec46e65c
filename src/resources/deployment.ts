/** Deployments: select by tags the agents that groups are placed on, and how many. */
import { id, managedBy, named, organization, references } from './common-fields.js'
import { times, uniqueName } from './common-fields.js'
import { problems } from './problem.js'
import type { Answer, Resource } from './resource.js'
import { tag } from './tag.js'

/**
 * Active: every placed agent has applied it and each deployment has its min. Degraded: min, but a placed agent failed or is
 * Down. Error: under min. Orphan: deployed, but no agent fits. Inactive: not deployed. Deploying: in progress.
 */
export const deploymentStates = {
  Active: 1,
  Inactive: 2,
  Degraded: 3,
  Error: 4,
  Orphan: 5,
  Deploying: 6,
} as const

/** State fields of a deployment and of a group. */
export const placementState = {
  state: {
    kind: 'words',
    of: Object.values(deploymentStates),
    computed: true,
    description: '1 Active, 2 Inactive, 3 Degraded, 4 Error, 5 Orphan, 6 Deploying',
  },
  stateName: { kind: 'text', computed: true, title: 'state' },
} as const

/** The maximum is far beyond any fleet. */
const agentCount = { kind: 'integer', minimum: 1, maximum: 1_000_000 } as const

export const deployment = {
  noun: 'deployment',
  permission: 'deployment',
  event: 'deployment',
  path: '/deployments',
  nameField: 'name',
  columns: ['id', 'name', 'stateName', 'min', 'max', 'tags', 'agents'],
  fields: {
    id,
    name: uniqueName,
    organization,
    min: {
      ...agentCount,
      write: {
        nullable: true,
        default: 1,
        summary: 'agents that there must be; 1 unless given',
      },
    },
    max: {
      ...agentCount,
      write: { nullable: true, default: 1, summary: 'agents that there may be; 1 unless given' },
    },
    tags: {
      kind: 'references',
      to: tag,
      atLeast: 1,
      fields: named,
      computed: true,
      write: { required: true, summary: 'an agent fits when it has all of these, by id or name' },
    },
    ...placementState,
    problems,
    agents: { ...references, computed: true, description: 'Where groups are placed by it' },
    managedBy,
    ...times,
  },
} as const satisfies Resource

export type Deployment = Answer<typeof deployment.fields>

/** The problem with these two; null: none. */
export function findCountsProblem(min: number, max: number): string | null {
  if (min < 1) return `min is ${min}; it is at least 1`
  return max < min ? `max is ${max} and min ${min}; max is at least min` : null
}
