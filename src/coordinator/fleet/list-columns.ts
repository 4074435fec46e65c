/** The fields that lists of the API can be filtered and sorted by, and their columns (docs/behaviour.md, Lists). */
import { expressionBuilder, sql, type Expression, type SqlBool } from 'kysely'
import { agentStates } from '../../resources/agent-state.js'
import { agent } from '../../resources/agent.js'
import { named } from '../../resources/common-fields.js'
import type { ListColumns, NestedColumn, PlainColumn } from '../store/list-query.js'
import { lastHeartbeat } from './silence-queries.js'
import { listColumns, nestedColumns } from '../store/resource-rows.js'
import type { Tables } from '../store/schema.js'
import { visibleProblems, within, type Scope } from '../store/scope.js'

const hasTag: NestedColumn['exists'] = (condition) =>
  expressionBuilder<Tables, 'agents'>().exists((e) =>
    e
      .selectFrom('agentTags')
      .innerJoin('tags', 'tags.id', 'agentTags.tagId')
      .select('agentTags.tagId')
      .whereRef('agentTags.agentId', '=', 'agents.id')
      .where(condition),
  )

/** The last report of a Down agent does not show the current state of its cache. */
function engineStateWhile(isDown: '=' | '<>') {
  return sql<
    string | null
  >`case when agents.state ${sql.raw(isDown)} ${sql.lit(agentStates.Down)} then agents."engineState" end`
}

const attemptColumns = {
  'config.lastAttempted.revision': {
    column: 'agents.attemptedRevision',
    type: 'number',
    nullable: true,
  },
  'config.lastAttempted.result': {
    column: 'agents.attemptedResult',
    type: 'text',
    nullable: true,
  },
  'config.lastAttempted.at': { column: 'agents.attemptedAt', type: 'time', nullable: true },
} as const

/** As stored by the problem follower: computing them for one page would read the whole fleet. */
function problemColumns(scope: Scope) {
  const ofAgent = sql<SqlBool>`"openProblems"."objectType" = 'agent'
    and "openProblems"."objectId" = agents.id and "openProblems"."endedAt" is null
    and ${visibleProblems(scope)}`
  const worst = sql<number>`coalesce((select max("openProblems".severity) from "openProblems"
    where ${ofAgent}), 0)`
  const hasProblem: NestedColumn['exists'] = (condition) =>
    expressionBuilder<Tables, 'agents'>().exists((e) =>
      e.selectFrom('openProblems').select('openProblems.code').where(ofAgent).where(condition),
    )
  return {
    severity: { column: worst, type: 'number' },
    'problems.code': {
      type: 'nested',
      of: { column: 'openProblems.code', type: 'text' },
      exists: hasProblem,
    },
  } as const satisfies Readonly<Record<string, PlainColumn | NestedColumn>>
}

export const agentColumns = {
  ...listColumns(agent.fields, 'agents'),
  stateName: { column: 'agents.state', type: 'choice', choices: agentStates },
  lastHeartbeat: { column: lastHeartbeat(), type: 'time' },
  engineState: { column: engineStateWhile('<>'), type: 'text', nullable: true },
  lastEngineState: { column: engineStateWhile('='), type: 'text', nullable: true },
  ...nestedColumns('tags', { fields: named, table: 'tags' }, hasTag),
  'tags.static': {
    type: 'nested',
    of: { column: 'agentTags.static', type: 'flag' },
    exists: hasTag,
  },
  ...problemColumns({ kind: 'all' }),
  'config.desired.revision': { column: 'agents.desiredRevision', type: 'number' },
  ...attemptColumns,
  'config.effective.revision': {
    column: 'agents.effectiveRevision',
    type: 'number',
    nullable: true,
  },
} satisfies ListColumns

/**
 * Consistent with the agents' responses: on a shared agent an organization neither sees nor can filter by the result of the
 * last attempt, which may have been another organization's.
 */
export function agentColumnsFor(scope: Scope): ListColumns {
  if (scope.kind === 'all') return agentColumns
  const owned = (attempted: PlainColumn): PlainColumn => ({
    ...attempted,
    column: sql`case when ${within(scope, 'agents')} then ${toExpression(attempted)} end`,
  })
  const attempts = Object.entries(attemptColumns).map(
    ([name, column]) => [name, owned(column)] as const,
  )
  return { ...agentColumns, ...problemColumns(scope), ...Object.fromEntries(attempts) }
}

function toExpression({ column }: PlainColumn): Expression<unknown> {
  return typeof column === 'string' ? sql.ref(column) : column
}
