/** A list of the console: whole, and by page (choices: 6, `{list}`). */
import { Type, type TSchema } from 'typebox'
import type { Actor } from '../../resources/permission.js'
import type { ErrorKey } from '../../errors.js'
import { route, type Route } from '../http/route.js'
import { readPage, takePage } from './pages.js'

export interface ConsoleList<Row> {
  /** `/v1/group`. */
  readonly path: string
  /** `listGroups`; that of the pages is made of it. */
  readonly operationId: string
  readonly summary: string
  readonly errorKey: ErrorKey
  /** Of a row as it is answered. */
  readonly schema: TSchema
  /** All that the caller sees. */
  readonly read: (actor: Actor) => Promise<readonly Row[]>
  readonly view: (row: Row) => object
}

export function listRoutes<Row>(list: ConsoleList<Row>): readonly Route[] {
  const { path, operationId, summary, errorKey, schema, read, view } = list
  const permission = { console: 'read' } as const
  const answers = { 200: Type.Object({ list: Type.Array(schema) }) }
  const answer = (rows: readonly Row[]) => ({ status: 200, body: { list: rows.map(view) } })
  return [
    route({
      method: 'GET',
      path,
      operationId,
      summary,
      errorKey,
      permission,
      answers,
      handle: async ({ actor }) => answer(await read(actor)),
    }),
    route({
      method: 'GET',
      path: `${path}/{page}/{items}`,
      operationId: `${operationId}ByPage`,
      summary: 'A page of them',
      errorKey,
      permission,
      answers,
      handle: async ({ actor, params }) => {
        const page = readPage(params, errorKey)
        return answer(takePage(await read(actor), page))
      },
    }),
  ]
}
