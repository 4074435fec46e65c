/** `/v1/group/{id}/<noun>/{<noun>Id}`: what a group has, given to it by PUT and taken from it by DELETE. */
import { parseObjectId } from '../../../resources/object-id.js'
import { FleetError } from '../../../errors.js'
import { route, type Call, type Route } from '../../http/route.js'
import { aboutOne, type ConsoleNoun } from '../noun-routes.js'
import type { StateService } from '../../service.js'
import { groupNoun } from './group-routes.js'
import type { ConsoleGroup } from './groups.js'

type GroupCall = Call<unknown, unknown, ConsoleGroup>
type RelatedNoun<Related> = Pick<ConsoleNoun<Related>, 'kind' | 'find'>

interface Change<Related> {
  readonly operationId: string
  readonly summary: string
  readonly run: (call: GroupCall, related: Related) => Promise<void>
}

export function relationRoutes<Related>(
  service: StateService,
  noun: RelatedNoun<Related>,
  changes: { readonly give: Change<Related>; readonly take: Change<Related> },
): readonly Route[] {
  const methods = [
    ['PUT', changes.give],
    ['DELETE', changes.take],
  ] as const
  return methods.map(([method, { run, ...change }]) =>
    route({
      ...aboutOne(groupNoun(service), 'write'),
      ...change,
      method,
      path: relationPath(noun),
      answers: { 204: null },
      handle: async (call) => {
        await run(call, await requireRelated(noun, call))
        return { status: 204 }
      },
    }),
  )
}

export function relationPath({ kind }: RelatedNoun<unknown>): string {
  return `/v1/group/{id}/${kind}/{${kind}Id}`
}

export async function requireRelated<Related>(
  { kind, find }: RelatedNoun<Related>,
  { actor, params }: Pick<GroupCall, 'actor' | 'params'>,
): Promise<Related> {
  const text = params[`${kind}Id`] ?? ''
  const id = parseObjectId(kind, text)
  const related = id === undefined ? undefined : await find(actor, id)
  if (related === undefined)
    throw new FleetError('not-found', kind, `${text.slice(0, 100)} was not found`)
  return related
}
