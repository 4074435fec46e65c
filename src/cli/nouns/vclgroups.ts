/** `cachefleet vclgroups`: groups, their deploys and stages. */
import { yesFlag } from '../confirm.js'
import type { PlannedVerb } from '../group-plan.js'
import { fieldFlags } from '../field-flags.js'
import { idArgument, objectVerbs } from '../object-verbs.js'
import { ofGroup, statsVerb } from '../stats-verb.js'
import { gateNames } from '../../resources/rollout.js'
import { stage, vclGroup } from '../../resources/vclgroup.js'
import { toFields, toNounParts } from '../resource-noun.js'
import { testsFlag } from '../group-tests.js'
import { isSet, type Flag, type Noun, type Verb } from '../verb.js'

export const group = toNounParts(vclGroup, {
  alias: 'vg',
  exampleObject: 'site',
  summary: 'what is deployed: a main VCL, its includes, and where it goes',
  example: 'vclgroups deploy site --wait 60s',
})

const stageFields = toFields(stage)

export const waitFlags: readonly Flag[] = [
  { form: '--wait <time>', summary: 'how long to wait, 0 to 600 s, like 60s (the default)' },
  {
    form: '--percent <share>',
    summary: 'done when this share of the placed agents has it, 0 to 100 (the default)',
  },
  { form: '--detach', summary: 'do not wait; done once the deploy is accepted' },
]

const replaceFlags: readonly Flag[] = [
  {
    form: '--replace',
    summary:
      'take the places of other groups where they hold its agents, without a pause; a group with none left is undeployed',
  },
  {
    form: '--force',
    summary:
      'with --replace: also where it brings such a group below its min; of an administrator: also while frozen',
  },
]

export const forceFlag: Flag = {
  form: '--force',
  summary: 'also while the organization is frozen; for administrators',
}

const rolloutFlags: readonly Flag[] = [
  {
    form: '--waves <list>',
    summary: 'in waves, as 1,10%,50%: agents, shares of them, or tag:NAME; the rest comes last',
  },
  { form: '--agents <list>', summary: 'these agents first, the rest after `rollouts advance`' },
  { form: '--bake <time>', summary: 'how long each wave is watched, as 90s or 2m (60s)' },
  { form: '--max-bake <time>', summary: 'how long an inconclusive bake is prolonged' },
  {
    form: '--gate <limit>',
    summary: `as errors.max=1%, hitRatio.drop=10%, webhook=NAME, restarts: ${gateNames.join(', ')}`,
    repeatable: true,
  },
  { form: '--on-failure <what>', summary: 'rollback (the default) or pause' },
  { form: '--on-inconclusive <what>', summary: 'continue (the default) or pause' },
  { form: '--ban-on-rollback', summary: 'agents that go back forget the objects of the group' },
  { form: '--all-at-once', summary: 'whatever the policy of the group says' },
  { form: '--abort', summary: 'aborts a rollout of the group that runs first' },
]

const planFlag: Flag = {
  form: '--plan',
  summary: 'shows files, caches and routing that it would change, and changes nothing',
}

function orPlan(verb: PlannedVerb, run: Verb['run']): Verb['run'] {
  return async (invocation) =>
    isSet(invocation, 'plan')
      ? (await import('../group-plan.js')).planVerb(invocation, group, verb)
      : run(invocation)
}

const groupVerbs: readonly Verb[] = [
  {
    name: 'deploy',
    summary: 'deploys the group to its caches: all load it, then all switch to it',
    flags: [...waitFlags, ...replaceFlags, ...rolloutFlags, testsFlag, planFlag],
    example: 'vclgroups deploy site --wait 60s --percent 90',
    run: orPlan('deploy', async (invocation) =>
      (await import('../deploy.js')).deployGroup(invocation, group),
    ),
  },
  {
    name: 'diff',
    summary: 'shows line by line how its files differ from what is deployed',
    example: 'vclgroups diff site',
    run: async (invocation) => (await import('../group-plan.js')).diffGroup(invocation, group),
  },
  {
    name: 'cancel',
    summary: 'cancels a deploy that is loading; nothing switches, the old VCL keeps serving',
    example: 'vclgroups cancel site',
    run: async (invocation) => (await import('../deploy.js')).cancelDeploy(invocation, group),
  },
  {
    name: 'undeploy',
    summary: 'removes the group from all its caches',
    flags: [forceFlag, ...waitFlags, yesFlag, planFlag],
    example: 'vclgroups undeploy site --yes',
    run: orPlan('undeploy', async (invocation) =>
      (await import('../deploy.js')).undeployGroup(invocation, group),
    ),
  },
  {
    name: 'reload',
    summary: 'recompiles what the group serves, such as for changed host names of backends',
    flags: [...waitFlags, forceFlag],
    example: 'vclgroups reload site',
    run: async (invocation) => (await import('../deploy.js')).reloadGroup(invocation, group),
  },
  {
    name: 'rollback',
    summary: 'rolls back to an earlier revision, without one to the newest with other sources',
    flags: [
      { form: '--revision <number>', summary: 'as `history` shows it' },
      ...waitFlags,
      yesFlag,
      planFlag,
    ],
    example: 'vclgroups rollback site --revision 7 --yes',
    run: orPlan('rollback', async (invocation) =>
      (await import('../deploy.js')).rollBackGroup(invocation, group),
    ),
  },
  {
    name: 'stage',
    summary: 'stages other sources of a group on all agents with these tags, beside what it serves',
    flags: [...fieldFlags(stageFields, 'add'), forceFlag],
    example: 'vclgroups stage site --tags canary --main-vcl next.vcl --domains next.example.com',
    run: async (invocation) =>
      (await import('../stage.js')).stageGroup(invocation, group, stageFields),
  },
  {
    name: 'promote',
    summary: 'promotes the stage: the group takes its sources and is deployed, and the stage ends',
    flags: [forceFlag, testsFlag, ...waitFlags, yesFlag, planFlag],
    example: 'vclgroups promote site --wait 60s --yes',
    run: orPlan('promote', async (invocation) =>
      (await import('../deploy.js')).promoteGroup(invocation, group),
    ),
  },
  {
    name: 'delstage',
    summary: 'discards the stage; the group itself does not change',
    flags: [forceFlag, yesFlag],
    example: 'vclgroups delstage site --yes',
    run: async (invocation) => (await import('../stage.js')).dropStage(invocation, group),
  },
  {
    name: 'validate',
    summary:
      'checks the placement, compiles on an agent of each release and runs the tests, changing nothing',
    flags: [
      {
        form: '--agents <which>',
        summary: 'one of each release (`one`, the default), or `all` that fit',
      },
      {
        form: '--release <release>',
        summary: 'what is deployed, on an agent of this release, such as vinyl-9.0',
      },
      testsFlag,
    ],
    example: 'vclgroups validate site --agents all',
    run: async (invocation) => (await import('../deploy.js')).validateGroup(invocation, group),
  },
  {
    name: 'state',
    summary: 'shows the state of a group',
    example: 'vclgroups state site',
    run: async (invocation) => (await import('../group-views.js')).showState(invocation, group),
  },
  {
    name: 'placement',
    summary: 'shows which agents are chosen for a group, which are not, and why',
    flags: [{ form: '--replace', summary: 'as a deploy with --replace would choose' }],
    example: 'vclgroups placement site',
    run: async (invocation) => (await import('../group-views.js')).showPlacement(invocation, group),
  },
  {
    name: 'routing',
    summary: 'shows the generated VCL that routes to a group, on each agent',
    flags: [{ form: '--next', summary: 'as a deploy would generate it now' }],
    example: 'vclgroups routing site --next',
    run: async (invocation) => (await import('../group-views.js')).showRouting(invocation, group),
  },
  {
    name: 'history',
    summary: 'shows what happened to a group, newest first',
    example: 'vclgroups history site',
    run: async (invocation) => (await import('../group-views.js')).showHistory(invocation, group),
  },
]

export const vclGroups: Noun = {
  ...group,
  verbs: [
    ...objectVerbs(group, {
      list: '--filter deployed=true',
      add: '--name site --main-vcl main.vcl --deployments web',
      update: '--includes a.vcl,b.vcl',
    }),
    statsVerb(group, { ...ofGroup, words: ['vclgroups', 'stats'] }),
    ...groupVerbs.map((verb) => ({ ...verb, arguments: [idArgument(group)] })),
  ],
}
