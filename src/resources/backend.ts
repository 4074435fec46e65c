/** Backends of VCL groups, as seen by the caches that serve the groups. */
import { integer, named, reference, timeOrNull } from './common-fields.js'
import { agent } from './agent.js'
import { vclGroup } from './vclgroup.js'
import type { Answer, Resource } from './resource.js'

/** The maximum number of agents listed per backend. */
export const maxSickAgents = 100

export const backend = {
  noun: 'backend',
  permission: 'agent',
  event: 'backend',
  path: '/backends',
  nameField: null,
  columns: ['vclGroup', 'name', 'sick', 'healthy', 'since', 'agents'],
  fields: {
    vclGroup: { ...reference, to: vclGroup, title: 'group' },
    name: { kind: 'text', description: 'In VCL' },
    healthy: {
      ...integer,
      description: 'Agents that see it healthy; those that are Down do not count',
    },
    sick: { ...integer, description: 'Agents that see it sick' },
    agents: {
      kind: 'references',
      to: agent,
      fields: named,
      description: `Those that see it sick, at most ${maxSickAgents} of them`,
    },
    since: { ...timeOrNull, description: 'When the first of them saw it sick; null: none does' },
  },
} as const satisfies Resource

export type Backend = Answer<typeof backend.fields>
