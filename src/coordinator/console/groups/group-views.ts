/** A group as the console answers it (docs/behaviour.md, Console groups). */
import { Type } from 'typebox'
import { toCommitId, toObjectId } from '../../../resources/object-id.js'
import type { ConsoleGroup } from './groups.js'
import { toConsoleTime } from '../console-time.js'

const orNull = (description: string) => Type.Union([Type.String({ description }), Type.Null()])

export const groupSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  caches: Type.Array(Type.String(), { description: 'their ids' }),
  activeVclId: orNull('the branch that its caches shall run'),
  deployedVclCommitId: orNull('the commit that was deployed'),
  paramSetId: orNull('the parameters that its caches are set to'),
  overviewGroup: Type.Boolean({ description: 'shown on the first page' }),
  created: Type.String(),
  timestamp: Type.String(),
})

export function toGroupView(group: ConsoleGroup): object {
  const { mainFileId, deployedCommit, paramSetId } = group
  return {
    id: toObjectId('group', group.id),
    name: group.name,
    description: group.description,
    caches: group.agentIds.map((id) => toObjectId('cache', id)),
    activeVclId: mainFileId === null ? null : toObjectId('vcl', mainFileId),
    deployedVclCommitId: deployedCommit && toCommitId(deployedCommit),
    paramSetId: paramSetId === null ? null : toObjectId('paramset', paramSetId),
    overviewGroup: group.overviewGroup,
    created: toConsoleTime(group.createdAt),
    timestamp: toConsoleTime(group.updatedAt),
  }
}
