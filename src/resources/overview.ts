/** The whole fleet at a glance: its problems, its traffic, recent changes (docs/behaviour.md, Overview). */
import { agentStates } from './agent-state.js'
import { id, integer, named, text, time } from './common-fields.js'
import { deploymentStates } from './deployment.js'
import { openProblem, type OpenProblem } from './problem.js'
import type { Answer, Field, Fields } from './resource.js'

export const overviewPath = '/overview'

/** Limits of the lists in an overview. */
export const maxListedProblems = 100
export const maxListedChanges = 50
export const maxListedWorst = 5

function counts<Name extends string>(names: Readonly<Record<Name, unknown>>) {
  const fields = Object.keys(names).map((name) => [name, integer])
  return Object.fromEntries(fields) as Readonly<Record<Name, typeof integer>>
}

const rate = { kind: 'number', nullable: true } as const satisfies Field

const figures = {
  requests: { ...rate, description: 'From clients, a second' },
  hitRatio: { ...rate, description: 'hits / (hits + misses), 0 to 1; null without any' },
  errors: {
    ...rate,
    description: 'Answers of 5xx a second, of the groups that you may read; null: not known',
  },
  failedFetches: { ...rate, description: 'Fetches and connections to backends, a second' },
} as const satisfies Fields

/** A reference to an object; `type` is its noun in errors. */
const object = { type: text, id, name: text } as const satisfies Fields

const worst = {
  kind: 'list',
  of: { kind: 'object', fields: { ...named, ...figures } },
} as const satisfies Field

export const overview = {
  agents: {
    kind: 'object',
    fields: counts(agentStates),
    nullable: true,
    description: 'How many are in which state',
  },
  groups: {
    kind: 'object',
    fields: counts(deploymentStates),
    nullable: true,
    description: 'How many are in which state',
  },
  backends: { kind: 'object', fields: { healthy: integer, sick: integer }, nullable: true },
  now: {
    kind: 'object',
    fields: figures,
    nullable: true,
    description: 'Of all caches that you may see',
  },
  hourBefore: { kind: 'object', fields: figures, nullable: true },
  lastHour: {
    kind: 'list',
    of: { kind: 'object', fields: { time, ...figures } },
    nullable: true,
    description: 'The same in steps, by their ends, the oldest first',
  },
  worst: {
    kind: 'object',
    fields: { agents: worst, groups: { ...worst, nullable: true } },
    nullable: true,
    description: `With most failed fetches, then with the lowest hit ratio: ${maxListedWorst} at most`,
  },
  problems: {
    kind: 'list',
    of: openProblem,
    nullable: true,
    description: `The worst first, ${maxListedProblems} at most`,
  },
  problemsTotal: { ...integer, nullable: true },
  changes: {
    kind: 'list',
    of: {
      kind: 'object',
      fields: {
        at: time,
        action: { ...text, description: 'In one word: deploy, rollback, ban, create' },
        text: { ...text, description: 'In words, with names' },
        account: text,
        object: { kind: 'object', fields: object, nullable: true },
      },
    },
    nullable: true,
    description: `The newest first, ${maxListedChanges} at most`,
  },
} as const satisfies Fields

export type Overview = Answer<typeof overview>
export type Figures = Answer<typeof figures>
export type OverviewProblem = OpenProblem
export type OverviewChange = NonNullable<Overview['changes']>[number]
export type WorstObject = NonNullable<Overview['worst']>['agents'][number]
