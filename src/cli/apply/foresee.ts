/** What the coordinator says of a plan before anything is changed: where groups would go, and whether their VCL compiles. */
import { keyOf, type PresentObject, type WantedObject } from '../../domain/apply-objects.js'
import type { ApplyPlan } from '../../domain/apply-plan.js'
import type { Api } from '../api.js'
import { nameOf, requireFields, requireList, type Fields } from '../api-shapes.js'
import { CliError, exitCodes } from '../cli-error.js'
import type { Source } from '../given-text.js'
import { listOf, type Ids } from './bodies.js'

/** One load may take 120 s (choices: 4). */
const compileTimeoutMs = 180_000

export interface Folder {
  readonly wanted: ReadonlyMap<string, WantedObject>
  readonly present: ReadonlyMap<string, PresentObject>
  readonly sources: ReadonlyMap<string, Source>
  readonly ids: Ids
}

export interface ForeseenPlace {
  readonly agentId: number
  readonly agentName: string
  /** Null: the group leaves it. */
  readonly deployment: string | null
  readonly held: boolean
}

export interface Foreseen {
  readonly group: string
  readonly places: readonly ForeseenPlace[]
  readonly shortage: string | null
}

/** Of the groups that would be deployed, in that order. */
export async function foreseePlacement(
  api: Api,
  { steps }: ApplyPlan,
  folder: Folder,
): Promise<readonly Foreseen[]> {
  const groups = steps
    .filter(({ action }) => action === 'deploy')
    .flatMap(({ name }) => folder.wanted.get(keyOf({ kind: 'vclgroup', name })) ?? [])
  if (groups.length === 0) return []
  const names = new Set(groups.flatMap(({ fields }) => listOf(fields['deployments'])))
  const leaving = steps.flatMap((step) => (step.action === 'undeploy' ? [{ id: step.id }] : []))
  const { body } = await api.call({
    method: 'POST',
    path: '/vclgroups/placement',
    body: {
      groups: groups.map(({ name, fields }) => ({
        ...withId(folder.ids.find('vclgroup', name)),
        name,
        domains: fields['domains'],
        deployments: fields['deployments'],
      })),
      deployments: [...names].map((name) => toPlannedDeployment(folder, name)),
      undeployed: leaving,
    },
  })
  return requireList(requireFields(body)['groups']).map(readForeseen)
}

function toPlannedDeployment({ wanted, present, ids }: Folder, name: string): Fields {
  const key = keyOf({ kind: 'deployment', name })
  const fields = (wanted.get(key) ?? present.get(key))?.fields ?? {}
  return {
    ...withId(ids.find('deployment', name)),
    name,
    min: fields['min'],
    max: fields['max'],
    tags: listOf(fields['tags']).map((tag) => ({ ...withId(ids.find('tag', tag)), name: tag })),
  }
}

function withId(id: number | undefined): Fields {
  return id === undefined ? {} : { id }
}

function readForeseen(group: Fields): Foreseen {
  const { shortage } = group
  return {
    group: nameOf(group) ?? '',
    places: requireList(group['agents']).map(({ agent, deployment, held }) => ({
      agentId: Number(requireFields(agent)['id']),
      agentName: nameOf(agent) ?? '',
      deployment: typeof deployment === 'string' ? deployment : null,
      held: held === true,
    })),
    shortage: typeof shortage === 'string' ? shortage : null,
  }
}

/** Groups whose caches, or whose next deploy, would get another text than before. */
export function findToCompile({ steps }: ApplyPlan, wanted: Folder['wanted']): WantedObject[] {
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

/** Answers what could not be checked. Throws CliError for what does not compile; `where`: the group's document. */
export async function checkCompile(
  api: Api,
  group: WantedObject,
  folder: Folder,
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
        mainVCL: { ...toLooseFile(folder, main, where), ...(version === null ? {} : { version }) },
        includes: includes.map((include) => toLooseFile(folder, include, where)),
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

/** As the folder has it; else the stored one. */
function toLooseFile({ sources, ids }: Folder, name: string, where: string): Fields {
  const given = sources.get(name)
  if (given === undefined) return { id: ids.require('file', name) }
  if (given.encoded)
    throw new CliError(exitCodes.refused, `${where}: file ${JSON.stringify(name)} is no text`)
  return { name, source: given.source }
}

/** The main file first. */
function filesOf({ fields }: WantedObject): readonly string[] {
  return [String(fields['mainVCL']), ...listOf(fields['includes'])]
}
