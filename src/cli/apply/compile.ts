/** Checks on caches that the VCL of a plan's groups compiles, before anything is changed. */
import { keyOf, type WantedObject } from './apply-objects.js'
import type { ApplyPlan } from './apply-plan.js'
import type { Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'
import { createStatusLine } from '../status-line.js'
import { listOf, type Sides } from './bodies.js'
import type { PlacementPreview, PlannedPlace } from './preview-placement.js'
import type { Applying } from './plan-folder.js'
import type { WantedEntry } from './wanted.js'

/** A single load may take 120 s (docs/behaviour.md, Deploy). */
const compileTimeoutMs = 180_000

/** Groups whose VCL, as loaded now or by the next deploy, the plan would change. */
export function findToCompile({ steps }: ApplyPlan, wanted: Sides['wanted']): WantedObject[] {
  const changed = new Set(
    steps
      .filter((step) => step.action !== 'update' || step.changes.length > 0)
      .map(({ kind, name }) => keyOf({ kind, name })),
  )
  return [...wanted.values()].filter(
    (object) =>
      object.kind === 'vclgroup' &&
      [keyOf(object), ...filesOf(object).map((name) => keyOf({ kind: 'file', name }))].some((key) =>
        changed.has(key),
      ),
  )
}

/** Compiles in document order, on the agent that each group would be placed on first. Returns notes about what could not be checked. */
export async function compileAll(
  { api, plan, sides, entries, invocation }: Applying,
  preview: readonly PlacementPreview[],
): Promise<readonly string[]> {
  const notes: string[] = []
  const line = createStatusLine(invocation.system.stderr)
  const groups = findToCompile(plan, sides.wanted)
  for (const [index, group] of groups.entries()) {
    line.draw(`compiling ${index + 1}/${groups.length}`)
    const places = preview.find((one) => one.group === group.name)?.places ?? []
    const isThere = (place: PlannedPlace) => place.deployment !== null && !place.isWaiting
    const agentId = places.find(isThere)?.agentId
    const where = whereOf(entries, group)
    try {
      const note = await checkCompile(api, group, sides, { where, agentId })
      if (note !== null) notes.push(note)
    } finally {
      line.remove()
    }
  }
  return notes
}

function whereOf(entries: readonly WantedEntry[], { name }: WantedObject): string {
  const entry = entries.find(({ object }) => object.kind === 'vclgroup' && object.name === name)
  return entry?.at('mainVCL') ?? ''
}

/** Returns a note if the check was impossible. Throws CliError if the VCL does not compile; `where`: the group's document. */
async function checkCompile(
  api: Applying['api'],
  group: WantedObject,
  sides: Sides,
  { where, agentId }: { readonly where: string; readonly agentId: number | undefined },
): Promise<string | null> {
  const { name, fields } = group
  const [main = '', ...includes] = filesOf(group)
  const version = fields['mainVersion']
  try {
    await api.call({
      method: 'POST',
      path: '/files/compile',
      body: {
        mainVCL: { ...toLooseFile(sides, main, where), ...(version === null ? {} : { version }) },
        includes: includes.map((include) => toLooseFile(sides, include, where)),
        root: listOf(fields['domains']).length === 0,
        ...(agentId === undefined ? {} : { agents: [{ id: agentId }] }),
      },
      timeoutMs: compileTimeoutMs,
    })
    return null
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const what = `vclgroup ${JSON.stringify(name)}`
    if (error.refusal?.status === 503) return `${what} was not compiled: ${error.message}`
    throw new CliError(
      error.exitCode,
      `${where}: ${what} does not compile; nothing was changed\n${error.message}`,
      error.refusal,
    )
  }
}

/** The folder's text of the file, otherwise the stored file. */
function toLooseFile({ sources, ids }: Sides, name: string, where: string): Fields {
  const given = sources.get(name)
  if (given === undefined) return { id: ids.require('file', name) }
  if (given.encoded)
    throw new CliError(
      exitCodes.refused,
      `${where}: file ${JSON.stringify(name)} is not a text file`,
    )
  return { name, source: given.source }
}

/** The main file first. */
function filesOf({ fields }: WantedObject): readonly string[] {
  return [String(fields['mainVCL']), ...listOf(fields['includes'])]
}
