/** `version --all`: lists the versions in a fleet and reports skew (docs/behaviour.md, Versions). */
import { findSkew, isNewerMinor } from '../resources/version-skew.js'
import { version } from '../version.js'
import { isFields, parseJson, type Fields } from './api-shapes.js'
import { exitCodes, unanswered, usageError, type ExitCode } from './cli-error.js'
import { chooseServer } from './connection.js'
import { callHttp } from './http-call.js'
import { showList, showText } from './output.js'
import { readSession, sessionFilePath } from './session-file.js'
import { isSet, textFlag, type Invocation } from './verb.js'

interface Row extends Fields {
  readonly part: 'client' | 'coordinator' | 'agents' | 'caches'
  readonly version: string
  readonly count: number
  /** Null if there is no skew. */
  readonly skew: string | null
}

const timeoutMs = 10_000
const columns = [{ field: 'part' }, { field: 'version' }, { field: 'count' }, { field: 'skew' }]

export async function showVersions(invocation: Invocation): Promise<ExitCode | undefined> {
  const { output } = invocation
  const further = textFlag(invocation, 'coordinators')
  if (!isSet(invocation, 'all')) {
    if (further !== undefined) throw usageError('--coordinators is for --all')
    showText(output, version, { version })
    return undefined
  }
  const [own, ...others] = await readCoordinators(invocation, further?.split(',') ?? [])
  const api = await invocation.openApi()
  const agents = await api.readList('/agents')
  const rows = listVersions({ own: own ?? version, others, agents })
  await showList(output, rows, columns)
  return rows.some(({ skew }) => skew !== null && isBroken(skew)) ? exitCodes.refused : undefined
}

/** Reads each coordinator's version from its API document, which needs no login. */
async function readCoordinators(
  { settings, system }: Invocation,
  further: readonly string[],
): Promise<readonly string[]> {
  const session = await readSession(sessionFilePath(system.environment), settings.context)
  const servers = await Promise.all(
    [settings.server, ...further].map((server) =>
      chooseServer({ ...settings, server }, system, session),
    ),
  )
  return Promise.all(
    servers.map(async ({ url, ca, traceId }) => {
      const document = new URL(`${url}/docs/openapi.json`)
      const answer = await callHttp({ method: 'GET', url: document, headers: {}, timeoutMs, ca })
      const body = parseJson(answer.text)
      const info = isFields(body) ? body['info'] : null
      const version = isFields(info) ? info['version'] : null
      if (typeof version === 'string') return version
      throw unanswered(`${url} is not a coordinator: it tells no version`, traceId)
    }),
  )
}

interface Seen {
  /** Version of the coordinator that was called. */
  readonly own: string
  readonly others: readonly string[]
  readonly agents: readonly Fields[]
}

const broken = 'does not work with this coordinator'
const isBroken = (skew: string): boolean => skew.startsWith(broken)

/** Pure. */
export function listVersions({ own, others, agents }: Seen): readonly Row[] {
  const coordinators = count([own, ...others])
  const caches = count(agents.map(nameRelease).filter((name) => name !== ''))
  return [
    { part: 'client', version, count: 1, skew: judge(own, version) },
    ...coordinators.map(([name, number]) => row('coordinator', name, number, judge(own, name))),
    ...count(agents.map((agent) => String(agent['agentVersion']))).map(([name, number]) =>
      row('agents', name, number, judge(own, name)),
    ),
    ...caches.map(([name, number]) => row('caches', name, number, null)),
  ]
}

function row(part: Row['part'], name: string, number: number, skew: string | null): Row {
  return { part, version: name, count: number, skew }
}

function judge(coordinator: string, other: string): string | null {
  if (other === coordinator) return null
  if (findSkew(coordinator, other) !== null) return `${broken}: upgrade it`
  if (isNewerMinor(coordinator, other)) return 'newer: coordinators are upgraded first'
  return isNewerMinor(other, coordinator) ? 'older: upgrade it' : null
}

function nameRelease(agent: Fields): string {
  return [agent['engineProduct'], agent['engineVersion']]
    .filter((word) => typeof word === 'string' && word !== '')
    .join(' ')
}

/** Counts equal names, sorted by name. */
function count(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}
