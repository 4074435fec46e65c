/** Queries, bodies and responses of the verbs of a group. */
import { Type } from 'typebox'
import { releaseText } from '../../resources/cache-release.js'
import { vclGroup, verbPlan } from '../../resources/vclgroup.js'
import { idSchema, initSchema, orNull, maxReferences } from '../api/references.js'
import { answerSchema, givenBody } from '../api/resource-schemas.js'
import { waitSchema } from '../api/wait.js'
import { groupSchema } from '../groups/group-views.js'
import { forceKey } from '../identity/require-thawed.js'

const closed = { additionalProperties: false }

export const waitQuery = Type.Object(
  {
    wait: Type.Optional(waitSchema),
    percent: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Answer early once this share of the placed agents has applied; default 100',
      }),
    ),
  },
  closed,
)

const replaceQuery = {
  replace: Type.Optional(
    Type.Boolean({
      description:
        'Where other groups of the same owner hold an agent that it chooses, it is loaded beside them and takes their places; one that has no agent left is undeployed',
    }),
  ),
  force: Type.Optional(
    Type.Boolean({
      description:
        'With replace: also where a group that keeps agents falls below its min; of an administrator: also while the organization is frozen',
    }),
  ),
}

const abortKey = {
  abort: Type.Optional(
    Type.Boolean({ description: 'Aborts the rollout of the group that runs, and waits for it' }),
  ),
}

const testsKey = {
  tests: Type.Optional(
    Type.Literal('skip', {
      description: 'Does not run the tests of the group; for administrators, and logged',
    }),
  ),
}

export const abortQuery = Type.Object({ ...abortKey, ...forceKey }, closed)

export const rollbackQuery = Type.Object({ ...waitQuery.properties, ...abortKey }, closed)

export const changingQuery = Type.Object(
  { ...waitQuery.properties, ...abortKey, ...forceKey },
  closed,
)

export const promoteQuery = Type.Object({ ...changingQuery.properties, ...testsKey }, closed)

export const deployQuery = Type.Object({ ...promoteQuery.properties, ...replaceQuery }, closed)

export const deployBody = givenBody(
  {
    rollout: {
      ...vclGroup.fields.rollout,
      description: 'How it switches, in place of the group’s policy; null: all at once',
    },
  },
  { description: 'What is left out is the group’s' },
)

const warningsKey = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Why its tests were not run; only if no agent could run them',
    }),
  ),
}

/** `rollout` is the rollout that has begun, otherwise the policy of the group. */
const rolledOutSchema = Type.Object(
  {
    ...groupSchema.properties,
    rollout: Type.Union([
      Type.Object({ id: idSchema }, { ...closed, description: 'The rollout that this deploy is' }),
      groupSchema.properties.rollout,
    ]),
  },
  closed,
)
export const rolloutAnswers = { 200: rolledOutSchema, 202: rolledOutSchema }

const releasedSchema = Type.Object({ ...rolledOutSchema.properties, ...warningsKey }, closed)
export const releasedAnswers = { 200: releasedSchema, 202: releasedSchema }

export const rollbackBody = Type.Object(
  { revision: Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: 2 ** 53 - 1 }))) },
  closed,
)

export const validateQuery = Type.Object(
  {
    ...testsKey,
    init: Type.Optional(initSchema),
    agents: Type.Optional(
      Type.Union([Type.Literal('one'), Type.Literal('all')], {
        description: 'one (the default): one of each release that fits; all: all that fit',
      }),
    ),
    release: Type.Optional(
      Type.Refine(
        Type.String({
          description:
            'What is deployed is compiled on an agent of this release, such as vinyl-9.0, wherever the group goes',
        }),
        (value) => releaseText.pattern.test(value),
        () => `must be ${releaseText.right}`,
      ),
    ),
  },
  closed,
)

export const validatedSchema = Type.Object(
  {
    ...groupSchema.properties,
    ...warningsKey,
    compiledOn: Type.Integer({ description: 'Caches that it compiled on' }),
  },
  closed,
)

export const placementQuery = Type.Object(
  {
    replace: Type.Optional(Type.Boolean({ description: 'As a deploy with replace would choose' })),
    stage: Type.Optional(
      Type.Boolean({
        description: 'Which agents could take a stage, whatever its tags: these are chosen',
      }),
    ),
    domains: Type.Optional(
      Type.String({
        pattern: '^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14})*$',
        maxLength: 16 * maxReferences,
        description: 'With stage: ids of the domains that it would serve; without them the group’s',
      }),
    ),
  },
  closed,
)

export const routingQuery = Type.Object(
  {
    next: Type.Optional(
      Type.Boolean({ description: 'As a deploy would make it now, where it would be placed' }),
    ),
  },
  closed,
)

export const planQuery = Type.Object(
  {
    verb: Type.Union(verbPlan.verb.of.map((verb) => Type.Literal(verb))),
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Of a rollback; the newest with other sources' }),
    ),
    ...replaceQuery,
  },
  closed,
)

export const planSchema = answerSchema(verbPlan)
