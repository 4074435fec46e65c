/** Lists a problem that a group and its deployments share only once in the list of all problems (docs/behaviour.md, Problems). */
import { isListedByDeployment, sharedCodes } from '../resources/problem.js'

export interface BorneProblem {
  /** The noun of the object that has the problem. */
  readonly type: string
  readonly id: unknown
  readonly code: unknown
  /** For a group, the ids of its deployments. */
  readonly deploymentIds: readonly unknown[]
}

export function dropRepeated<Row extends BorneProblem>(rows: readonly Row[]): readonly Row[] {
  const illGroups = new Map<string, number>()
  for (const row of rows)
    for (const key of listBearers(row)) illGroups.set(key, (illGroups.get(key) ?? 0) + 1)
  const isOfDeployment = (key: string, code: unknown): boolean =>
    isListedByDeployment(String(code), illGroups.get(key) ?? 0)
  const borne = new Set(rows.filter(({ type }) => type === 'deployment').map(keyOf))
  return rows.filter((row) => {
    if (row.type !== 'deployment')
      return !listBearers(row).some((key) => borne.has(key) && isOfDeployment(key, row.code))
    const key = keyOf(row)
    return !illGroups.has(key) || isOfDeployment(key, row.code)
  })
}

function keyOf({ id, code }: Pick<BorneProblem, 'id' | 'code'>): string {
  return `${String(id)} ${String(code)}`
}

/** The deployments of a group that may have the same problem. */
function listBearers({ type, code, deploymentIds }: BorneProblem): readonly string[] {
  if (type !== 'vclgroup' || !sharedCodes.some((shared) => shared === code)) return []
  return deploymentIds.map((id) => keyOf({ id, code }))
}
