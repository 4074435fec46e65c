/** A period in which an organization's groups are not deployed (docs/behaviour.md, Freeze). */
import type { ValueOf } from './resource.js'

const reasonLimitCharacters = 500

export const frozen = {
  kind: 'object',
  nullable: true,
  computed: true,
  description: 'Until then the verbs of its groups that change caches are 409; null: not frozen',
  fields: {
    until: { kind: 'moment', description: 'seconds since 1970' },
    reason: {
      kind: 'text',
      limitCharacters: reasonLimitCharacters,
      form: {
        pattern: /^(?=.*\S)[^\p{Cc}\p{Cs}\u2028\u2029]+$/u,
        right: `a line of 1 to ${reasonLimitCharacters} characters that says what for`,
      },
    },
  },
  write: { nullable: true },
} as const

export type Frozen = NonNullable<ValueOf<typeof frozen>>
