/**
 * One call of every route: the permission that it needs (docs/behaviour.md, Permissions), and a body that refers to objects of every kind
 * that it can refer to. The walks take them for each route that the server mounts; a route without a sample fails them.
 */
import type { Route } from '../../../src/coordinator/http/route.js'
import type { Access, PermissionType } from '../../../src/resources/permission.js'
import type { Json } from '../identity/people.js'
import {
  certificateText,
  webhookFields,
  kindOfPath,
  type Kind,
  type TenantObjects,
} from './tenant-objects.js'

export interface Sample {
  /** As documented, not as the table of routes has it. */
  readonly needs: 'public' | 'anyone' | `${PermissionType} ${Access}`
  /** Required as well: the route shows objects of two types. */
  readonly needsToo?: `${PermissionType} ${Access}`
  /** Parameters of the path besides `{id}`. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: string
  /** A valid body of the owner of these objects; undefined: the call takes none. */
  readonly body?: (own: TenantObjects) => Json
  /** For system administrators only: other callers get 403 for objects that they can see. */
  readonly system?: true
}

const of = (id: number): Json => ({ id })
const name = 'a new one'
const owner = ({ organization }: TenantObjects): Json => ({ organization: of(organization) })
const source = 'vcl 4.1;\n'
const member = {
  body: ({ account }: TenantObjects) => ({ account: of(account) }),
  system: true,
} as const
const range = {
  counter: 'cache_hit',
  name: 'avghitratio',
  consolfunc: 'AVERAGE',
  start: '0',
  end: '60',
}
const group = (own: TenantObjects): Json => ({
  name,
  mainVCL: of(own.file),
  includes: [of(own.file)],
  domains: [of(own.domain)],
  deployments: [of(own.deployment)],
})

const banOf = ({ vclgroup }: TenantObjects): Json => ({
  type: 'ban',
  expression: 'obj.status == 404',
  target: { vclGroup: of(vclgroup) },
})

export const samples: Readonly<Record<string, Sample>> = {
  login: { needs: 'public', body: () => ({ org: 'nobody' }) },
  refresh: { needs: 'public' },
  logout: { needs: 'anyone' },
  whoami: { needs: 'anyone' },
  changePassword: { needs: 'anyone', body: () => ({ old: 'not the old one', new: 'x' }) },
  beginOidcLogin: { needs: 'public', params: { organization: 'nobody' } },
  finishOidcLogin: { needs: 'public' },
  exchangeOidcCode: { needs: 'public', body: () => ({ code: 'x' }) },

  getOverview: { needs: 'anyone' },

  listSessions: { needs: 'session read' },
  createApiToken: {
    needs: 'session write',
    body: () => ({
      label: name,
      expire: Math.floor(Date.now() / 1000) + 3600,
      permissions: [{ type: 'tag', read: true }],
    }),
  },
  deleteSession: { needs: 'session write' },

  listOrganizations: { needs: 'org read' },
  createOrganization: { needs: 'org write', body: () => ({ name }), system: true },
  getOrganization: { needs: 'org read' },
  updateOrganization: { needs: 'org write', body: () => ({ name }), system: true },
  deleteOrganization: { needs: 'org write', system: true },
  assignAccount: { needs: 'org write', ...member },
  unassignAccount: { needs: 'org write', ...member },

  listAccounts: { needs: 'account read' },
  createAccount: {
    needs: 'account write',
    body: (own) => ({
      name,
      password: 'long enough a word',
      ...owner(own),
      organizations: [of(own.organization)],
    }),
  },
  getAccount: { needs: 'account read' },
  updateAccount: {
    needs: 'account write',
    body: ({ organization }) => ({ organizations: [of(organization)] }),
  },
  deleteAccount: { needs: 'account write' },
  listUsers: { needs: 'account read' },
  createUser: {
    needs: 'account write',
    body: (own) => ({ account: of(own.account), ...owner(own) }),
  },
  getUser: { needs: 'account read' },
  updateUser: {
    needs: 'account write',
    body: ({ account }) => ({ account: of(account), role: 'regular' }),
  },
  deleteUser: { needs: 'account write' },
  listPermissions: { needs: 'perm read' },
  createPermission: {
    needs: 'perm write',
    body: (own) => ({ account: of(own.account), type: 'file', ...owner(own) }),
  },
  getPermission: { needs: 'perm read' },
  updatePermission: {
    needs: 'perm write',
    body: ({ account }) => ({ account: of(account), write: true }),
  },
  deletePermission: { needs: 'perm write' },
  listIdps: { needs: 'idp read' },
  createIdp: {
    needs: 'idp write',
    body: (own) => ({ baseURL: 'https://idp.example', clientID: 'x', ...owner(own) }),
  },
  getIdp: { needs: 'idp read' },
  updateIdp: { needs: 'idp write', body: () => ({ clientID: 'y' }) },
  deleteIdp: { needs: 'idp write' },

  listAgents: { needs: 'agent read' },
  getAgent: { needs: 'agent read' },
  updateAgent: { needs: 'agent write', body: ({ tag }) => ({ tags: [of(tag)] }) },
  deleteAgent: { needs: 'agent write' },
  unlockAgent: { needs: 'agent write' },
  unlockAgents: { needs: 'agent write', body: ({ agent }) => ({ agents: [of(agent)] }) },
  drainAgent: { needs: 'agent write', body: () => ({ reason: 'kernel update' }) },
  undrainAgent: { needs: 'agent write' },
  replaceAgent: { needs: 'agent write', body: ({ agent }) => ({ by: of(agent) }) },
  listAgentVcls: { needs: 'agent read' },
  listAgentParams: { needs: 'agent read' },
  listAgentBackends: { needs: 'agent read' },
  listAgentBans: { needs: 'agent read' },
  getAgentPanic: { needs: 'agent read' },
  sendAgentCommand: { needs: 'command write', body: () => ({ command: 'ping' }) },
  setAgentParam: {
    needs: 'agent write',
    params: { name: 'default_ttl' },
    body: () => ({ value: '60' }),
  },
  setAgentBackend: { needs: 'agent write', params: { name: 'default', health: 'sick' } },
  listJoinTokens: { needs: 'agent write' },
  createJoinToken: {
    needs: 'agent write',
    body: (own) => ({ label: name, tags: [of(own.tag)], ...owner(own) }),
  },
  deleteJoinToken: { needs: 'agent write' },

  listBackends: { needs: 'agent read', needsToo: 'vclgroup read' },

  listTags: { needs: 'tag read' },
  createTag: { needs: 'tag write', body: (own) => ({ name, ...owner(own) }) },
  getTag: { needs: 'tag read' },
  updateTag: { needs: 'tag write', body: () => ({ name }) },
  deleteTag: { needs: 'tag write' },

  listFiles: { needs: 'file read' },
  createFile: { needs: 'file write', body: (own) => ({ name, source, ...owner(own) }) },
  getFile: { needs: 'file read' },
  updateFile: { needs: 'file write', body: () => ({ name }) },
  deleteFile: { needs: 'file write' },
  listFileVersions: { needs: 'file read' },
  getFileVersion: { needs: 'file read', params: { n: '1' } },
  diffFileVersions: { needs: 'file read', query: 'from=1&to=1' },
  compileFiles: {
    needs: 'file write',
    body: ({ file, agent }) => ({ mainVCL: of(file), agents: [of(agent)] }),
  },
  listVcls: { needs: 'file read' },
  createVcl: {
    needs: 'file write',
    body: (own) => ({ name: 'another new one', source, ...owner(own) }),
  },

  listDeployments: { needs: 'deployment read' },
  createDeployment: {
    needs: 'deployment write',
    body: (own) => ({ name, tags: [of(own.tag)], ...owner(own) }),
  },
  getDeployment: { needs: 'deployment read' },
  updateDeployment: { needs: 'deployment write', body: ({ tag }) => ({ tags: [of(tag)] }) },
  deleteDeployment: { needs: 'deployment write' },

  listDomains: { needs: 'domain read' },
  createDomain: { needs: 'domain write', body: (own) => ({ fqdn: 'new.example', ...owner(own) }) },
  getDomain: { needs: 'domain read' },
  updateDomain: { needs: 'domain write', body: () => ({ fqdn: 'newer.example' }) },
  deleteDomain: { needs: 'domain write' },
  listCertificates: { needs: 'certificate read' },
  createCertificate: {
    needs: 'certificate write',
    body: (own) => ({ name, ...certificateText, ...owner(own), deployments: [of(own.deployment)] }),
  },
  getCertificate: { needs: 'certificate read' },
  updateCertificate: {
    needs: 'certificate write',
    body: (own) => ({ name: 'newer', deployments: [of(own.deployment)] }),
  },
  deleteCertificate: { needs: 'certificate write' },
  deployCertificate: { needs: 'certificate write', query: 'wait=0' },
  rollbackCertificate: { needs: 'certificate write', query: 'wait=0' },

  listWebhooks: { needs: 'webhook read' },
  createWebhook: {
    needs: 'webhook write',
    body: (own) => ({ name, ...webhookFields, ...owner(own) }),
  },
  getWebhook: { needs: 'webhook read' },
  updateWebhook: { needs: 'webhook write', body: () => ({ name: 'newer' }) },
  deleteWebhook: { needs: 'webhook write' },
  testWebhook: { needs: 'webhook write' },
  listWebhookDeliveries: { needs: 'webhook read' },

  listVclGroups: { needs: 'vclgroup read' },
  createVclGroup: { needs: 'vclgroup write', body: (own) => ({ ...group(own), ...owner(own) }) },
  getVclGroup: { needs: 'vclgroup read' },
  updateVclGroup: { needs: 'vclgroup write', body: group },
  deleteVclGroup: { needs: 'vclgroup write' },
  deployVclGroup: { needs: 'vclgroup write', query: 'wait=0' },
  cancelVclGroup: { needs: 'vclgroup write' },
  undeployVclGroup: { needs: 'vclgroup write', query: 'wait=0' },
  reloadVclGroup: { needs: 'vclgroup write', query: 'wait=0' },
  promoteVclGroup: { needs: 'vclgroup write', query: 'wait=0' },
  rollbackVclGroup: { needs: 'vclgroup write', query: 'wait=0', body: () => ({ revision: 1 }) },
  stageVclGroup: {
    needs: 'vclgroup write',
    body: (own) => ({
      tags: [of(own.tag)],
      mainVCL: of(own.file),
      includes: [of(own.file)],
      domains: [of(own.domain)],
    }),
  },
  delstageVclGroup: { needs: 'vclgroup write' },
  validateVclGroup: { needs: 'vclgroup read' },
  getVclGroupState: { needs: 'vclgroup read' },
  getVclGroupPlacement: { needs: 'vclgroup read' },
  getVclGroupRouting: { needs: 'vclgroup read' },
  getVclGroupPlan: { needs: 'vclgroup read', query: 'verb=deploy' },
  getVclGroupHistory: { needs: 'vclgroup read' },
  planPlacement: {
    needs: 'vclgroup read',
    body: (own) => ({
      groups: [{ id: own.vclgroup, name, domains: [], deployments: [name] }],
      deployments: [{ id: own.deployment, name, min: 1, max: 1, tags: [of(own.tag)] }],
      undeployed: [of(own.vclgroup)],
    }),
  },

  listRollouts: { needs: 'vclgroup read' },
  getRollout: { needs: 'vclgroup read' },
  pauseRollout: { needs: 'vclgroup write' },
  resumeRollout: { needs: 'vclgroup write' },
  advanceRollout: { needs: 'vclgroup write' },
  abortRollout: { needs: 'vclgroup write' },

  listInvalidations: { needs: 'invalidation read' },
  createInvalidation: { needs: 'invalidation write', body: banOf },
  previewInvalidation: { needs: 'invalidation write', body: banOf },
  getInvalidation: { needs: 'invalidation read' },
  deleteInvalidation: { needs: 'invalidation write' },
  retryInvalidation: { needs: 'invalidation write' },
  cancelInvalidation: { needs: 'invalidation write' },

  getAgentCounter: { needs: 'stats read', needsToo: 'agent read', params: range },
  getAgentStats: { needs: 'stats read', needsToo: 'agent read', params: range },
  getAgentGraph: { needs: 'stats read', needsToo: 'agent read', params: range },
  getVclGroupCounter: { needs: 'stats read', needsToo: 'vclgroup read', params: range },
  getVclGroupStats: { needs: 'stats read', needsToo: 'vclgroup read', params: range },
  getVclGroupGraph: { needs: 'stats read', needsToo: 'vclgroup read', params: range },
  getVclGroupNewestStats: { needs: 'stats read', needsToo: 'vclgroup read' },
  getDomainCounter: {
    needs: 'stats read',
    needsToo: 'domain read',
    params: { ...range, counter: 'requests' },
  },
  getDomainStats: { needs: 'stats read', needsToo: 'domain read', params: range },
  getDomainGraph: {
    needs: 'stats read',
    needsToo: 'domain read',
    params: { ...range, name: 'status' },
  },
  listNewestStats: { needs: 'stats read', needsToo: 'agent read' },
  getFleetStats: { needs: 'stats read', needsToo: 'agent read', params: range },
  listCounters: { needs: 'stats read' },
  listMarks: { needs: 'stats read', params: range },

  listApiLogs: { needs: 'apilog read' },
}

/** Throws for a route without a sample. */
export function sampleOf({ operationId, method, path }: Route): Sample {
  const sample = samples[operationId]
  if (sample) return sample
  throw new Error(`${method} ${path} (${operationId}) has no sample call in samples.ts; add one`)
}

/** The kind of the id in the path; null: it has none. */
export function kindIn({ path }: Route): Kind | null {
  const [, noun = ''] = path.split('/')
  if (!path.includes('{id}')) return null
  if (noun in kindOfPath) return kindOfPath[noun as keyof typeof kindOfPath] // asked just before
  throw new Error(`${path} has an id of a kind that tenant-objects.ts does not know; add it`)
}

/** The path below /api/v1, with the query of the sample. */
export function addressOf(route: Route, id: number | string = ''): string {
  const { params = {}, query } = sampleOf(route)
  const path = route.path.replace(/\{(\w+)\}/g, (_, key: string) =>
    key === 'id' ? String(id) : (params[key] ?? ''),
  )
  return query === undefined ? path : `${path}?${query}`
}
