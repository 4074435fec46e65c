/** Describes the results of an upgrade check. Pure. */

export interface Finding {
  readonly about: 'vclgroup' | 'agent'
  readonly id: number
  readonly name: string
  readonly result: 'ok' | 'fails' | 'unknown'
  /** The compiler's message, the missing parameters, or why the check was impossible. */
  readonly text: string | null
}

export interface UpgradeReport {
  readonly release: string
  /** The agent, or the local program. */
  readonly checkedBy: string
  readonly findings: readonly Finding[]
}

export function describeReport({ release, checkedBy, findings }: UpgradeReport): string {
  const reported = findings.filter(({ about, result }) => about === 'vclgroup' || result !== 'ok')
  return [
    ...reported.map(describeFinding),
    `checked by ${checkedBy}: ${countGroups(findings)} on ${release}; ${countAgents(findings)}`,
  ].join('\n')
}

const words = {
  vclgroup: { ok: 'compiles', fails: 'does not compile', unknown: 'was not compiled' },
  agent: { ok: 'can go', fails: 'sets what is not there', unknown: 'was not asked' },
} as const

function describeFinding({ about, name, result, text }: Finding): string {
  const what = about === 'vclgroup' ? 'group' : 'agent'
  const lines = (text ?? '').split('\n').filter((line) => line !== '')
  return [`${what} ${JSON.stringify(name)} ${words[about][result]}`, ...lines.map(indent)].join(
    '\n',
  )
}

const indent = (line: string) => `  ${line}`

function countGroups(findings: readonly Finding[]): string {
  const groups = findings.filter(({ about }) => about === 'vclgroup')
  const compiling = groups.filter(({ result }) => result === 'ok')
  return `${compiling.length} of ${groups.length} groups compile`
}

function countAgents(findings: readonly Finding[]): string {
  const agents = findings.filter(({ about }) => about === 'agent')
  const fitting = agents.filter(({ result }) => result === 'ok')
  return `the parameters of ${fitting.length} of ${agents.length} agents are known there`
}
