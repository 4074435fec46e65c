/** `vclgroups state|placement|routing|history`: shows the actual state of a group. */
import { isFields, nameOf, requireList } from './api-shapes.js'
import { openObject } from './find-object.js'
import { showList, showObject, showText } from './output.js'
import { isSet, type Invocation, type Named } from './verb.js'

export async function showState(invocation: Invocation, group: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, group)
  showObject(invocation.output, await api.readObject(`${path}/state`))
}

export async function showPlacement(invocation: Invocation, group: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, group)
  const query = isSet(invocation, 'replace') ? '?replace=true' : ''
  const rows = await api.readList(`${path}/placement${query}`)
  await showList(invocation.output, rows, [
    { field: 'agent' },
    { field: 'deployment' },
    { field: 'chosen' },
    { field: 'reason' },
  ])
}

/** For people: prints each distinct text once, below a comment that names its agents. */
export async function showRouting(invocation: Invocation, group: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, group)
  const query = isSet(invocation, 'next') ? '?next=true' : ''
  const answer = await api.readObject(`${path}/routing${query}`)
  const agentsOf = new Map<string, string[]>()
  for (const { agent, source } of requireList(answer['agents'])) {
    if (!isFields(agent) || typeof source !== 'string') continue
    agentsOf.set(source, [...(agentsOf.get(source) ?? []), nameOf(agent) ?? ''])
  }
  const texts = [...agentsOf].map(([source, names]) => `# ${names.join(', ')}\n${source}`)
  showText(invocation.output, texts.join('\n'), answer)
}

export async function showHistory(invocation: Invocation, group: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, group)
  await showList(invocation.output, await api.readList(`${path}/history`), [
    { field: 'revision' },
    { field: 'at' },
    { field: 'account' },
    { field: 'action' },
    { field: 'mainVCL.name', title: 'main VCL' },
    { field: 'mainVCL.version', title: 'version' },
    { field: 'result' },
  ])
}
