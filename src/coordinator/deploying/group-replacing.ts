/** What a deploy, and the placement that it is foreseen by, is asked about other groups on its agents. */
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'
import type { DeployRequest } from './deploy.js'

export const replaceQuery = {
  replace: Type.Optional(
    Type.Boolean({
      description:
        'Where other groups of the same owner hold an agent that it chooses, it is loaded beside them and takes their places; one that has no agent left is undeployed',
    }),
  ),
  force: Type.Optional(
    Type.Boolean({
      description: 'With replace: also where a group that keeps agents falls below its min',
    }),
  ),
}

export const placementQuery = Type.Object(
  {
    replace: Type.Optional(Type.Boolean({ description: 'As a deploy with replace would choose' })),
  },
  { additionalProperties: false },
)

/** Throws 'invalid' for force alone. */
export function readReplace(query: {
  readonly replace?: boolean
  readonly force?: boolean
}): DeployRequest['replace'] {
  const { replace = false, force = false } = query
  if (force && !replace)
    throw new FleetError(
      'invalid',
      'deploy',
      'force is for a deploy that replaces others; give replace=true with it, or leave it out',
    )
  return replace ? { force } : undefined
}
