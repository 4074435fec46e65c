/** Join tokens: let new agents enrol. The token itself is returned only once, by the create. */
import { id, nameRules, organization } from './common-fields.js'
import type { Answer, Resource } from './resource.js'

/** The end of the year 9999, the last that ISO 8601 writes with four digits. */
const latestSeconds = 253_402_300_799
/** A fleet of simulated agents enrols with one token. */
const maxUses = 100_000

export const joinToken = {
  noun: 'jointoken',
  permission: 'agent',
  path: '/jointokens',
  nameField: 'label',
  columns: ['id', 'label', 'uses', 'maxUses', 'expires', 'tags', 'created'],
  fields: {
    id,
    label: {
      kind: 'name',
      description: nameRules,
      write: { required: true, summary: 'what it is for' },
    },
    organization,
    expires: {
      kind: 'moment',
      maximum: latestSeconds,
      nullable: true,
      column: 'expiresAt',
      description: 'Epoch seconds; null: never',
      write: { nullable: true, summary: 'never unless given' },
    },
    maxUses: {
      kind: 'integer',
      minimum: 1,
      maximum: maxUses,
      title: 'max uses',
      write: { nullable: true, default: 1, summary: 'agents it lets in; 1 unless given' },
    },
    uses: { kind: 'integer', minimum: 0 },
    tags: { kind: 'list', of: { kind: 'reference' }, computed: true },
    created: { kind: 'time', column: 'createdAt' },
  },
} as const satisfies Resource

export type JoinToken = Answer<typeof joinToken.fields>
export type CreatedJoinToken = JoinToken & { readonly token: string }
