/**
 * `rollouts watch|pause|resume|advance|abort`: shows the state of a rollout. Watching redraws it in place on a terminal; elsewhere it is
 * printed on every change, in JSON as one object per line.
 */
import { isEnded, rolloutStates } from '../resources/rollout.js'
import { isFields, requireFields, requireList, type Fields } from './api-shapes.js'
import { exitCodes, type ExitCode } from './cli-error.js'
import { readForce } from './deploy.js'
import { openObject } from './find-object.js'
import { showObject } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { formatTable } from './table.js'
import type { Invocation, Named } from './verb.js'
import { clearScreen, watch } from './watch.js'

const pollEveryMs = 1_000
/** Number of agents to name per wave. */
const agentsNamed = 5

export async function changeRollout(
  invocation: Invocation,
  rollout: Named,
  verb: string,
): Promise<undefined> {
  const { api, path } = await openObject(invocation, rollout)
  const { body } = await api.call({
    method: 'PUT',
    path: `${path}/${verb}`,
    query: readForce(invocation),
  })
  showRollout(invocation, requireFields(body))
  return undefined
}

/** Returns `done` if the rollout succeeds, `refused` if it ends otherwise. Failed reads are retried. */
export async function watchRollout(invocation: Invocation, rollout: Named): Promise<ExitCode> {
  const { output, system } = invocation
  const { api, path } = await openObject(invocation, rollout)
  let shown = ''
  return watch(system, {
    everyMs: pollEveryMs,
    read: () => api.readObject(path),
    show: (rollout) => {
      const text = JSON.stringify(rollout)
      if (text !== shown) {
        if (output.isTerminal && output.form === 'table') output.write(clearScreen)
        showRollout(invocation, rollout)
        shown = text
      }
      const state = Number(rollout['state'])
      if (!isEnded(state)) return undefined
      return state === rolloutStates.Succeeded ? exitCodes.done : exitCodes.refused
    },
  })
}

function showRollout({ output }: Invocation, rollout: Fields): void {
  if (output.form === 'json') output.write(`${JSON.stringify(rollout)}\n`)
  else if (output.form === 'csv') showObject(output, rollout)
  else output.write(describeRollout(rollout, output))
}

/** Formats a line with the state, then the waves, then the gates. */
export function describeRollout(rollout: Fields, style: Parameters<typeof formatTable>[2]): string {
  const waves = requireList(rollout['waves'])
  const gates = requireList(rollout['gates'])
  return [
    `${toPrintableLine(describeState(rollout))}\n`,
    formatTable(
      ['wave', 'state', 'verdict', 'agents'],
      waves.map((wave, at) => toWaveRow(wave, at + 1, Number(rollout['wave']))),
      style,
    ),
    ...(gates.length === 0
      ? []
      : [
          '\n',
          formatTable(
            ['gate', 'on', 'baseline', 'control', 'observed', 'limit', 'verdict'],
            gates.map(toGateRow),
            style,
          ),
        ]),
  ].join('')
}

function describeState(rollout: Fields): string {
  const { id, stateName, wave, waves, revision, reason, bakedSeconds } = rollout
  const group = isFields(rollout['vclGroup']) ? String(rollout['vclGroup']['name']) : ''
  const count = Array.isArray(waves) ? waves.length : 0
  const policy = isFields(rollout['policy']) ? rollout['policy'] : {}
  const baked =
    stateName === 'Baking' ? `, ${String(bakedSeconds)} of ${String(policy['bake'])} s baked` : ''
  const why = typeof reason === 'string' ? `: ${reason}` : ''
  return `rollout ${String(id)} of ${group}, revision ${String(revision)}: ${String(stateName)}, wave ${String(wave)} of ${count}${baked}${why}`
}

function toWaveRow(wave: Fields, number: number, begun: number): readonly string[] {
  const agents = Array.isArray(wave['agents']) ? requireList(wave['agents']) : []
  const states = new Map<string, string[]>()
  for (const { agent, state } of agents) {
    const names = states.get(String(state)) ?? []
    names.push(isFields(agent) ? String(agent['name']) : '')
    states.set(String(state), names)
  }
  const counts = [...states].map(
    ([state, names]) => `${names.length} ${state} (${nameSome(names)})`,
  )
  const time = number > begun ? 'waiting' : typeof wave['endedAt'] === 'string' ? 'ended' : 'now'
  return [
    String(number),
    time,
    typeof wave['verdict'] === 'string' ? wave['verdict'] : '-',
    counts.join(', '),
  ]
}

function nameSome(names: readonly string[]): string {
  const more = names.length - agentsNamed
  return `${names.slice(0, agentsNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function toGateRow(gate: Fields): readonly string[] {
  const { name, agent, verdict, reason } = gate
  const number = (key: string): string => {
    const value = gate[key]
    return typeof value === 'number' ? String(Number(value.toPrecision(3))) : '-'
  }
  const why = typeof reason === 'string' ? `${String(verdict)}: ${reason}` : String(verdict)
  return [
    String(name),
    isFields(agent) ? String(agent['name']) : 'all',
    ...['baseline', 'control', 'observed', 'limit'].map(number),
    why,
  ]
}
