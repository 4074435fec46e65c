/** `/v1/message`: actions and failures of both APIs, newest first. */
import { Type } from 'typebox'
import { toObjectId, type ObjectKind } from '../../resources/object-id.js'
import type { Route } from '../http/route.js'
import { findMessage, listMessages, type Message } from './messages.js'
import type { StateService } from '../service.js'
import { toConsoleTime } from './console-time.js'
import { getRoute, listRoutes, type ConsoleNoun } from './noun-routes.js'
import type { Page } from './pages.js'

/** The page served when a call names none. */
const newest: Page = { page: 1, items: 1000 }

const severities = ['info', 'warning', 'error'] as const
/** The older service's documented messages use "agent" for what agents did. */
const label = 'api'

export const messageSchema = Type.Object({
  id: Type.String(),
  action: Type.Array(Type.String(), { description: 'what it was about, and the method' }),
  created: Type.String(),
  timestamp: Type.String(),
  label: Type.String(),
  severity: Type.Enum(severities),
  title: Type.String({ description: 'for people: what was done, or why it was refused' }),
  extra: Type.Object({
    data: Type.Object({
      account: Type.String(),
      method: Type.String(),
      path: Type.String(),
      status: Type.Integer(),
    }),
    info: Type.Object({
      type: Type.String(),
      objectId: Type.Union([Type.String(), Type.Null()], {
        description: 'as the console names it, where it has a name for it',
      }),
      traceId: Type.String(),
    }),
  }),
})

export function messageRoutes(service: StateService): readonly Route[] {
  const messages: ConsoleNoun<Message> = {
    kind: 'message',
    names: { one: 'Message', many: 'Messages' },
    schema: messageSchema,
    view: toMessageView,
    find: (actor, id) => findMessage(service, actor, id),
  }
  return [
    ...listRoutes(messages, {
      summary: `The newest ${newest.items}: an Admin's of the organization, others' of their groups`,
      read: (actor, { page, items } = newest) =>
        listMessages(service, actor, { limit: items, offset: (page - 1) * items }),
    }),
    getRoute(messages, 'One message'),
  ]
}

function toMessageView(message: Message): object {
  const { account, method, path, status, traceId, keyType } = message
  const time = toConsoleTime(message.createdAt)
  return {
    id: toObjectId('message', message.id),
    action: [keyType.toUpperCase(), method],
    created: time,
    timestamp: time,
    label,
    severity: severities[message.severity - 1] ?? 'error',
    title: message.msg,
    extra: {
      data: { account, method, path, status },
      info: { type: keyType, objectId: toShownId(message), traceId },
    },
  }
}

/** The nouns of both APIs for objects that have ids in the console. */
const kinds: Readonly<Record<string, ObjectKind>> = {
  agent: 'cache',
  cache: 'cache',
  group: 'group',
  vclgroup: 'group',
  account: 'user',
  user: 'user',
  vcl: 'vcl',
  file: 'vcl',
  paramset: 'paramset',
}

/** A user of the controller is an account in an organization, with a number of its own. */
function toShownId({ keyType, keyId, path }: Message): string | null {
  const kind = /^\/api\/v1\/users\b/.test(path) ? undefined : kinds[keyType]
  return kind === undefined || keyId === null || keyId <= 0 ? null : toObjectId(kind, keyId)
}
