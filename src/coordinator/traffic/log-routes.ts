/** `/logs`: streams the requests of many caches as they are answered (docs/behaviour.md, Live log). */
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'
import {
  loggedFields,
  type LoggedField,
  type LoggedRequest,
} from '../../resources/logged-transaction.js'
import type { LogPart } from '../bus/subjects.js'
import { readToken } from '../http/credentials.js'
import { route, type Route } from '../http/route.js'
import type { Authenticator } from '../identity/authenticate.js'
import type { StateService } from '../service.js'
import type { LogReaders } from './log-readers.js'
import { nameGroups } from './name-groups.js'
import { selectCaches, toAsked, type SelectedCaches } from './select-caches.js'
import { mayReadClients, readWanted, selectorSchema } from './wanted.js'

const errorKey = 'log'

interface LogParts {
  readonly service: StateService
  readonly readers: LogReaders
  readonly authenticator: Authenticator
}

const querySchema = Type.Object(
  {
    ...selectorSchema,
    fields: Type.Optional(
      Type.String({
        description: 'names of fields, joined by commas; left out: all',
        examples: ['at,url,status'],
      }),
    ),
    detail: Type.Optional(
      Type.Boolean({ description: 'also the records of each request, as its cache logged them' }),
    ),
    limit: Type.Optional(
      Type.Integer({ description: 'lines a second of each agent; 100', minimum: 1, maximum: 1000 }),
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
        const { limit: linesPerSecond = 100, detail: withRecords = false } = query
        const wanted = { ...readWanted(actor, query), linesPerSecond, withRecords }
        const selected = await selectCaches(service, actor, query)
        readers.requireRoom(actor, selected.caches.length)
        const token = readToken(headers, 'bearer') ?? '' // the call was authenticated with it
        const { expiresAtMs } = await authenticator.recognize(token, sourceAddress)
        const names = await nameGroups(service, actor)
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

/** Prints the first transactions of a part as JSON, with the names of agents and groups. */
function createPrinter(
  { caches }: SelectedCaches,
  groupNames: ReadonlyMap<number, string>,
  fields: readonly LoggedField[],
): (part: LogPart, most: number) => readonly string[] {
  const agentNames = new Map(caches.map(({ agentId, name }) => [agentId, name]))
  return ({ agentId, transactions }, most) =>
    transactions.slice(0, most).map(({ at, groupId, parts, recordsLeftOut, ...its }) => {
      const name = groupId === null ? undefined : groupNames.get(groupId)
      const logged: LoggedRequest = {
        ...its,
        agent: { id: agentId, name: agentNames.get(agentId) ?? '' },
        at: new Date(at).toISOString(),
        vclGroup: groupId === null || name === undefined ? null : { id: groupId, name },
      }
      return JSON.stringify({
        ...Object.fromEntries(fields.map((field) => [field, logged[field]])),
        ...(parts && { records: parts, recordsLeftOut }),
      })
    })
}
