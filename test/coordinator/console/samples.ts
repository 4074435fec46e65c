/**
 * One sample call of every route of the console: the access it needs (docs/behaviour.md, Console) and what it sends. The walk
 * uses the sample of each served route; a route without a sample fails the walk.
 */
import type { Route } from '../../../src/coordinator/http/route.js'
import type { ConsoleAccess } from '../../../src/resources/console-role.js'
import { password, type Json } from '../identity/people.js'
import { kindOfParameter, type TenantObjects } from './tenants.js'

export interface Sample {
  /** As documented, independent of the table of routes. */
  readonly needs: 'public' | ConsoleAccess
  /** Path parameters other than ids. */
  readonly at?: Readonly<Record<string, string>>
  /** A valid body from an owner of these objects. */
  readonly body?: (own: TenantObjects) => Json
  /** Sent instead of a JSON body. */
  readonly text?: { readonly type: string; readonly text: string }
  readonly query?: string
}

const page = { page: '1', items: '10' }
const range = {
  counter: 'cache_hit',
  name: 'avghitratio',
  consolfunc: 'AVERAGE',
  start: '0',
  end: '60',
}
const form = 'application/x-www-form-urlencoded'

export const samples: Readonly<Record<string, Sample>> = {
  consoleLogin: { needs: 'public', text: { type: form, text: 'username=nobody&password=x' } },
  consoleLogout: { needs: 'public' },
  checkCookie: { needs: 'public' },
  consoleVersion: { needs: 'public' },

  listCaches: { needs: 'read' },
  listCachesByPage: { needs: 'read', at: page },
  getCache: { needs: 'read' },
  updateCache: { needs: 'write', body: () => ({ description: 'a new one' }) },
  deleteCache: { needs: 'administer' },
  getCacheStatus: { needs: 'read' },
  getCacheSummary: { needs: 'read' },
  getCacheConsistency: { needs: 'read' },
  listCacheBackends: { needs: 'read' },
  listCacheBans: { needs: 'read' },
  setCacheBackend: { needs: 'write', at: { backend: 'default', health: 'auto' } },
  sendCacheCommand: { needs: 'write', body: () => ({ command: 'ping' }) },
  listCacheParams: { needs: 'read' },
  setCacheParam: { needs: 'write', at: { name: 'default_ttl' }, body: () => ({ value: '60' }) },
  resetCacheParam: { needs: 'write', at: { name: 'default_ttl' } },
  getCacheCounter: { needs: 'read', at: range },
  getCacheStats: { needs: 'read', at: range, query: '?counters=cache_hit' },
  getCacheGraph: { needs: 'read', at: range },

  listGroups: { needs: 'read' },
  listGroupsByPage: { needs: 'read', at: page },
  createGroup: { needs: 'administer', body: () => ({ name: 'a new one' }) },
  getGroup: { needs: 'read' },
  updateGroup: { needs: 'write', body: () => ({ description: 'a new one' }) },
  deleteGroup: { needs: 'write' },
  getGroupCounter: { needs: 'read', at: range },
  getGroupStats: { needs: 'read', at: range, query: '?counters=cache_hit' },
  getGroupGraph: { needs: 'read', at: range },
  addCacheToGroup: { needs: 'write' },
  removeCacheFromGroup: { needs: 'write' },
  addParamSetToGroup: { needs: 'write' },
  removeParamSetFromGroup: { needs: 'write' },
  addVclToGroup: { needs: 'write' },
  removeVclFromGroup: { needs: 'write' },
  deployVcl: { needs: 'write' },
  banInGroup: { needs: 'write', body: () => ({ expression: 'req.url ~ ^/x' }) },

  listBranches: { needs: 'read' },
  listBranchesByPage: { needs: 'read', at: page },
  createBranch: { needs: 'write', body: () => ({ name: 'a new one', content: 'vcl 4.1;' }) },
  getBranch: { needs: 'read' },
  updateBranch: { needs: 'write', body: () => ({ description: 'a new one' }) },
  deleteBranch: { needs: 'write' },
  getHead: { needs: 'read' },
  getCommit: { needs: 'read' },
  listCommits: { needs: 'read' },
  listCommitsByPage: { needs: 'read', at: page },
  push: { needs: 'write', body: () => ({ content: 'vcl 4.1; # 2' }) },
  pushOnto: { needs: 'write', body: () => ({ content: 'vcl 4.1; # 3' }) },

  listParamSets: { needs: 'read' },
  listParamSetsByPage: { needs: 'read', at: page },
  createParamSet: {
    needs: 'write',
    body: () => ({ name: 'a new one', params: { default_ttl: '60' } }),
  },
  getParamSet: { needs: 'read' },
  updateParamSet: { needs: 'write', body: () => ({ description: 'a new one' }) },
  deleteParamSet: { needs: 'write' },

  listMessages: { needs: 'read' },
  listMessagesByPage: { needs: 'read', at: page },
  getMessage: { needs: 'read' },

  listConsoleUsers: { needs: 'read' },
  listConsoleUsersByPage: { needs: 'read', at: page },
  createConsoleUser: {
    needs: 'administer',
    body: ({ group }) => ({ username: 'a new one', password, role: 'User', groups: [group] }),
  },
  getConsoleUser: { needs: 'read' },
  updateConsoleUser: { needs: 'read', body: ({ group }) => ({ groups: [group] }) },
  deleteConsoleUser: { needs: 'administer' },

  getLicense: { needs: 'read' },
  uploadLicense: { needs: 'administer', text: { type: 'text/plain', text: 'x' } },

  listSchemas: { needs: 'read' },
  getSchema: { needs: 'read', at: { entity: 'cache' } },
}

export function sampleOf({ operationId }: Route): Sample {
  const sample = samples[operationId]
  if (!sample) throw new Error(`${operationId} has no sample in samples.ts`)
  return sample
}

/** The path of the route with these ids; `over`: parameters with other values. */
export function addressOf(
  route: Route,
  own: TenantObjects,
  over: Readonly<Record<string, string>> = {},
): string {
  const { at = {}, query = '' } = sampleOf(route)
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const kind = kindOfParameter(route.path, name)
    const value = over[name] ?? at[name] ?? (kind && own[kind])
    if (value === undefined) throw new Error(`${route.operationId}: a sample needs "${name}"`)
    return value
  })
  return `${path}${query}`
}

export function parametersOf({ path }: Route): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
}

/** Options for `call` of the console client. */
export function sentBy(route: Route, own: TenantObjects) {
  const { body, text } = sampleOf(route)
  if (text) return text
  return body ? { body: body(own) } : {}
}
