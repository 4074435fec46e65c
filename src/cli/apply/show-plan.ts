/** Describes a plan for people: new (+), changed (~), removed (-), with text differences and planned placements (>). */
import { keyOf, type FieldValue } from './apply-objects.js'
import type { ApplyPlan, ApplyStep, FieldChange } from './apply-plan.js'
import type { Api } from '../api.js'
import { requireFields } from '../api-shapes.js'
import { diffTexts } from '../text-diff.js'
import type { Sides } from './bodies.js'
import type { PlacementPreview } from './preview-placement.js'
import { nouns } from './wanted.js'

/** Number of agents that a plan names per group. */
const agentsNamed = 20

const verbs: Readonly<Record<ApplyStep['action'], string>> = {
  create: 'create',
  update: 'change',
  undeploy: 'undeploy',
  deploy: 'deploy',
  delete: 'delete',
}

/** For example `create file "main.vcl"`. */
export function describeStep({ action, kind, name }: ApplyStep): string {
  return `${verbs[action]} ${kind} ${JSON.stringify(name)}`
}

const signs: Readonly<Record<ApplyStep['action'], string>> = {
  create: '+',
  update: '~',
  undeploy: '-',
  deploy: '>',
  delete: '-',
}

/** Reads the stored texts of the changed files for the differences. */
export async function describePlan(
  api: Api,
  { steps }: ApplyPlan,
  sides: Sides,
  preview: readonly PlacementPreview[],
): Promise<string> {
  const lines: string[] = []
  for (const step of steps) {
    lines.push(`${signs[step.action]} ${describeStep(step)}`)
    if (step.action === 'create') lines.push(...describeFields(step.fields))
    if (step.action === 'update') lines.push(...(await describeUpdate(api, step, sides)))
    if (step.action === 'deploy') {
      lines.push(`    ${step.reason}`)
      lines.push(...describePlaces(preview.find(({ group }) => group === step.name)))
    }
  }
  return `${lines.join('\n')}\n${countSteps(steps)}\n`
}

/** For example `3 to create, 1 to change, …`. */
function countSteps(steps: readonly ApplyStep[]): string {
  const counts = Object.entries(verbs).flatMap(([action, verb]) => {
    const count = steps.filter((step) => step.action === action).length
    return count > 0 ? [`${count} to ${verb}`] : []
  })
  return counts.join(', ')
}

function describeFields(fields: Readonly<Record<string, FieldValue>>): readonly string[] {
  return Object.entries(fields)
    .filter(([field, value]) => field !== 'sha' && !isNothing(value))
    .map(([field, value]) => `    ${field}: ${toText(value)}`)
}

async function describeUpdate(
  api: Api,
  step: ApplyStep & { readonly action: 'update' },
  sides: Sides,
): Promise<readonly string[]> {
  const { changes, takes } = step
  const plain = changes.filter(({ field }) => field !== 'sha').map(describeChange)
  const isUnmanaged = sides.present.get(keyOf(step))?.managedBy === null
  const taken = takes
    ? ['    it becomes the set’s']
    : isUnmanaged
      ? ['    it was created by hand: --prune leaves it']
      : []
  const text = changes.some(({ field }) => field === 'sha')
    ? await describeText(api, step, sides)
    : []
  return [...taken, ...plain, ...text]
}

function describeChange({ field, from, to }: FieldChange): string {
  return `    ${field}: ${toText(from)} -> ${toText(to)}`
}

async function describeText(
  api: Api,
  { id, name }: ApplyStep & { readonly action: 'update' },
  { sources }: Sides,
): Promise<readonly string[]> {
  const { source, encoded } = requireFields(await api.readObject(`${nouns.file.path}/${id}`))
  const given = sources.get(name)
  if (encoded === true || given?.encoded !== false) return ['    its bytes change']
  const from = { label: `coordinator/${name}`, text: String(source) }
  const diff = diffTexts(from, { label: `folder/${name}`, text: given.source })
  return diff
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
}

function describePlaces(preview: PlacementPreview | undefined): readonly string[] {
  if (!preview) return []
  const named = preview.places.slice(0, agentsNamed).map((place) => {
    const { agentName, deployment, held, isWaiting } = place
    if (deployment === null) return `    - ${agentName}`
    const later = isWaiting ? ', when it reconnects' : ''
    return `    ${held ? ' ' : '+'} ${agentName} (${deployment}${later})`
  })
  const more = preview.places.length - named.length
  return [
    ...named,
    ...(more > 0 ? [`    and ${more} more agents`] : []),
    ...(preview.shortage === null ? [] : [`    ! ${preview.shortage}`]),
  ]
}

function isNothing(value: FieldValue): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

function toText(value: FieldValue): string {
  if (value === null) return 'none'
  if (typeof value !== 'object') return String(value)
  return value.length === 0 ? 'none' : value.join(', ')
}
