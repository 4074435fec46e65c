/** Tags, and who may see them: those of the organization, and those that a shared agent bears (choices: 2, Who). */
import { expressionBuilder, type Expression, type SqlBool } from 'kysely'
import { organizationOf, type OwnerRow } from './owner.js'
import type { Tables } from './schema.js'
import { within, type Scope } from './scope.js'
import type { Queries } from './store.js'
import type { NamedReference } from './vcl-groups.js'

export interface TagRecord {
  readonly id: number
  /** Null: the system administrator's own. */
  readonly organization: NamedReference | null
  readonly name: string
  /** An agent sends it now. */
  readonly static: boolean
  readonly createdAt: number
  readonly updatedAt: number
}

/** The tag is visible: its own organization's, or borne by a shared agent. */
export function visibleTag(scope: Scope): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'tags'>()
  const shared = e.exists(
    e
      .selectFrom('agentTags')
      .innerJoin('agents', 'agents.id', 'agentTags.agentId')
      .select('agentTags.tagId')
      .whereRef('agentTags.tagId', '=', 'tags.id')
      .where('agents.organizationId', 'is', null),
  )
  return scope.kind === 'all' ? within(scope, 'tags') : e.or([within(scope, 'tags'), shared])
}

/** An agent sends this tag now. */
export function staticTag(): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'tags'>()
  return e.exists(
    e
      .selectFrom('agentTags')
      .select('agentTags.tagId')
      .whereRef('agentTags.tagId', '=', 'tags.id')
      .where('agentTags.static', '=', 1),
  )
}
