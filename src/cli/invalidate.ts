/** `ban` and `purge`: creates an invalidation and shows its progress until it ends or the wait is over. */
import type { Api } from './api.js'
import { nameOf, requireFields, requireList, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { confirm } from './confirm.js'
import { readWait } from './deploy.js'
import { joinSome } from './join-some.js'
import { buildBody } from './object-body.js'
import { showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { createStatusLine } from './status-line.js'
import { isSet, type Field, type Invocation } from './verb.js'
import { pauseAfter } from '../runtime/backoff.js'
import { pauseFor } from '../runtime/pause.js'

const polling = { firstMs: 50, longestMs: 500 }
const agentsNamed = 20
const previewPath = '/invalidations/preview'

/** `targets`: exactly one of these fields, or `--all`, must be given. */
export async function sendInvalidation(
  invocation: Invocation,
  given: Fields,
  fields: { readonly targets: readonly Field[]; readonly others: readonly Field[] },
): Promise<ExitCode> {
  const { seconds } = readWait(invocation)
  const api = await invocation.openApi()
  const target: Record<string, unknown> = { ...(await buildBody(invocation, api, fields.targets)) }
  if (isSet(invocation, 'all')) target['all'] = true
  if (Object.keys(target).length !== 1)
    throw usageError('Expected exactly one of --vcl-group, --domains, --tags, --agents and --all')
  const others = await buildBody(invocation, api, fields.others)
  const headers = readHeaders(invocation)
  const body = { ...given, ...others, ...headers, target }
  const isPlan = isSet(invocation, 'plan')
  if (!isPlan && given['type'] === 'ban') await confirmEverything(invocation, api, body)
  const path = isPlan ? previewPath : '/invalidations'
  const answer = await api.call({ method: 'POST', path, body })
  const entry = requireFields(answer.body)
  const { stderr } = invocation.system
  for (const warning of requireTexts(entry['warnings']))
    stderr.write(`cachefleet: ${toPrintableLine(warning)}\n`)
  if (isPlan) {
    const { reached, total, away } = entry
    const text = `would reach ${String(reached)} of ${String(total)} agents, ${String(away)} of them when they reconnect`
    showText(invocation.output, text, entry)
    return exitCodes.done
  }
  return finish(invocation, await waitForEnd(invocation, api, entry, seconds), seconds)
}

/** On a terminal, a ban that would empty caches needs confirmation; scripts are not asked. */
async function confirmEverything(invocation: Invocation, api: Api, body: Fields): Promise<void> {
  const { stdin, stderr } = invocation.system
  if (!stdin.isTTY || !stderr.isTTY || isSet(invocation, 'yes')) return
  const { body: preview } = await api.call({ method: 'POST', path: previewPath, body })
  const { warnings, reached } = requireFields(preview)
  if (!requireTexts(warnings).some((warning) => warning.includes('matches every object'))) return
  await confirm(invocation, `ban every object on ${String(reached)} agents`)
}

/** `--header 'Name: value'`, repeatable. */
function readHeaders({ flags }: Invocation): Fields {
  const given: unknown = flags['header']
  if (!Array.isArray(given)) return {}
  const headers = given.map((text) => {
    const [, name, value] = /^([^:\s]+):(.*)$/.exec(String(text)) ?? []
    if (name === undefined || value === undefined)
      throw usageError(`--header is ${JSON.stringify(text)}; expected 'Name: value'`)
    return [name, value.trim()] as const
  })
  return { headers: Object.fromEntries(headers) }
}

async function waitForEnd(
  { system }: Invocation,
  api: Api,
  first: Fields,
  seconds: number,
): Promise<Fields> {
  const { stderr, now } = system
  const untilMs = now() + seconds * 1000
  let entry = first
  const line = createStatusLine(stderr)
  for (let polls = 1; !hasEnded(entry) && now() < untilMs; polls += 1) {
    line.draw(describe(entry))
    await pauseFor(Math.min(pauseAfter(polls, polling), untilMs - now()))
    entry = await api.readObject(`/invalidations/${String(first['id'])}`)
  }
  line.remove()
  return entry
}

function finish(invocation: Invocation, entry: Fields, waitedSeconds: number): ExitCode {
  showText(invocation.output, toPrintableLine(describe(entry)), entry)
  if (entry['stateName'] === 'Completed') return exitCodes.done
  if (!hasEnded(entry) && waitedSeconds === 0) return exitCodes.done
  const missing = toPrintableLine(describeMissing(entry))
  if (hasEnded(entry)) throw new CliError(exitCodes.refused, `Not done everywhere: ${missing}`)
  throw new CliError(
    exitCodes.unfinished,
    `Not done everywhere after ${waitedSeconds} s, this continues: ${missing}`,
  )
}

export function hasEnded({ stateName }: Fields): boolean {
  return stateName === 'Completed' || stateName === 'Failed' || stateName === 'Cancelled'
}

function describe(entry: Fields): string {
  const { id, type, stateName, done, total } = entry
  return `${String(type)} ${String(id)}: ${String(stateName)}, ${String(done)} of ${String(total)} done`
}

function describeMissing(entry: Fields): string {
  const missing = requireList(entry['results']).filter(({ state }) => state !== 'done')
  const named = missing.map(({ agent, state, error }) => {
    const why = typeof error === 'string' ? `: ${error}` : ''
    return `${nameOf(agent) ?? ''} (${String(state)}${why})`
  })
  return joinSome(named, { most: agentsNamed })
}

function requireTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
