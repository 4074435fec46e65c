/**
 * `agents drain|undrain|replace`: a drain's wait ends once no group is left on the cache, or only groups that fit nowhere else
 * (docs/behaviour.md, Drain).
 */
import { movingReason, stayingReason } from '../resources/draining.js'
import { pauseFor } from '../runtime/pause.js'
import type { Api } from './api.js'
import { idOf, isFields, nameOf, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { readWait } from './deploy.js'
import { findId, openObject } from './find-object.js'
import { joinSome } from './join-some.js'
import { buildBody } from './object-body.js'
import { showObject, showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { createStatusLine } from './status-line.js'
import { textFlag, type Field, type Invocation, type Named } from './verb.js'

const pollEveryMs = 500
/** In a large fleet a poll takes long: polling may use a quarter of the time at most. */
const pausesPerPoll = 3
/** Number of groups that a message names. */
const groupsNamed = 20

/** A group that is still on the cache. */
interface Left {
  readonly vclGroup: Fields
  /** True for the group's stage, which is placed on every agent with its tags. */
  readonly stage: boolean
  readonly reason: string
}

export async function drainAgent(
  invocation: Invocation,
  noun: Named,
  fields: readonly Field[],
): Promise<ExitCode> {
  const { seconds } = readWait(invocation)
  const isGiven = ['reason', 'data'].some((flag) => textFlag(invocation, flag) !== undefined)
  if (!isGiven) throw usageError('--reason TEXT is missing: it is shown with the agent')
  const { api, path } = await openObject(invocation, noun)
  const body = await buildBody(invocation, api, fields)
  const answer = await api.call({ method: 'PUT', path: `${path}/drain`, body })
  const agent = requireFields(answer.body)
  const name = toPrintableLine(String(agent['name']))
  invocation.system.setInterruptMessage(
    `No longer waiting; ${name} is drained until \`cachefleet agents undrain ${name}\``,
  )
  if (seconds === 0) {
    showText(invocation.output, `${name}: drained, groups that fit elsewhere leave it`, { agent })
    return exitCodes.done
  }
  const left = await untilEmptied(invocation, api, { agent, seconds })
  const moving = left.filter(({ reason }) => reason !== stayingReason)
  showText(invocation.output, describeLeft(name, left), { agent, left })
  if (moving.length === 0) return exitCodes.done
  throw new CliError(
    exitCodes.unfinished,
    `${name}: ${nameGroups(moving)} not moved after ${seconds} s; this continues`,
  )
}

export async function undrainAgent(invocation: Invocation, noun: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, noun)
  const { body } = await api.call({ method: 'PUT', path: `${path}/undrain` })
  showObject(invocation.output, requireFields(body))
}

export async function replaceAgent(invocation: Invocation, noun: Named): Promise<undefined> {
  const by = textFlag(invocation, 'by')
  if (by === undefined) throw usageError('--by AGENT is missing: the agent of the new host')
  const { api, path } = await openObject(invocation, noun)
  const body = { by: { id: Number(await findId(api, noun, by)) } }
  const answer = await api.call({ method: 'PUT', path: `${path}/replace`, body })
  showObject(invocation.output, requireFields(answer.body))
}

interface Emptying {
  readonly agent: Fields
  readonly seconds: number
}

async function untilEmptied(
  { system: { stderr } }: Invocation,
  api: Api,
  { agent, seconds }: Emptying,
): Promise<readonly Left[]> {
  const line = createStatusLine(stderr)
  const endsAtMs = performance.now() + seconds * 1000
  let groupIds: readonly unknown[] | null = null
  try {
    for (;;) {
      const polledAtMs = performance.now()
      const groups = await readPlacedGroups(api, agent['id'], groupIds)
      groupIds = groups.map(({ id }) => id)
      const left = (
        await Promise.all(groups.map((group) => describeGroup(api, group, agent['id'])))
      ).flat()
      const leftMs = endsAtMs - performance.now()
      if (left.every(({ reason }) => reason === stayingReason) || leftMs <= 0) return left
      line.draw(`draining ${String(agent['name'])}: ${left.length} groups left`)
      const pollMs = performance.now() - polledAtMs
      await pauseFor(Math.min(Math.max(pollEveryMs, pausesPerPoll * pollMs), leftMs))
    }
  } finally {
    line.remove()
  }
}

/** `among`: ids to check again; a draining agent gets no further groups. Null reads all groups. */
async function readPlacedGroups(
  api: Api,
  agentId: unknown,
  among: readonly unknown[] | null,
): Promise<readonly Fields[]> {
  if (among?.length === 0) return []
  const query = among === null ? undefined : { id: among.join() }
  const groups = await api.readList('/vclgroups', query)
  return groups.filter((group) => isPlaced(group, agentId) || isStaged(group, agentId))
}

function isPlaced(group: Fields, agentId: unknown): boolean {
  return requireList(group['agentStates']).some(({ agent }) => idOf(agent) === agentId)
}

function isStaged({ staged }: Fields, agentId: unknown): boolean {
  return isFields(staged) && isPlaced(staged, agentId)
}

async function describeGroup(api: Api, group: Fields, agentId: unknown): Promise<Left[]> {
  const vclGroup = { id: group['id'], name: nameOf(group) }
  const left: Left[] = isStaged(group, agentId)
    ? [{ vclGroup, stage: true, reason: stayingReason }]
    : []
  if (!isPlaced(group, agentId)) return left
  const rows = await api.readList(`/vclgroups/${String(group['id'])}/placement`)
  const row = rows.find(({ agent }) => idOf(agent) === agentId)
  // A group that is no longer chosen for this agent has left or is about to leave.
  const reason = row?.['chosen'] === true ? String(row['reason']) : movingReason
  return [...left, { vclGroup, stage: false, reason }]
}

function describeLeft(name: string, left: readonly Left[]): string {
  if (left.length === 0) return `${name}: drained, no group is left on it`
  const staying = left.filter(({ reason }) => reason === stayingReason)
  const moving = left.length - staying.length
  const parts = [
    ...(moving > 0 ? [`${moving} still to move`] : []),
    ...(staying.length > 0
      ? [`${nameGroups(staying)} stay, since no other agent that fits has room`]
      : []),
  ]
  return `${name}: drained; ${parts.join('; ')}`
}

function nameGroups(left: readonly Left[]): string {
  const names = left.map(
    ({ vclGroup, stage }) => `${stage ? 'the stage of ' : ''}${String(vclGroup['name'])}`,
  )
  return toPrintableLine(joinSome(names, { most: groupsNamed }))
}
