/** The result of an `apply` run: derived from the states of the folder's deployed groups, even if nothing was changed. */
import { keyOf, type WantedObject } from './apply-objects.js'
import type { Api } from '../api.js'
import { CliError, exitCodes, type ExitCode } from '../cli-error.js'
import { readGroup, type GroupStatus } from '../deploy-verdict.js'
import { toPrintableLine } from '../printable-text.js'
import type { Sides } from './bodies.js'
import { nouns } from './wanted.js'

/** Number of caches that the message names per group. */
const failuresNamed = 5

/** Worst first. */
const rank: readonly ExitCode[] = [exitCodes.refused, exitCodes.unfinished, exitCodes.partial]

/** Reads the current states in one call; makes no call if nothing is deployed. */
export async function readEndStates(api: Api, sides: Sides): Promise<readonly GroupStatus[]> {
  const names = new Set([...sides.wanted.values()].filter(isDeployed).map(({ name }) => name))
  if (names.size === 0) return []
  const { path } = nouns.vclgroup
  const ids = new Set([...names].map((name) => sides.ids.find('vclgroup', name)))
  return (await api.readList(path)).filter(({ id }) => ids.has(Number(id))).map(readGroup)

  function isDeployed(object: WantedObject): boolean {
    const before = sides.present.get(keyOf(object))?.deployed
    return object.kind === 'vclgroup' && (object.deployed ?? before) === true
  }
}

/** Returns null if all groups are Active. */
export function judgeEndStates(groups: readonly GroupStatus[]): CliError | null {
  const code = rank.find((one) => groups.some(({ stateName }) => codeOf(stateName) === one))
  if (code === undefined) return null
  const lines = groups
    .filter(({ stateName }) => codeOf(stateName) !== exitCodes.done)
    .map((group) => toPrintableLine(describeGroup(group)))
  return new CliError(code, lines.join('\n'))
}

function codeOf(stateName: string): ExitCode {
  switch (stateName) {
    case 'Active':
      return exitCodes.done
    case 'Degraded':
      return exitCodes.partial
    case 'Deploying':
      return exitCodes.unfinished
    default:
      return exitCodes.refused
  }
}

function describeGroup({ name, stateName, places }: GroupStatus): string {
  const failed = places.filter(({ error }) => error !== null)
  const named = failed
    .slice(0, failuresNamed)
    .map(({ agentName, error }) => `${agentName}: ${error?.split('\n', 1)[0] ?? ''}`)
  const more = failed.length - named.length
  const all = [...named, ...(more > 0 ? [`and ${more} more`] : [])]
  return `${name} is ${stateName}${all.length > 0 ? ` (${all.join('; ')})` : ''}`
}
