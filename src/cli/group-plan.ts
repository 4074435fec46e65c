/**
 * `vclgroups diff` and `vclgroups deploy --plan`: what a deploy would change, and nothing of it changed. Ends with 0 when that
 * is nothing, with 2 when it is something, and a plan with 1 when the deploy would be refused or wait.
 */
import { requireFields, requireList, isFields, nameOf, type Fields } from './api-shapes.js'
import type { Api } from './api.js'
import { exitCodes, type ExitCode } from './cli-error.js'
import { openObject } from './find-object.js'
import { showText } from './output.js'
import { diffTexts } from './text-diff.js'
import { isSet, type Invocation, type Named } from './verb.js'

/** Caches whose routing VCL is shown; others of the same text are counted. */
const routingsShown = 5

export async function diffGroup(invocation: Invocation, group: Named): Promise<ExitCode> {
  const { api, path } = await openObject(invocation, group)
  const files = await diffFiles(api, await api.readObject(path))
  const text = files.map(({ diff }) => diff).join('')
  showText(invocation.output, text === '' ? 'no file differs from what is deployed' : text, files)
  return files.length === 0 ? exitCodes.done : exitCodes.changes
}

export async function planDeploy(invocation: Invocation, group: Named): Promise<ExitCode> {
  const { api, path } = await openObject(invocation, group)
  const now = await api.readObject(path)
  const files = await diffFiles(api, now)
  const { agents, shortage } = await foreseePlacement(api, now, isSet(invocation, 'replace'))
  const moves = agents.filter(({ held, deployment }) => held !== true || deployment === null)
  const routing = await diffRouting(api, path)
  showText(
    invocation.output,
    [
      ...files.map(({ diff }) => diff),
      ...moves.map((place) => `${describeMove(place)}\n`),
      ...routing.map(({ diff }) => diff),
      ...(shortage === null ? [] : [`it cannot be deployed now: ${shortage}\n`]),
    ].join('') || 'a deploy would change nothing',
    { files, placement: agents, shortage, routing },
  )
  if (shortage !== null) return exitCodes.refused
  const isSame = files.length + moves.length + routing.length === 0 && now['deployed'] === true
  return isSame ? exitCodes.done : exitCodes.changes
}

interface Difference {
  readonly name: string
  readonly diff: string
}

interface PinnedFile {
  readonly id: number
  readonly name: string
  readonly version: number
}

/** What is deployed against what a deploy would take. */
async function diffFiles(api: Api, group: Fields): Promise<readonly Difference[]> {
  const { wish } = group
  const deployed = isFields(wish) && group['deployed'] === true ? readPins(wish) : []
  const wanted = await readWanted(api, group)
  const ids = [...new Set([...wanted, ...deployed].map(({ id }) => id))]
  const differences = await Promise.all(
    ids.map(async (id): Promise<Difference[]> => {
      const [from, to] = [deployed, wanted].map((files) => files.find((file) => file.id === id))
      if (from?.version === to?.version) return []
      const texts = await Promise.all([from, to].map((file) => readText(api, file)))
      const [before = '', after = ''] = texts
      const name = (to ?? from)?.name ?? ''
      const diff = diffTexts(
        { label: from ? `${name} version ${from.version}` : '/dev/null', text: before },
        { label: to ? `${name} version ${to.version}` : '/dev/null', text: after },
      )
      return [{ name, diff }]
    }),
  )
  return differences.flat()
}

function readPins(pins: Fields): readonly PinnedFile[] {
  return [requireFields(pins['mainVCL']), ...requireList(pins['includes'])].map((file) => ({
    id: Number(file['id']),
    name: nameOf(file) ?? '',
    version: Number(file['version']),
  }))
}

/** The newest version of each file, unless the group pins one. */
async function readWanted(api: Api, group: Fields): Promise<readonly PinnedFile[]> {
  const main = isFields(group['mainVCL']) ? [group['mainVCL']] : []
  const files = [...main, ...requireList(group['includes'])]
  return Promise.all(
    files.map(async (file) => {
      const { id, version } = file
      const newest = version ?? (await api.readObject(`/files/${String(id)}`))['version']
      return { id: Number(id), name: nameOf(file) ?? '', version: Number(newest) }
    }),
  )
}

async function readText(api: Api, file: PinnedFile | undefined): Promise<string> {
  if (!file) return ''
  const { source } = await api.readObject(`/files/${file.id}/versions/${file.version}`)
  return typeof source === 'string' ? source : ''
}

async function foreseePlacement(api: Api, group: Fields, replace: boolean) {
  const ids = requireList(group['deployments']).map(({ id }) => String(id))
  const deployments = ids.length === 0 ? [] : await api.readList('/deployments', { id: ids.join() })
  const planned = {
    id: group['id'],
    name: group['name'],
    domains: requireList(group['domains']).map(({ fqdn }) => fqdn),
    deployments: deployments.map(({ name }) => name),
    releases: group['releases'],
    replace,
  }
  const body = {
    groups: [planned],
    deployments: deployments.map(({ id, name, min, max, tags }) => ({
      ...{ id, name, min, max },
      tags: requireList(tags).map((tag) => ({ id: tag['id'] })),
    })),
  }
  const answer = await api.call({ method: 'POST', path: '/vclgroups/placement', body })
  const [foreseen = {}] = requireList(requireFields(answer.body)['groups'])
  const { shortage } = foreseen
  return {
    agents: requireList(foreseen['agents'] ?? []),
    shortage: typeof shortage === 'string' ? shortage : null,
  }
}

function describeMove({ agent, deployment, reason, replaces }: Fields): string {
  const name = nameOf(agent) ?? ''
  if (deployment === null) return `- ${name}: ${String(reason)}`
  const others = requireList(replaces ?? []).map((other) => nameOf(other) ?? '')
  const instead = others.length === 0 ? '' : `, in place of ${others.join(', ')}`
  const by = typeof deployment === 'string' ? `: by deployment ${deployment}` : ''
  return `+ ${name}${by}${instead}`
}

/** Of caches where groups are routed to by their domains; equal differences once. */
async function diffRouting(api: Api, path: string): Promise<readonly Difference[]> {
  const [now, next] = await Promise.all(
    ['', '?next=true'].map(async (query) => readRoutings(api, `${path}/routing${query}`)),
  )
  const differences: Difference[] = []
  for (const [agent, text] of next ?? []) {
    const before = now?.get(agent) ?? ''
    if (before === text) continue
    const diff = diffTexts(
      { label: before === '' ? '/dev/null' : `routing of ${agent}`, text: before },
      { label: `routing of ${agent}`, text },
    )
    differences.push({ name: agent, diff })
  }
  const hidden = differences.length - routingsShown
  return [
    ...differences.slice(0, routingsShown),
    ...(hidden > 0 ? [{ name: '', diff: `and the routing of ${hidden} more caches\n` }] : []),
  ]
}

async function readRoutings(api: Api, path: string): Promise<ReadonlyMap<string, string>> {
  const { agents } = await api.readObject(path)
  return new Map(
    requireList(agents).map(({ agent, source }) => [nameOf(agent) ?? '', String(source)]),
  )
}
