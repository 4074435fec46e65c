/** What an organization has in the console: one object of each kind and one caller of each role. All names contain its mark. */
import type { Test } from 'tap'
import { resourceRoutes } from '../../../src/coordinator/controller/resources.js'
import { agentStates } from '../../../src/resources/agent-state.js'
import { parseObjectId, toCommitId, toObjectId } from '../../../src/resources/object-id.js'
import { eventually } from '../../support/eventually.js'
import type { ControllerOptions } from '../../support/start-controller.js'
import { enrol } from '../controller/client.js'
import { idOf, password, rows, type Json } from '../identity/people.js'
import { startConsole, type ConsoleClient } from './console-client.js'

/** Named as in paths: `{id}` below `/v1/cache`, or `{cacheId}`. */
export const kinds = ['cache', 'group', 'vcl', 'commit', 'paramset', 'user', 'message'] as const
export type Kind = (typeof kinds)[number]
/** An id of each kind. */
export type TenantObjects = Readonly<Record<Kind, string>>

/** Ids that do not exist. */
export const nobodys: TenantObjects = {
  ...(Object.fromEntries(kinds.map((kind) => [kind, ''])) as TenantObjects), // each is set below
  cache: toObjectId('cache', 987_654),
  group: toObjectId('group', 987_654),
  vcl: toObjectId('vcl', 987_654),
  commit: toCommitId({ fileId: 987_654, version: 1 }),
  paramset: toObjectId('paramset', 987_654),
  user: toObjectId('user', 987_654),
  message: toObjectId('message', 987_654),
}

export const roles = ['admin', 'user', 'reader', 'outsider'] as const
/** `user` and `reader` have the group of its objects; `outsider` is a User without groups. */
export type Caller = (typeof roles)[number]

export interface ConsoleTenant {
  readonly mark: string
  readonly objects: TenantObjects
  /** `name:password` of each. */
  readonly callers: Readonly<Record<Caller, string>>
}

export interface ConsoleTenants extends ConsoleClient {
  readonly makeTenant: (mark: string) => Promise<ConsoleTenant>
}

export async function startConsoleTenants(
  t: Test,
  options: ControllerOptions = {},
): Promise<ConsoleTenants> {
  const client = await startConsole(t, { resources: resourceRoutes, ...options })
  const token = await client.controller.login()
  const fleet: Fleet = async (path, body) => {
    const answer = await client.controller.call('POST', `/api/v1${path}`, { token, body })
    if (answer.status !== 201) t.fail(`${path}: ${answer.status} ${answer.text}`)
    return idOf(answer.body)
  }
  return { ...client, makeTenant: (mark) => makeTenant(client, fleet, mark) }
}

/** Creates an object of the controller as the system administrator. */
type Fleet = (path: string, body: Json) => Promise<number>

async function makeTenant(
  client: ConsoleClient,
  fleet: Fleet,
  mark: string,
): Promise<ConsoleTenant> {
  const name = `${mark} thing`
  const organization = { id: await fleet('/organizations', { name: mark }) }
  await fleet('/accounts', { name: `${mark}-boss`, password, organization })
  const admin = `${mark}-boss:${password}`
  const make = maker(client, admin)
  const agent = await enrol(client.controller, `${mark}-cache`, { organizationId: organization.id })
  await lose(client, agent)
  const cache = toObjectId('cache', agent)
  const group = await make('/v1/group', { name })
  const vcl = await make('/v1/vcl', { name, content: `vcl 4.1; # ${mark}\n` })
  const paramset = await make('/v1/paramset', { name, params: { default_ttl: '77' } })
  for (const part of [`cache/${cache}`, `vcl/${vcl}`, `paramset/${paramset}`])
    await tie(client, admin, `/v1/group/${group}/${part}`)
  const person = async (who: string, role: string, groups: readonly string[]) => {
    const username = `${mark}-${who}`
    const id = await make('/v1/user', { username, password, role, groups })
    return { id, login: `${username}:${password}` }
  }
  const user = await person('user', 'User', [group])
  const reader = await person('reader', 'ReadOnly', [group])
  const outsider = await person('outsider', 'User', [])
  const guest = await person('guest', 'ReadOnly', [group])
  return {
    mark,
    objects: {
      cache,
      group,
      vcl,
      paramset,
      commit: toCommitId({ fileId: parseObjectId('vcl', vcl) ?? 0, version: 1 }),
      user: guest.id,
      message: await findMessageOf(client, admin, guest.id),
    },
    callers: { admin, user: user.login, reader: reader.login, outsider: outsider.login },
  }
}

function maker({ call }: ConsoleClient, as: string): (path: string, body: Json) => Promise<string> {
  return async (path, body) => {
    const answer = await call('POST', path, { as, body })
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    return String(answer.body['id'])
  }
}

async function tie({ call }: ConsoleClient, as: string, path: string): Promise<void> {
  const { status, text } = await call('PUT', path, { as })
  if (status !== 204) throw new Error(`${path}: ${status} ${text}`)
}

/** The message of the call that created the user. */
async function findMessageOf({ call }: ConsoleClient, as: string, userId: string): Promise<string> {
  const message = await eventually('the creation of the user has a message', async () => {
    const list = rows((await call('GET', '/v1/message', { as })).body['list'])
    return list.find(({ extra }) => {
      const { info } = extra as { info: Json } // part of every message
      return info['objectId'] === userId
    })
  })
  return String(message['id'])
}

/** Marks the agent Down, so that calls do not wait for it: it never answers. */
async function lose({ controller }: ConsoleClient, agentId: number): Promise<void> {
  await controller.service.store.queries
    .updateTable('agents')
    .set({ state: agentStates.Down })
    .where('id', '=', agentId)
    .execute()
}

/** The kind of object that this path parameter identifies. */
export function kindOfParameter(path: string, parameter: string): Kind | undefined {
  const step = parameter === 'id' ? path.split('/')[2] : parameter.replace(/Id$/, '').toLowerCase()
  return kinds.find((kind) => kind === step)
}
