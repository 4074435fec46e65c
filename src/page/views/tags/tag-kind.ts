/** What is the same of all tags. */
import type { NamedKind } from '../../parts/named-object.js'

export const tagKind: NamedKind = {
  ...{ noun: 'tag', title: 'Tags', path: '/tags', field: 'name' },
  hint: 'As eu, video or canary',
}
