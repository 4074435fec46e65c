/** Schemas of the request and response for planned placements, and the types derived from them. */
import { Type } from 'typebox'
import { maxReleases, releaseText } from '../../resources/cache-release.js'
import { matching, type Fitting } from '../../resources/json-fields.js'
import type { ForeseenPlacements } from '../../resources/vclgroup.js'
import { idSchema, nameSchema, orNull, maxReferences } from '../api/references.js'

const closed = { additionalProperties: false }

/** The limit of one folder of `cachefleet apply`. */
const maxObjects = 1_000

const countSchema = Type.Integer({ minimum: 1, maximum: 1_000_000 })

const plannedDeploymentSchema = Type.Object(
  {
    id: Type.Optional(idSchema),
    name: nameSchema,
    min: countSchema,
    max: countSchema,
    tags: Type.Array(
      Type.Object({ id: Type.Optional(idSchema), name: Type.Optional(nameSchema) }, closed),
      {
        minItems: 1,
        maxItems: maxReferences,
        description: 'Without an id: a new one, which no agent has',
      },
    ),
  },
  { ...closed, description: 'The planned deployment; without an id a new one' },
)

const plannedGroupSchema = Type.Object(
  {
    id: Type.Optional(idSchema),
    name: nameSchema,
    domains: Type.Array(Type.String(), { maxItems: maxReferences, description: 'Names, not ids' }),
    deployments: Type.Array(Type.String(), {
      maxItems: maxReferences,
      description: 'Names of deployments in this plan',
    }),
    releases: Type.Optional(
      orNull(
        Type.Array(matching(releaseText.pattern, releaseText.right), {
          minItems: 1,
          maxItems: maxReleases,
          description: 'Of the cache; null, or left out: any',
        }),
      ),
    ),
    replace: Type.Optional(
      orNull(Type.Boolean({ description: 'Deployed with replace=true; false unless given' })),
    ),
  },
  { ...closed, description: 'The planned group; without an id a new one' },
)

export const planSchema = Type.Object(
  {
    groups: Type.Array(plannedGroupSchema, { maxItems: maxObjects }),
    deployments: Type.Array(plannedDeploymentSchema, { maxItems: maxObjects }),
    undeployed: Type.Optional(
      orNull(
        Type.Array(Type.Object({ id: idSchema }, closed), {
          maxItems: maxObjects,
          description: 'Groups that are undeployed first',
        }),
      ),
    ),
  },
  closed,
)

export type PlacementPlan = Fitting<typeof planSchema>
export type PlannedPlacement = ForeseenPlacements['agents'][number]
