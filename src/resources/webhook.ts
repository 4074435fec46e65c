/** Webhooks receive an organization's events. The secret is write-only, or generated and returned once; URLs are returned shortened. */
import {
  id,
  integer,
  organization,
  text,
  textOrNull,
  time,
  times,
  uniqueName,
} from './common-fields.js'
import { problems } from './problem.js'
import type { Answer, Fields, Resource } from './resource.js'

/** Event names as subscribers get them. */
export const webhookTypes = [
  'agent',
  'deployment',
  'rollout',
  'invalidation',
  'problem',
  'apilog',
] as const
export type WebhookType = (typeof webhookTypes)[number]

const webhookFormats = ['json', 'slack'] as const
export type WebhookFormat = (typeof webhookFormats)[number]

/** Limits of stored data per webhook. */
export const webhookLimits = { waiting: 10_000, deliveries: 1_000, answerBytes: 1024 } as const

const urlLimit = 2_000
const filterLimit = 1_000

export const webhook = {
  noun: 'webhook',
  permission: 'webhook',
  event: 'webhook',
  path: '/webhooks',
  nameField: 'name',
  columns: ['id', 'name', 'url', 'types', 'filter', 'format', 'enabled', 'failing', 'waiting'],
  fields: {
    id,
    name: uniqueName,
    organization,
    url: {
      kind: 'text',
      limitCharacters: urlLimit,
      description:
        'https; http only in --webhook-networks, or of the system administrator. Answered as scheme, host and port: what ' +
        'follows may be a secret. That form in a PUT leaves it as it is',
      write: { required: true, summary: 'where events are posted to: https' },
    },
    types: {
      kind: 'list',
      of: { kind: 'words', of: webhookTypes },
      atMost: webhookTypes.length,
      description:
        'Which events; whoever sets them must be allowed to read the objects that they are about. Empty: it is only for gates of rollouts',
      write: {
        required: true,
        summary: `which events, separated by commas: ${webhookTypes.join(', ')}`,
      },
    },
    filter: {
      kind: 'text',
      limitCharacters: filterLimit,
      description:
        'as lists are filtered, over the object of the event: stateName=Failing,Down; joined by &. Empty: all of them',
      write: {
        nullable: true,
        default: '',
        summary: 'which of them, as lists are filtered: stateName=Failing,Down; all unless given',
      },
    },
    format: {
      kind: 'words',
      of: webhookFormats,
      description: 'json: {id, type, at, data}; slack: {text}',
      write: { nullable: true, default: 'json', summary: 'json (the default) or slack' },
    },
    secret: {
      kind: 'text',
      optional: true,
      computed: true,
      description:
        'The key of the signature: 16 to 255 printable ASCII characters. Answered once, by the call that makes a webhook without one',
      write: {},
    },
    enabled: {
      kind: 'flag',
      description:
        'false: nothing is sent, and what waits is dropped. Turned off when deliveries have failed for 24 hours',
      write: {
        nullable: true,
        default: true,
        summary: 'whether events are sent; true unless given',
      },
    },
    failing: { kind: 'flag', computed: true, description: 'The last delivery failed' },
    waiting: {
      ...integer,
      computed: true,
      description: `Deliveries that wait, at most ${webhookLimits.waiting}; then the oldest are dropped`,
    },
    dropped: { ...integer, description: 'How many were dropped' },
    problems,
    ...times,
  },
} as const satisfies Resource

export type Webhook = Answer<typeof webhook.fields>

/** States of a delivery. */
const deliveryStates = ['waiting', 'delivered', 'failed', 'dropped'] as const
export type DeliveryState = (typeof deliveryStates)[number]

const deliveryFields = {
  id,
  type: { ...text, description: 'The event, test or gate' },
  at: { ...time, description: 'When the event happened' },
  state: {
    kind: 'words',
    of: deliveryStates,
    description:
      'failed: a test or a question of a gate that failed; what events make waits instead, until it is dropped',
  },
  attempts: integer,
  status: {
    kind: 'integer',
    nullable: true,
    description: 'Of the last answer; null: there was none',
  },
  answer: {
    ...textOrNull,
    description: `The first ${webhookLimits.answerBytes} bytes of the last answer`,
  },
  error: { ...textOrNull, description: 'Why the last attempt failed; null: it did not' },
  ended: { kind: 'time', nullable: true, description: 'When it was delivered or given up' },
} as const satisfies Fields

export const webhookDelivery = { kind: 'object', fields: deliveryFields } as const
export type WebhookDelivery = Answer<typeof deliveryFields>
