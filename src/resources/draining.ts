/** Draining: a cache's groups move away for maintenance (docs/behaviour.md, Drain). */
import { text, time } from './common-fields.js'
import type { Answer, Fields } from './resource.js'

const reasonLimitCharacters = 500

const until = {
  kind: 'moment',
  nullable: true,
  description: 'When it ends by itself, in seconds since 1970; null: it does not',
} as const

/** A field of an agent; null: not drained. */
export const draining = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'Its groups move to other caches, and it gets no new ones',
  fields: { since: time, until, reason: text, account: text },
} as const

/** The body that starts a drain. */
export const drain = {
  reason: {
    kind: 'text',
    limitCharacters: reasonLimitCharacters,
    form: {
      pattern: /^(?=.*\S)[^\p{Cc}\p{Cs}\u2028\u2029]+$/u,
      right: `a line of 1 to ${reasonLimitCharacters} characters that says what for`,
    },
    write: { required: true, summary: 'the reason, shown with the agent' },
  },
  until: {
    ...until,
    write: { nullable: true, summary: 'when it ends by itself; never unless given' },
  },
} as const satisfies Fields

export type Draining = NonNullable<Answer<{ readonly draining: typeof draining }>['draining']>

/** Why a group is still on a draining agent, in its placement: callers that wait for a drain distinguish the two. */
export const movingReason = 'the agent is drained: it serves until another does in its place'
export const stayingReason =
  'the agent is drained, and serves on: no other agent that fits has room for the group'
