/** A console with groups, caches and users of several organizations. */
import type { Test } from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import type { StateService } from '../../../src/coordinator/service.js'
import { parseObjectId, toObjectId } from '../../../src/resources/object-id.js'
import { enrol, type EnrolOptions, type Json } from '../controller/client.js'
import { idOf, password } from '../identity/people.js'
import { root, startConsole, type ConsoleClient } from './console-client.js'

export interface MadeGroup {
  readonly id: string
  /** Its id in the controller. */
  readonly number: number
  readonly path: string
}

type Expect = (status: number, method: string, path: string, body?: unknown) => Promise<Json>

export interface Fixture extends ConsoleClient {
  readonly service: StateService
  /** Calls as the system administrator; fails the test on any other status. */
  readonly expect: Expect
  /** Calls as `who` (`name:password`). */
  readonly as: (who: string) => Expect
  /** The groups visible to `who`. */
  readonly list: (who?: string) => Promise<Json[]>
  /** Calls the controller below /api/v1 as the system administrator; returns the array of a list. */
  readonly fleet: (status: number, method: string, path: string, body?: unknown) => Promise<Json>
  readonly makeGroup: (name: string, who?: string) => Promise<MadeGroup>
  /** Returns the id of the cache in the console. */
  readonly makeCache: (name: string, options?: EnrolOptions) => Promise<string>
  /** Creates it with an administrator; returns its credentials as `name:password`. */
  readonly makeOrganization: (
    name: string,
  ) => Promise<{ readonly id: number; readonly boss: string }>
  /** Returns `name:password`. */
  readonly makeUser: (name: string, user: NewUser) => Promise<string>
}

interface NewUser {
  readonly organizationId: number | null
  readonly role: 'User' | 'ReadOnly'
  readonly groups: readonly MadeGroup[]
}

export async function startFixture(t: Test): Promise<Fixture> {
  const client = await startConsole(t, { resources: resourceRoutes })
  const { call, controller } = client
  const { service } = controller
  const token = await controller.login()
  const as: Fixture['as'] = (who) => async (status, method, path, body) => {
    const answer = await call(method, path, { as: who, ...(body !== undefined && { body }) })
    if (answer.status !== status)
      t.fail(`${method} ${path}: ${answer.status} ${answer.text}; ${status} is right`)
    return answer.body
  }
  const fleet: Fixture['fleet'] = async (status, method, path, body) => {
    const answer = await controller.call(method, `/api/v1${path}`, { token, body })
    if (answer.status !== status)
      t.fail(`${method} ${path}: ${answer.status} ${answer.text}; ${status} is right`)
    return answer.text === '' ? {} : (JSON.parse(answer.text) as Json) // objects and arrays
  }
  return {
    ...client,
    service,
    as,
    fleet,
    expect: as(root),
    list: async (who = root) => (await as(who)(200, 'GET', '/v1/group'))['list'] as Json[],
    makeGroup: async (name, who = root) => {
      const id = String((await as(who)(201, 'POST', '/v1/group', { name }))['id'])
      return { id, number: parseObjectId('group', id) ?? 0, path: `/v1/group/${id}` }
    },
    makeCache: async (name, options) => toObjectId('cache', await enrol(controller, name, options)),
    makeOrganization: async (name) => {
      const id = idOf(await fleet(201, 'POST', '/organizations', { name }))
      const boss = { name: `${name}-boss`, password, organization: { id } }
      await fleet(201, 'POST', '/accounts', boss)
      return { id, boss: `${name}-boss:${password}` }
    },
    makeUser: async (name, { organizationId, role, groups }) => {
      const accountId = idOf(await fleet(201, 'POST', '/accounts', { name, password }))
      const { queries } = service.store
      const { id } = await queries
        .insertInto('consoleUsers')
        .values({ organizationId, accountId, role, createdAt: 1, updatedAt: 1 })
        .returning('id')
        .executeTakeFirstOrThrow()
      const assigned = groups.map((group) => ({ consoleUserId: id, groupId: group.number }))
      if (assigned.length > 0)
        await queries.insertInto('consoleUserGroups').values(assigned).execute()
      return `${name}:${password}`
    },
  }
}
