/** Checks on a cache whether a text compiles: as part of a group, or alone with its includes. */
import { call } from '../../api/call.js'
import type { Group } from '../../../resources/vclgroup.js'
import type { FleetFile, WholeFile } from '../../../resources/file.js'
import type { Outcome } from '../../api/http.js'
import type { Reference } from '../../../resources/resource.js'
import { quotePattern, readIncludes } from './read-includes.js'

export interface Checked {
  readonly outcome: Outcome<{ readonly agents: readonly Reference[] }>
  /** The files that the compiler's output may mention, by name. */
  readonly files: ReadonlyMap<string, number>
}

/** Far more than a VCL consists of. */
const maxIncludes = 200

export async function checkText(
  file: FleetFile,
  text: string,
  group: Group | null,
  signal: AbortSignal,
): Promise<Checked> {
  const edited = { name: file.name, source: text }
  if (!group?.mainVCL) return checkAlone(file, edited, signal)
  const others = [group.mainVCL, ...group.includes].filter(({ id }) => id !== file.id)
  const body = {
    root: group.root,
    mainVCL: group.mainVCL.id === file.id ? edited : toReference(group.mainVCL),
    includes: group.includes.map((one) => (one.id === file.id ? edited : { id: one.id })),
    ...(await chooseAgent(group, signal)),
  }
  return compile({ file, body, others, signal })
}

function toReference({ id, version }: NonNullable<Group['mainVCL']>) {
  return version === undefined ? { id } : { id, version }
}

/** An agent on which the group is or would be placed; if unknown, the coordinator chooses. */
async function chooseAgent(
  group: Group,
  signal: AbortSignal,
): Promise<{ readonly agents?: readonly { readonly id: number }[] }> {
  const placed = group.agentStates.find(({ state }) => state === 'applied')
  if (placed) return { agents: [{ id: placed.agent.id }] }
  const placement = await call<readonly { readonly agent: Reference; readonly chosen: boolean }[]>(
    'GET',
    `/vclgroups/${group.id}/placement`,
    { signal },
  )
  const chosen = placement.ok ? placement.value.find((one) => one.chosen) : undefined
  return chosen ? { agents: [{ id: chosen.agent.id }] } : {}
}

async function checkAlone(
  file: FleetFile,
  edited: { readonly name: string; readonly source: string },
  signal: AbortSignal,
): Promise<Checked> {
  const others = await gatherIncludes(file, edited.source, signal)
  const includes = others.map(({ id }) => ({ id }))
  if (file.fileType === 1)
    return compile({ file, body: { mainVCL: edited, includes }, others, signal })
  // An include is compiled in the smallest valid VCL.
  const source = `vcl 4.1;\nbackend cachefleet_check none;\ninclude "${file.name}";\n`
  const mainVCL = { name: `${file.name} alone`, source }
  const body = { mainVCL, includes: [edited, ...includes] }
  return compile({ file, body, others, signal })
}

async function compile(question: {
  readonly file: FleetFile
  readonly body: object
  readonly others: readonly Reference[]
  readonly signal: AbortSignal
}): Promise<Checked> {
  const { file, body, others, signal } = question
  const files = new Map([...others, file].map(({ id, name }) => [name, id]))
  return { files, outcome: await call('POST', '/files/compile', { body, signal }) }
}

/** Reads the files included directly and indirectly; the compiler reports missing names. */
export async function gatherIncludes(
  file: FleetFile,
  text: string,
  signal: AbortSignal,
): Promise<readonly WholeFile[]> {
  const found = new Map<string, WholeFile>()
  let names = readIncludes(text).filter((name) => name !== file.name)
  while (names.length > 0 && found.size < maxIncludes) {
    const files = await findByNames(file, names, signal)
    const read = await Promise.all(
      files.map(({ id }) => call<WholeFile>('GET', `/files/${id}`, { signal })),
    )
    const whole = read.flatMap((one) => (one.ok ? [one.value] : []))
    for (const one of whole) found.set(one.name, one)
    const next = whole.filter(({ encoded }) => !encoded).flatMap((one) => readIncludes(one.source))
    names = [...new Set(next)].filter((name) => name !== file.name && !found.has(name))
    if (whole.length === 0) break
  }
  return [...found.values()]
}

/** Finds files of the file's own organization; unknown names are left out. */
async function findByNames(
  file: FleetFile,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly FleetFile[]> {
  if (names.length === 0) return []
  const pattern = names.slice(0, maxIncludes).map(quotePattern).join(',')
  const query = new URLSearchParams({ name: pattern, take: '1000' })
  const outcome = await call<readonly FleetFile[]>('GET', `/files?${query}`, { signal })
  if (!outcome.ok) return []
  return outcome.value.filter(({ organization }) => organization?.id === file.organization?.id)
}
