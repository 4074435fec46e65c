/** `problems`: lists the current problems of all nouns that have any, worst first. */
import { agent } from '../resources/agent.js'
import { certificate } from '../resources/certificate.js'
import { deployment } from '../resources/deployment.js'
import { invalidation } from '../resources/invalidation.js'
import { vclGroup } from '../resources/vclgroup.js'
import type { Api } from './api.js'
import { idOf, isFields, nameOf, type Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import { CliError, exitCodes } from './cli-error.js'
import { showList } from './output.js'
import { readListIfAllowed } from './readable-list.js'
import { dropRepeated, type BorneProblem } from './drop-repeated.js'
import type { Invocation } from './verb.js'

/** A noun whose objects have problems; `inside`: the field of the part that has them. */
interface Bearer {
  readonly type: string
  readonly path: string
  readonly inside?: string
}

const bearers: readonly Bearer[] = [
  ...[agent, vclGroup, deployment, certificate, invalidation].map(({ noun: type, path }) => ({
    type,
    path,
  })),
  { type: 'stage', path: vclGroup.path, inside: 'staged' },
]

const columns = [
  { field: 'type' },
  { field: 'name' },
  { field: 'code', title: 'problem' },
  { field: 'since' },
  { field: 'message' },
  { field: 'remedy' },
]

export async function showProblems(invocation: Invocation): Promise<undefined> {
  const { output } = invocation
  const api = await invocation.openApi()
  const found = await Promise.all(bearers.map((bearer) => readProblems(api, bearer)))
  const readable = found.filter((rows) => rows !== null)
  if (readable.length === 0)
    throw new CliError(
      exitCodes.denied,
      'You may read nothing that has problems; ask an administrator',
    )
  const rows = dropRepeated(readable.flat())
    .map(({ fields }) => fields)
    .toSorted(compareRows)
  await showList(output, rows, columns)
  if (rows.length === 0) output.notify('no problems')
}

interface ListedProblem extends BorneProblem {
  readonly fields: Fields
}

/** Returns null if the caller may not read the objects. */
async function readProblems(
  api: Api,
  { type, path, inside }: Bearer,
): Promise<readonly ListedProblem[] | null> {
  const filter = inside === undefined ? 'problems.code' : `${inside}.problems.code`
  const objects = await readListIfAllowed(api, path, { [filter]: '*' })
  if (objects === null) return null
  return objects.flatMap((object) => {
    const { id, deployments } = object
    const deploymentIds = Array.isArray(deployments) ? deployments.map(idOf) : []
    const name = nameOf(object) ?? toCell(id)
    return problemsOf(inside === undefined ? object : object[inside]).map((problem) => ({
      type,
      id,
      code: problem['code'],
      deploymentIds,
      fields: { type, id, name, ...problem },
    }))
  })
}

/** The problems of an API object; empty if it has none. */
function problemsOf(object: unknown): readonly Fields[] {
  const { problems } = isFields(object) ? object : {}
  return Array.isArray(problems) ? problems.filter(isFields) : []
}

function compareRows(a: Fields, b: Fields): number {
  const [worseA, worseB] = [Number(a['severity']), Number(b['severity'])]
  if (worseA !== worseB) return worseB - worseA
  return toCell(a['since']) < toCell(b['since']) ? -1 : 1
}
