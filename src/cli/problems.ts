/** `problems`: what is wrong now, the worst first, of all nouns whose objects have problems. */
import { agent } from '../resources/agent.js'
import { certificate } from '../resources/certificate.js'
import { deployment } from '../resources/deployment.js'
import { invalidation } from '../resources/invalidation.js'
import { vclGroup } from '../resources/vclgroup.js'
import type { Api } from './api.js'
import { isFields, nameOf, type Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import { CliError, exitCodes } from './cli-error.js'
import { showList } from './output.js'
import type { Invocation } from './verb.js'

const bearers = [agent, vclGroup, deployment, certificate, invalidation]
const forbidden = 403

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
  const rows = readable.flat().toSorted(compareRows)
  await showList(output, rows, columns)
  if (rows.length === 0) output.notify('no problems')
}

/** Null: the caller may not read them. */
async function readProblems(
  api: Api,
  { noun, path }: (typeof bearers)[number],
): Promise<readonly Fields[] | null> {
  try {
    const objects = await api.readList(path, { 'problems.code': '*' })
    return objects.flatMap((object) =>
      problemsOf(object).map((problem) => ({
        type: noun,
        id: object['id'],
        name: nameOf(object) ?? toCell(object['id']),
        ...problem,
      })),
    )
  } catch (error) {
    if (error instanceof CliError && error.refusal?.status === forbidden) return null
    throw error
  }
}

/** Of an object of the API, also of one that has none. */
function problemsOf(object: Fields): readonly Fields[] {
  const { problems } = object
  return Array.isArray(problems) ? problems.filter(isFields) : []
}

function compareRows(a: Fields, b: Fields): number {
  const [worseA, worseB] = [Number(a['severity']), Number(b['severity'])]
  if (worseA !== worseB) return worseB - worseA
  return toCell(a['since']) < toCell(b['since']) ? -1 : 1
}
