/** `/logs`: requests of many caches, as they are answered (docs/behaviour.md, Live log). */
import { Type } from 'typebox'
import { may, type Actor } from '../../resources/permission.js'
import { FleetError } from '../../errors.js'
import { loggedFields, type LoggedField } from '../../resources/logged-transaction.js'
import { judgeLogQuery, requireSample } from '../../traffic/judge-query.js'
import { parseLogQuery, printLogQuery } from '../../traffic/log-query.js'
import { queryLimitBytes } from '../../traffic/query-words.js'
import type { LogPart } from '../bus/subjects.js'
import { readToken } from '../http/credentials.js'
import { route, type Route } from '../http/route.js'
import type { Authenticator } from '../identity/authenticate.js'
import type { StateService } from '../service.js'
import type { AskedLog } from './log-streams.js'
import type { LogReaders } from './log-readers.js'
import { nameGroups } from './name-groups.js'
import { selectCaches, type SelectedCaches } from './select-caches.js'

const errorKey = 'log'

interface LogParts {
  readonly service: StateService
  readonly readers: LogReaders
  readonly authenticator: Authenticator
}

const text = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

const querySchema = Type.Object(
  {
    agents: text('ids of agents; left out: all that you may see', '1,2'),
    tags: text('ids of tags: agents that have all of them', '3'),
    vclGroup: Type.Optional(Type.Integer({ description: 'id: only its requests', minimum: 1 })),
    domain: Type.Optional(Type.Integer({ description: 'id: only its requests', minimum: 1 })),
    q: text("a query of the cache's log, as vsl-query(7) tells", 'RespStatus >= 500'),
    fields: text('names of fields, joined by commas; left out: all', 'at,url,status'),
    limit: Type.Optional(
      Type.Integer({ description: 'lines a second of each agent; 100', minimum: 1, maximum: 1000 }),
    ),
    sample: Type.Optional(
      Type.Integer({ description: 'one of so many requests: 1, 10, 100 or 1000', minimum: 1 }),
    ),
  },
  { additionalProperties: false },
)

export function logRoutes({ service, readers, authenticator }: LogParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/logs',
      operationId: 'readLogs',
      summary:
        'Server-sent events: transaction, one for each request as it is answered; dropped, how many were left out; ended, why no more come',
      errorKey,
      permission: { type: 'log', access: 'read', alsoReads: 'agent' },
      query: querySchema,
      answers: { 200: Type.Object({}, { additionalProperties: true }) },
      isStream: true,
      handle: async ({ actor, query, headers, sourceAddress }) => {
        const fields = readFields(query.fields)
        const sample = requireSample(query.sample ?? 1)
        const { limit = 100 } = query
        const printed = judge(actor, query.q)
        const selected = await selectCaches(service, actor, query)
        readers.requireRoom(actor)
        const token = readToken(headers, 'bearer') ?? '' // the call was let in by it
        const { expiresAtMs } = await authenticator.recognize(token, sourceAddress)
        const names = await nameGroups(service, actor)
        const wanted = { query: printed, sample, linesPerSecond: limit }
        const asked = toAsked(selected, { ...wanted, masksClients: !mayReadClients(actor) })
        return {
          status: 200,
          stream: (connection) => {
            const print = createPrinter(selected, names, fields)
            readers.listen({ actor, asked, print, expiresAtMs }, connection)
          },
        }
      },
    }),
  ]
}

function mayReadClients(actor: Actor): boolean {
  return may(actor, 'logclient', 'read')
}

/** As the tool takes it; null: no query. Throws FleetError 'invalid'. */
function judge(actor: Actor, q: string | undefined): string | null {
  if (q === undefined) return null
  const query = parseLogQuery(q)
  judgeLogQuery(q, query, {
    isBound: actor.organizationId !== null,
    // What an agent masks beside that it judges itself.
    masking: { headers: [], masksQuery: false, masksClients: !mayReadClients(actor) },
  })
  const printed = printLogQuery(query)
  if (Buffer.byteLength(printed) > queryLimitBytes)
    throw new FleetError('invalid', errorKey, `q: it has more than ${queryLimitBytes} bytes`)
  return printed
}

function toAsked(
  { caches, domain }: SelectedCaches,
  wanted: Omit<AskedLog['wanted'], 'groups' | 'domain'>,
): readonly AskedLog[] {
  return caches.map(({ agentId, groups }) => ({ agentId, wanted: { ...wanted, groups, domain } }))
}

/** Throws FleetError 'invalid'. */
function readFields(given: string | undefined): readonly LoggedField[] {
  if (given === undefined) return loggedFields
  const words = given.split(',')
  const unknown = words.find((word) => !loggedFields.some((name) => name === word))
  if (unknown !== undefined)
    throw new FleetError(
      'invalid',
      errorKey,
      `fields has ${JSON.stringify(unknown)}; known are ${loggedFields.join(', ')}`,
    )
  return loggedFields.filter((name) => words.includes(name))
}

/** JSON of the first transactions of a part, with names in place of ids. */
function createPrinter(
  { caches }: SelectedCaches,
  groupNames: ReadonlyMap<number, string>,
  fields: readonly LoggedField[],
): (part: LogPart, most: number) => readonly string[] {
  const agentNames = new Map(caches.map(({ agentId, name }) => [agentId, name]))
  return ({ agentId, transactions }, most) =>
    transactions.slice(0, most).map(({ at, groupId, ...its }) => {
      const name = groupId === null ? undefined : groupNames.get(groupId)
      return JSON.stringify(
        {
          ...its,
          agent: { id: agentId, name: agentNames.get(agentId) ?? '' },
          at: new Date(at).toISOString(),
          vclGroup: groupId === null || name === undefined ? null : { id: groupId, name },
        },
        [...fields, 'id', 'name'],
      )
    })
}
