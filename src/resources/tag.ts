/** Tags: what an organization labels its agents with. */
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

/** As an agent answers its tags. */
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
