/** Formats an event as one line for people: its object and the current state. */
import { isFields, nameOf, type Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import type { ReceivedEvent } from './follow-events.js'
import { toPrintableLine } from './printable-text.js'

export function describeEvent({ event, data }: ReceivedEvent): string {
  const { object = data } = data
  const named = isFields(object) ? object : data
  const about = nameOf(named) ?? toCell(named['id'])
  const rest = data['deleted'] === true ? 'deleted' : (describers[event]?.(data) ?? '')
  const words = event === 'apilog' || event === 'reset' ? [event, rest] : [event, about, rest]
  return toPrintableLine(words.filter((word) => word !== '').join('  '))
}

/** Also used by `apilogs tail`. */
export function describeApiLog(log: Fields): string {
  const call = ['account', 'method', 'path'].map((field) => toCell(log[field]))
  const status = log['status'] === 0 ? '' : toCell(log['status'])
  const [line = ''] = toCell(log['msg']).split('\n', 1)
  return toPrintableLine([...call, status, line].filter((word) => word !== '').join(' '))
}

const describers: Readonly<Record<string, (data: Fields) => string>> = {
  agent: describeAgent,
  deployment: describeDeployment,
  invalidation: ({ stateName }) => toCell(stateName),
  apilog: describeApiLog,
  problem: describeProblem,
  file: ({ version }) => `version ${toCell(version)}`,
  reset: ({ reason }) => toCell(reason),
}

function describeProblem({ opened, closed }: Fields): string {
  const found = Array.isArray(opened) ? opened.filter(isFields) : []
  const lines = found.map(({ code, message }) => `${toCell(code)}: ${toCell(message)}`)
  const ended = Array.isArray(closed) ? closed.map((code) => `${toCell(code)} is over`) : []
  return [...lines, ...ended].join('; ')
}

function describeAgent({ stateName, config, tags, drift }: Fields): string {
  const { desired, effective } = isFields(config) ? config : {}
  const revision = (value: unknown): string =>
    isFields(value) ? toCell(value['revision']) || '0' : '0'
  return [
    toCell(stateName),
    `config revision ${revision(effective)}/${revision(desired)}`,
    Array.isArray(tags) && tags.length > 0 ? `tags ${toCell(tags)}` : '',
    isFields(drift) ? `last drift ${toCell(drift['at'])}` : '',
  ]
    .filter((word) => word !== '')
    .join('  ')
}

function describeDeployment({ stateName, vclgroup }: Fields): string {
  if (!isFields(vclgroup)) return toCell(stateName)
  const { places } = vclgroup
  const counts = Object.entries(isFields(places) ? places : {})
    .filter(([, count]) => count !== 0)
    .map(([state, count]) => `${toCell(count)} ${state}`)
  const group = `${nameOf(vclgroup) ?? ''}: ${toCell(vclgroup['stateName'])}`
  return `${toCell(stateName)}  group ${[group, ...counts].join(', ')}`
}
