/** Properties common to all tags. */
import { tag } from '../../../resources/tag.js'
import type { NamedKind } from '../../parts/named-object.js'

export const tagKind: NamedKind = { resource: tag, title: 'Tags', hint: 'As eu, video or canary' }
