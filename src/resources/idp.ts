/** Identity providers, where an organization's users log in. The client secret is write-only. */
import { id, times } from './common-fields.js'
import { organization } from './organization.js'
import type { Answer, Resource } from './resource.js'

export const idp = {
  noun: 'idp',
  permission: 'idp',
  path: '/idps',
  nameField: 'organization.name',
  columns: ['id', 'organization', 'baseURL', 'clientID', 'scopes', 'roleClaim'],
  fields: {
    id,
    organization: { kind: 'reference', to: organization },
    baseURL: {
      kind: 'text',
      column: 'baseUrl',
      title: 'base URL',
      description:
        "the provider's issuer, as https://idp.example.com/realms/web: https, or http on loopback; nothing link-local, no metadata",
      write: {
        required: true,
        summary: "the provider's issuer: https, or http on loopback",
      },
    },
    clientID: {
      kind: 'text',
      column: 'clientId',
      title: 'client ID',
      description: 'what the provider knows this service as',
      write: { required: true, summary: 'what the provider knows the fleet as' },
    },
    scopes: {
      kind: 'list',
      of: { kind: 'text' },
      description: 'openid is always asked for',
      write: {
        nullable: true,
        default: ['openid', 'profile', 'email'],
        summary: 'asked for, separated by commas; openid,profile,email unless given',
      },
    },
    roleClaim: {
      kind: 'text',
      title: 'role claim',
      description:
        'claim (or path to one, a.b) whose values administrator, regular, <type>:read and <type>:write ' +
        'decide at every login what users may do; empty: nothing is mapped',
      write: {
        nullable: true,
        default: '',
        summary: 'claim that says what users may do; nothing is mapped unless given',
      },
    },
    ...times,
  },
} as const satisfies Resource

export type Idp = Answer<typeof idp.fields>
