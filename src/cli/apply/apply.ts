/** `cachefleet apply`: reads the folder, compares it with the coordinator, asks what may happen, and makes it so. */
import {
  applyKinds,
  keyOf,
  referencesOf,
  type ApplyKind,
  type WantedObject,
} from '../../domain/apply-objects.js'
import { planApply, type ApplyPlan } from '../../domain/apply-plan.js'
import { findNameProblem } from '../../domain/names.js'
import type { Api } from '../api.js'
import { isFields, nameOf, type Fields } from '../api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from '../cli-error.js'
import { confirm } from '../confirm.js'
import { readWait } from '../deploy.js'
import { showText } from '../output.js'
import { isSet, textFlag, type Invocation } from '../verb.js'
import { Ids } from './bodies.js'
import { Complaints, readDocuments } from './documents.js'
import { openFolder } from './folder.js'
import {
  checkCompile,
  findToCompile,
  foreseePlacement,
  type Folder,
  type Foreseen,
} from './foresee.js'
import { compileNeeds, findMissing, needsOf, requireAll } from './may-apply.js'
import { idOf, readPresent, type Present } from './present.js'
import { runPlan } from './run-plan.js'
import { describePlan, describeStep } from './show-plan.js'
import { readWanted, type WantedEntry } from './wanted.js'

export async function apply(invocation: Invocation): Promise<ExitCode> {
  if (isSet(invocation, 'schema')) return (await import('./show-schema.js')).showSchema(invocation)
  readWait(invocation)
  const { set, entries } = await readFolder(invocation)
  const api = await invocation.openApi()
  const whoami = await api.readObject('/auth/whoami')
  requireOwn(entries, whoami)
  const kinds = findKinds(entries, isSet(invocation, 'prune'))
  requireAll(
    whoami,
    [...kinds].map((type) => ({ type, access: 'read' })),
  )
  const present = await readPresent(api, kinds, idOf(whoami['organization']))
  const plan = planApply({
    set,
    wanted: entries.map(({ object }) => object),
    present: present.objects,
    sharedTags: new Set(present.sharedTags.keys()),
    prune: isSet(invocation, 'prune'),
    adopt: isSet(invocation, 'adopt'),
  })
  refuse(plan, entries)
  const applying = {
    invocation,
    api,
    whoami,
    set,
    plan,
    entries,
    folder: toFolder(entries, present),
  }
  return isSet(invocation, 'plan') ? showPlan(applying) : applyPlan(applying)
}

/** Chosen by us: in the question whether to. */
const lossesNamed = 10

interface Applying {
  readonly invocation: Invocation
  readonly api: Api
  readonly whoami: Fields
  readonly set: string
  readonly plan: ApplyPlan
  readonly entries: readonly WantedEntry[]
  readonly folder: Folder
}

async function readFolder(
  invocation: Invocation,
): Promise<{ readonly set: string; readonly entries: readonly WantedEntry[] }> {
  const path = textFlag(invocation, 'folder')
  if (path === undefined) throw usageError('which folder is not said: -f DIR')
  const folder = await openFolder(path)
  const complaints = new Complaints()
  const documents = await readDocuments(folder, complaints)
  const { set: written, entries } = await readWanted(folder, documents, complaints)
  complaints.check()
  const set = textFlag(invocation, 'set') ?? written ?? folder.name
  const problem = findNameProblem(set)
  if (problem !== null) throw usageError(`--set is ${JSON.stringify(set)}: ${problem}`)
  return { set, entries }
}

/** Only of the login's organization: names mean nothing elsewhere. */
function requireOwn(entries: readonly WantedEntry[], { organization: own }: Fields): void {
  const complaints = new Complaints()
  for (const { organization, at } of entries) {
    const isOwn = isFields(organization)
      ? idOf(organization) === idOf(own) || nameOf(organization) === nameOf(own)
      : organization === undefined || organization === null || organization === nameOf(own)
    if (!isOwn)
      complaints.add(
        at('organization'),
        'organization: apply works in the organization of the login; leave the key out',
      )
  }
  complaints.check()
}

/** What must be read to know what is there; to prune, everything. */
function findKinds(entries: readonly WantedEntry[], prune: boolean): ReadonlySet<ApplyKind> {
  if (prune) return new Set(applyKinds)
  const objects = entries.map(({ object }) => object)
  const referred = objects.flatMap((object) => referencesOf(object).map(({ kind }) => kind))
  const used = new Set<ApplyKind>([...objects.map(({ kind }) => kind), ...referred])
  // What a deploy pinned is told by their names.
  if (used.has('vclgroup')) used.add('deployment')
  return new Set(applyKinds.filter((kind) => used.has(kind)))
}

function toFolder(entries: readonly WantedEntry[], present: Present): Folder {
  return {
    wanted: new Map(entries.map(({ object }) => [keyOf(object), object])),
    present: new Map(present.objects.map((object) => [keyOf(object), object])),
    sources: new Map(
      entries.flatMap(({ object, source }) => (source ? [[object.name, source]] : [])),
    ),
    ids: new Ids(present.objects, present.sharedTags),
  }
}

function refuse({ refusals }: ApplyPlan, entries: readonly WantedEntry[]): void {
  if (refusals.length === 0) return
  const lines = refusals.map(({ kind, name, problem }) => {
    const entry = entries.find(({ object }) => keyOf(object) === keyOf({ kind, name }))
    const field = problem.split(':', 1)[0] ?? ''
    return `${entry ? `${entry.at(field)}: ` : ''}${kind} ${JSON.stringify(name)}: ${problem}`
  })
  throw new CliError(exitCodes.refused, `${lines.join('\n')}\nNothing was changed`)
}

async function showPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, folder, whoami, set } = applying
  if (plan.steps.length === 0) return showNothing(applying)
  const foreseen = await foreseePlacement(api, plan, folder)
  const mayCompile = findMissing(whoami, compileNeeds).length === 0
  const notes = mayCompile
    ? await compileAll(applying, foreseen)
    : ['the VCL was not compiled: that needs permission to write file, to read agent']
  const text = await describePlan(api, plan, folder, foreseen)
  const shown = [text, ...notes.map((note) => `note: ${note}\n`)].join('')
  showText(invocation.output, shown, { set, steps: plan.steps, placement: foreseen, notes })
  return exitCodes.done
}

async function applyPlan(applying: Applying): Promise<ExitCode> {
  const { invocation, api, plan, folder, whoami, set } = applying
  const { steps } = plan
  if (steps.length === 0) return showNothing(applying)
  const toCompile = findToCompile(plan, folder.wanted)
  requireAll(whoami, [...needsOf(steps), ...(toCompile.length > 0 ? compileNeeds : [])])
  const foreseen = await foreseePlacement(api, plan, folder)
  for (const note of await compileAll(applying, foreseen))
    invocation.surroundings.stderr.write(`cachefleet: warning: ${note}\n`)
  await confirmLosses(applying, foreseen)
  const { done, error } = await runPlan({ invocation, api, folder, set }, steps)
  const rows = steps.map((step, index) => ({ ...step, done: index < done }))
  if (invocation.output.form === 'json') showText(invocation.output, '', { set, steps: rows })
  if (error) throw error
  return exitCodes.done
}

function showNothing({ invocation, set }: Applying): ExitCode {
  showText(invocation.output, 'nothing to change', { set, steps: [] })
  return exitCodes.done
}

/** In the order of the documents; on the agent that the group would be placed on first. */
async function compileAll(
  { api, plan, folder, entries }: Applying,
  foreseen: readonly Foreseen[],
): Promise<readonly string[]> {
  const notes: string[] = []
  for (const group of findToCompile(plan, folder.wanted)) {
    const places = foreseen.find((one) => one.group === group.name)?.places ?? []
    const agentId = places.find(({ deployment }) => deployment !== null)?.agentId
    const where = whereOf(entries, group)
    const note = await checkCompile(api, group, folder, { where, agentId })
    if (note !== null) notes.push(note)
  }
  return notes
}

function whereOf(entries: readonly WantedEntry[], { name }: WantedObject): string {
  const entry = entries.find(({ object }) => object.kind === 'vclgroup' && object.name === name)
  return entry?.at('mainVCL') ?? ''
}

/** What is deleted or undeployed is asked about; a terminal shows the whole plan before (choices: 8). */
async function confirmLosses(
  { invocation, api, plan, folder }: Applying,
  foreseen: readonly Foreseen[],
): Promise<void> {
  const losses = plan.steps.filter(({ action }) => action === 'delete' || action === 'undeploy')
  if (losses.length === 0 || isSet(invocation, 'yes')) return
  if (invocation.surroundings.stderr.isTTY)
    invocation.surroundings.stderr.write(await describePlan(api, plan, folder, foreseen))
  const named = losses.slice(0, lossesNamed).map(describeStep).join(', ')
  const more = losses.length - lossesNamed
  await confirm(invocation, more > 0 ? `${named} and ${more} more` : named)
}
