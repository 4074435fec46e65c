/** Rollouts: a deploy switches in waves, each baked and checked by gates before the next begins. */
import { id, integer, organization, reference, text } from './common-fields.js'
import { textOrNull, time, timeOrNull } from './common-fields.js'
import { problems } from './problem.js'
import type { Answer, Fields, Resource } from './resource.js'

export const rolloutStates = {
  Loading: 1,
  Switching: 2,
  Baking: 3,
  Paused: 4,
  RollingBack: 5,
  Succeeded: 6,
  RolledBack: 7,
  Aborted: 8,
  Failed: 9,
} as const
type RolloutStateName = keyof typeof rolloutStates

const stateNames = Object.keys(rolloutStates) as readonly RolloutStateName[]

export function rolloutStateName(state: number): RolloutStateName {
  return stateNames.find((name) => rolloutStates[name] === state) ?? 'Failed'
}

/** Succeeded, RolledBack, Aborted, Failed. */
export function isEnded(state: number): boolean {
  return state >= rolloutStates.Succeeded
}

export const maxWaves = 20
export const maxGates = 20
export const maxBakeSeconds = 86_400

export const gateNames = [
  'errors',
  'hitRatio',
  'backendFailures',
  'firstByte',
  'backendsHealthy',
  'restarts',
  'probe',
  'webhook',
] as const
export type GateName = (typeof gateNames)[number]

const some = { kind: 'list', of: { kind: 'object', fields: { id } }, atLeast: 1 } as const
const seconds = { kind: 'integer', minimum: 0, maximum: maxBakeSeconds } as const
const number = { kind: 'number', optional: true } as const
const optionalText = { kind: 'text', limitCharacters: 1024, optional: true } as const

const wave = {
  count: {
    kind: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    optional: true,
    description: 'Agents that serve the new release with this wave, those of earlier ones too',
  },
  percent: {
    kind: 'integer',
    minimum: 1,
    maximum: 100,
    optional: true,
    description: 'The same as a share of the placed agents, rounded up',
  },
  tags: { ...some, optional: true, description: 'Placed agents that have all of these' },
  agents: {
    ...some,
    optional: true,
    description: 'Exactly these; the rollout pauses when they have baked, until it is advanced',
  },
} as const satisfies Fields

const gate = {
  name: { kind: 'words', of: gateNames },
  for: {
    kind: 'integer',
    minimum: 1,
    maximum: 900,
    optional: true,
    description: 'Seconds out of its limit before it fails; 10 unless given',
  },
  minRequests: {
    kind: 'integer',
    minimum: 0,
    maximum: 1_000_000,
    optional: true,
    description: 'With fewer on an agent since its switch it is inconclusive; 100 unless given',
  },
  max: { ...number, description: 'errors, backendFailures: the share that may fail' },
  factor: {
    ...number,
    description:
      'errors, backendFailures, firstByte: times of the baseline and of the agents not yet switched',
  },
  drop: { ...number, description: 'hitRatio: how much lower it may be, of 1' },
  percentile: { ...number, description: 'firstByte: 95 unless given' },
  maxMs: { ...number, description: 'firstByte: the longest that it may take' },
  min: { ...number, description: 'backendsHealthy: healthy backends of the VCL' },
  path: { ...optionalText, description: 'probe: what is got, from each agent to its own cache' },
  host: { ...optionalText, description: 'probe: Host, a name that the group answers for' },
  status: {
    kind: 'integer',
    minimum: 100,
    maximum: 599,
    optional: true,
    description: 'probe: the right answer; 200 unless given',
  },
  bodyContains: { ...optionalText, description: 'probe: what the body has' },
  every: {
    kind: 'integer',
    minimum: 1,
    maximum: 3600,
    optional: true,
    description: 'probe: seconds between two; 5 unless given',
  },
  webhook: {
    kind: 'object',
    fields: { id },
    optional: true,
    description: 'webhook: the one that is asked, of the same organization as the group',
  },
} as const satisfies Fields

export const rolloutPolicy = {
  waves: { kind: 'list', of: { kind: 'object', fields: wave }, atLeast: 1, atMost: maxWaves },
  bake: {
    ...seconds,
    optional: true,
    description: 'Seconds that a wave is watched once its last agent has switched; 60 unless given',
  },
  maxBake: {
    ...seconds,
    optional: true,
    description: 'How long an inconclusive bake is prolonged; bake unless given',
  },
  gates: {
    kind: 'list',
    of: { kind: 'object', fields: gate },
    atMost: maxGates,
    optional: true,
    description: 'errors, backendFailures and restarts unless given; restarts always',
  },
  onFailure: { kind: 'words', of: ['rollback', 'pause'], optional: true },
  onInconclusive: { kind: 'words', of: ['continue', 'pause'], optional: true },
  banOnRollback: {
    kind: 'flag',
    optional: true,
    description:
      'Agents that go back get a ban of the objects of the group, once each; false unless given',
  },
} as const satisfies Fields

/** A policy in a body; absent fields have their defaults. */
export type GivenPolicy = Answer<typeof rolloutPolicy>
export type WaveRule = Answer<typeof wave>
export type GateRule = Answer<typeof gate>
export type RolloutPolicy = Required<GivenPolicy>

export const agentInWaveStates = [
  'waiting',
  'switching',
  'switched',
  'failed',
  'rolledBack',
] as const
export type AgentInWaveState = (typeof agentInWaveStates)[number]

const agentInWave = {
  agent: reference,
  state: { kind: 'words', of: agentInWaveStates },
  error: textOrNull,
} as const satisfies Fields

const gateVerdicts = ['pass', 'fail', 'inconclusive'] as const
export type GateVerdict = (typeof gateVerdicts)[number]

const waveAnswer = {
  agents: {
    kind: 'list',
    of: { kind: 'object', fields: agentInWave },
    optional: true,
    description: 'Left out in lists and events where a rollout has more than 100',
  },
  startedAt: timeOrNull,
  switchedAt: { ...timeOrNull, description: 'When its last agent had switched' },
  endedAt: timeOrNull,
  verdict: { kind: 'words', of: gateVerdicts, nullable: true },
} as const satisfies Fields

const numberOrNull = { kind: 'number', nullable: true } as const
const gateAnswer = {
  name: { kind: 'words', of: gateNames },
  agent: { ...reference, nullable: true, description: 'null: all that have switched' },
  baseline: { ...numberOrNull, description: 'The same agents before their switch' },
  control: { ...numberOrNull, description: 'Placed agents that have not switched, now' },
  observed: numberOrNull,
  limit: numberOrNull,
  verdict: { kind: 'words', of: gateVerdicts },
  reason: {
    ...textOrNull,
    description: 'Why it is inconclusive, or the answer of a probe or webhook',
  },
  at: time,
} as const satisfies Fields

export const rollout = {
  noun: 'rollout',
  permission: 'vclgroup',
  event: 'rollout',
  path: '/rollouts',
  nameField: null,
  columns: ['id', 'vclGroup', 'revision', 'stateName', 'wave', 'account', 'startedAt', 'reason'],
  fields: {
    id,
    organization,
    vclGroup: { ...reference, computed: true, title: 'group' },
    revision: { ...integer, description: 'The one that it makes' },
    fromRevision: { ...integer, description: 'The one that it goes back to' },
    state: { kind: 'words', of: Object.values(rolloutStates) },
    stateName: { kind: 'words', of: stateNames, computed: true, title: 'state' },
    problems,
    wave: { ...integer, description: 'The one that was begun last, from 1; 0: none' },
    waves: { kind: 'list', of: { kind: 'object', fields: waveAnswer }, computed: true },
    gates: { kind: 'list', of: { kind: 'object', fields: gateAnswer }, computed: true },
    policy: { kind: 'object', fields: rolloutPolicy, computed: true },
    account: text,
    startedAt: { ...time, title: 'started' },
    endedAt: timeOrNull,
    reason: { ...textOrNull, description: 'Why it is paused, or how it ended' },
    bakedSeconds: { ...integer, computed: true, description: 'Of the present bake' },
  },
} as const satisfies Resource

export type Rollout = Answer<typeof rollout.fields>
export type Wave = Rollout['waves'][number]
export type AgentInWave = NonNullable<Wave['agents']>[number]
export type GateResult = Rollout['gates'][number]
