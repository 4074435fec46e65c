/** Tags: labels that an organization gives its agents. */
import { id, managedBy, organization, times, uniqueName } from './common-fields.js'
import type { Answer, Resource } from './resource.js'

const named = {
  id,
  name: uniqueName,
  static: {
    kind: 'flag',
    computed: true,
    description: 'An agent sends it; of an agent: this agent sends it',
  },
} as const

/** The fields of a tag in an agent. */
export const borneTag = { ...named, ...times } as const

export const tag = {
  noun: 'tag',
  permission: 'tag',
  event: 'tag',
  path: '/tags',
  nameField: 'name',
  columns: ['id', 'name', 'static', 'organization'],
  fields: { ...named, organization, managedBy, ...times },
} as const satisfies Resource

export type Tag = Answer<typeof tag.fields>
