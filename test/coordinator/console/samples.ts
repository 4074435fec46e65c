/**
 * One call of every route of the console: what it needs by the contract (choices: 6), and what it sends. The walk takes them for
 * each route that is served; a route without a sample fails it.
 */
import type { Route } from '../../../src/coordinator/http/route.js'
import type { ConsoleAccess } from '../../../src/domain/console-role.js'
import { password, type Json } from '../identity/people.js'
import { kindOfParameter, type Estate } from './estate.js'

export interface Sample {
  /** By the contract, not by the table of routes. */
  readonly needs: 'public' | ConsoleAccess
  /** Of the path, beside ids. */
  readonly at?: Readonly<Record<string, string>>
  /** A right one of somebody who owns these. */
  readonly body?: (own: Estate) => Json
  /** Instead of JSON. */
  readonly text?: { readonly type: string; readonly text: string }
  readonly query?: string
}

const page = { page: '1', items: '10' }
const form = 'application/x-www-form-urlencoded'

export const samples: Readonly<Record<string, Sample>> = {
  consoleLogin: { needs: 'public', text: { type: form, text: 'username=nobody&password=x' } },
  consoleLogout: { needs: 'public' },
  checkCookie: { needs: 'public' },
  consoleVersion: { needs: 'public' },

  listCaches: { needs: 'read' },
  listCachesByPage: { needs: 'read', at: page },
  getCache: { needs: 'read' },

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

/** Its path with these ids; `over`: parameters that are something else. */
export function addressOf(
  route: Route,
  own: Estate,
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

/** What `call` of the console client takes. */
export function sentBy(route: Route, own: Estate) {
  const { body, text } = sampleOf(route)
  if (text) return text
  return body ? { body: body(own) } : {}
}
