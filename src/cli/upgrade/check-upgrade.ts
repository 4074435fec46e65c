/**
 * `upgrade-check --to vinyl-9.0`: checks whether the deployed VCL compiles on that release, and whether the release knows the parameters
 * that are set. Changes nothing.
 */
import { isOfRelease, isOfReleases, releaseText } from '../../resources/cache-release.js'
import type { Api } from '../api.js'
import { isFields, nameOf, type Fields } from '../api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from '../cli-error.js'
import { showText } from '../output.js'
import { createStatusLine } from '../status-line.js'
import { textFlag, type Invocation } from '../verb.js'
import { checkByAgents } from './by-agents.js'
import { checkByProgram } from './by-program.js'
import { findUsed } from './find-used.js'
import { readRelease } from './read-release.js'
import type { ReleaseChecker } from './release-checker.js'
import { describeReport, type Finding, type UpgradeReport } from './report.js'

/** Concurrent calls, because most of the time is spent waiting for responses. */
const askedAtOnce = 10

export async function checkUpgrade(invocation: Invocation): Promise<ExitCode> {
  const to = textFlag(invocation, 'to')
  if (to === undefined || !releaseText.pattern.test(to))
    throw usageError(`--to takes ${releaseText.right}`)
  const program = textFlag(invocation, 'program')
  const api = await invocation.openApi()
  const agents = await api.readList('/agents')
  const groups = await api.readList('/vclgroups', { deployed: 'true' })
  const checker =
    program === undefined
      ? await checkByAgents(api, agents, to)
      : await checkByProgram(api, program, to)
  const line = createStatusLine(invocation.system.stderr)
  const findings: Finding[] = []
  try {
    for (const [index, group] of groups.entries()) {
      line.draw(`compiling ${index + 1}/${groups.length}`)
      findings.push(await checkGroup(checker, group))
    }
    const others = agents.filter((agent) => !isOfRelease(readRelease(agent), to))
    const isAsked = (count: number): void => {
      line.draw(`reading parameters ${count}/${others.length}`)
    }
    findings.push(...(await checkAgents(api, checker, others, isAsked)))
  } finally {
    line.remove()
  }
  const report: UpgradeReport = { release: to, checkedBy: checker.title, findings }
  const { output } = invocation
  showText(output, describeReport(report), output.form === 'csv' ? findings : report)
  return findings.some(({ result }) => result !== 'ok') ? exitCodes.refused : exitCodes.done
}

async function checkGroup(checker: ReleaseChecker, group: Fields): Promise<Finding> {
  const about = { about: 'vclgroup', id: Number(group['id']), name: nameOf(group) ?? '' } as const
  const releases = readReleases(group['wish'])
  if (!isOfReleases(checker.release, releases)) {
    const text = `it is for the releases ${releases?.join(', ') ?? ''}, and would leave such a cache`
    return { ...about, result: 'fails', text }
  }
  return judge(about, async () => {
    const text = await checker.compile(group)
    return { result: text === null ? 'ok' : 'fails', text }
  })
}

/** The releases of the deployed group; null allows any. */
function readReleases(wish: unknown): readonly string[] | null {
  const releases = isFields(wish) ? wish['releases'] : null
  return Array.isArray(releases) ? releases.map(String) : null
}

/** Returns findings in the order of `agents`. */
async function checkAgents(
  api: Api,
  checker: ReleaseChecker,
  agents: readonly Fields[],
  isAsked: (count: number) => void,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const rest = agents.entries()
  let count = 0
  const askNext = async (): Promise<void> => {
    for (const [index, agent] of rest) {
      isAsked((count += 1))
      findings[index] = await checkAgent(api, checker, agent)
    }
  }
  await Promise.all(Array.from({ length: askedAtOnce }, askNext))
  return findings
}

/** Checks every parameter of the agent's cache that differs from its default, whatever set it. */
async function checkAgent(api: Api, checker: ReleaseChecker, agent: Fields): Promise<Finding> {
  const about = { about: 'agent', id: Number(agent['id']), name: nameOf(agent) ?? '' } as const
  // A call to a Down agent would only time out.
  if (agent['stateName'] === 'Down') return { ...about, result: 'unknown', text: 'it is Down' }
  return judge(about, async () => {
    const parameters = await api.readObject(`/agents/${about.id}/params`)
    const unknown: string[] = []
    for (const { name, value } of findUsed(parameters))
      if (!(await checker.knows(name))) unknown.push(`${name} (${value})`)
    const text = unknown.length === 0 ? null : `it has no parameter ${unknown.join(', ')}`
    return { result: text === null ? 'ok' : 'fails', text }
  })
}

/** A permission error ends the check; other errors make the finding `unknown`. */
async function judge(
  about: Pick<Finding, 'about' | 'id' | 'name'>,
  find: () => Promise<Pick<Finding, 'result' | 'text'>>,
): Promise<Finding> {
  try {
    return { ...about, ...(await find()) }
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode === exitCodes.denied) throw error
    return { ...about, result: 'unknown', text: error.message }
  }
}
