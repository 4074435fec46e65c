/**
 * `agents unlock NAME… | --all`: unlocks agents, which follow this coordinator from then on, and shows their new state. `--plan` shows the
 * changes on their caches instead, and exits with 2 if there is an agent to unlock.
 */
import type { Api } from './api.js'
import { isFields, nameOf, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { findIds } from './find-object.js'
import { readListQuery } from './object-calls.js'
import { showList, showObject, showText } from './output.js'
import { isSet, type Invocation, type NounParts } from './verb.js'
import { pauseFor } from '../runtime/pause.js'

/** The same code as for `apply --plan`. */
const somethingToDo: ExitCode = 2
/** An unlocked agent reports its new state with its next message. */
const unlockedWithinMs = 5_000
const pollMs = 200
/** Number of ids in one URL. */
const idsAtOnce = 200
/** Maximum number of references in one request body. */
const maxReferences = 1_000

export async function unlockAgents(
  invocation: Invocation,
  noun: NounParts,
): Promise<ExitCode | undefined> {
  const { words } = invocation
  const isAll = isSet(invocation, 'all')
  const query = readListQuery(invocation)
  if (isAll === words.length > 0) throw usageError('Give names of agents, or --all')
  if (!isAll && Object.keys(query).length > 0) throw usageError('--filter goes with --all')
  const api = await invocation.openApi()
  const ids = isAll ? await readLockedIds(api, noun, query) : await findIds(api, noun, words)
  if (isSet(invocation, 'plan')) return showPlan(invocation, await readAgents(api, noun, ids))
  const [id] = ids
  if (id === undefined) {
    showText(invocation.output, 'no agent is locked', { unlocked: [], skipped: [] })
    return undefined
  }
  if (!isAll && ids.length === 1) return unlockOne(invocation, api, `${noun.path}/${id}`)
  return unlockMany(invocation, api, noun, ids)
}

async function readLockedIds(
  api: Api,
  { path }: NounParts,
  query: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const rows = await api.readList(path, query)
  return rows.filter(isLocked).map((row) => String(row['id']))
}

function isLocked(agent: Fields): boolean {
  return typeof agent['lockedBecause'] === 'string'
}

async function readAgents(
  api: Api,
  { path }: NounParts,
  ids: readonly string[],
): Promise<readonly Fields[]> {
  const agents: Fields[] = []
  for (const id of ids) agents.push(await api.readObject(`${path}/${id}`))
  return agents
}

/** Returns `refused` if the effect of an unlock is unknown for any agent. */
function showPlan({ output }: Invocation, agents: readonly Fields[]): ExitCode {
  const locked = agents.filter(isLocked)
  const planned = locked.map((agent) => ({
    agent: { id: agent['id'], name: agent['name'] },
    lockedBecause: agent['lockedBecause'],
    difference: differenceOf(agent),
  }))
  const text = planned.map((one) => `${nameOf(one.agent) ?? ''}: ${describe(one.difference)}\n`)
  showText(output, text.length === 0 ? 'nothing to unlock' : text.join('').trimEnd(), planned)
  if (planned.some(({ difference }) => difference === null)) return exitCodes.refused
  return planned.length === 0 ? exitCodes.done : somethingToDo
}

function differenceOf({ config }: Fields): Fields | null {
  const difference = isFields(config) ? config['difference'] : null
  return isFields(difference) ? difference : null
}

function describe(difference: Fields | null): string {
  if (difference === null)
    return 'what its cache holds is not known: its agent is offline, or of an earlier version'
  const { use, omitted } = difference
  const lines = [
    ...(typeof use === 'string' ? [`becomes active: ${use}`] : []),
    ...list(difference, 'load', String),
    ...list(difference, 'labels', (one) => pair(one, 'label', 'program')),
    ...list(difference, 'discard', String),
    ...list(difference, 'params', (one) => pair(one, 'name', 'value')),
    ...list(difference, 'backends', (one) => pair(one, 'name', 'health')),
    ...(typeof omitted === 'number' && omitted > 0 ? [`and ${omitted} more`] : []),
  ]
  return lines.length === 0
    ? 'no difference, its cache does not change'
    : ['', ...lines].join('\n  ')
}

const titles: Readonly<Record<string, string>> = {
  load: 'loads',
  labels: 'sets labels',
  discard: 'discards',
  params: 'sets parameters',
  backends: 'sets backends',
}

function list(difference: Fields, key: string, show: (one: unknown) => string): string[] {
  const entries = difference[key]
  if (!Array.isArray(entries) || entries.length === 0) return []
  return [`${titles[key] ?? key}: ${entries.map(show).join(', ')}`]
}

function pair(entry: unknown, name: string, value: string): string {
  if (!isFields(entry)) return ''
  const shown = entry[value] ?? 'its default'
  return `${String(entry[name])} to ${typeof shown === 'string' ? shown : JSON.stringify(shown)}`
}

async function unlockOne(
  { output }: Invocation,
  api: Api,
  path: string,
): Promise<ExitCode | undefined> {
  await api.call({ method: 'PUT', path: `${path}/unlock` })
  const [agent] = await untilUnlocked(async () => [await api.readObject(path)])
  showObject(output, requireFields(agent))
  return undefined
}

async function unlockMany(
  invocation: Invocation,
  api: Api,
  noun: NounParts,
  ids: readonly string[],
): Promise<ExitCode | undefined> {
  const { output, system } = invocation
  const unlocked: Fields[] = []
  const skipped: Fields[] = []
  for (let start = 0; start < ids.length; start += maxReferences) {
    const agents = ids.slice(start, start + maxReferences).map((id) => ({ id: Number(id) }))
    const { body } = await api.call({
      method: 'PUT',
      path: `${noun.path}/unlock`,
      body: { agents },
    })
    const answer = requireFields(body)
    unlocked.push(...requireList(answer['unlocked']))
    skipped.push(...requireList(answer['skipped']))
  }
  const done = unlocked.map(({ id }) => String(id))
  const rows = await untilUnlocked(() => readRows(api, noun, done))
  if (output.form === 'json') showText(output, '', { unlocked: rows, skipped })
  else await showList(output, rows, noun.columns)
  if (skipped.length === 0) return undefined
  if (rows.length > 0 || output.form === 'json')
    system.stderr.write(`cachefleet: ${describeSkipped(skipped)}\n`)
  else throw new CliError(exitCodes.refused, describeSkipped(skipped))
  return exitCodes.refused
}

function describeSkipped(skipped: readonly Fields[]): string {
  const lines = skipped.map(
    ({ agent, reason }) => `${nameOf(agent) ?? ''}: ${typeof reason === 'string' ? reason : ''}`,
  )
  return `Not unlocked: ${lines.join('; ')}`
}

async function readRows(
  api: Api,
  { path }: NounParts,
  ids: readonly string[],
): Promise<readonly Fields[]> {
  const rows: Fields[] = []
  for (let start = 0; start < ids.length; start += idsAtOnce)
    rows.push(...(await api.readList(path, { id: ids.slice(start, start + idsAtOnce).join(',') })))
  return rows
}

/** Waits so that the output shows the agents' state after the unlock. */
async function untilUnlocked(read: () => Promise<readonly Fields[]>): Promise<readonly Fields[]> {
  const untilMs = Date.now() + unlockedWithinMs
  for (;;) {
    const rows = await read()
    if (!rows.some(isLocked) || Date.now() > untilMs) return rows
    await pauseFor(pollMs)
  }
}
