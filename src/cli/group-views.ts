/** `vclgroups state|placement|routing|history`: what is true of a group. */
import { isFields, nameOf, requireList } from './api-shapes.js'
import { findId } from './find-object.js'
import { showList, showObject, showText } from './output.js'
import { isSet, word, type Invocation, type Named } from './verb.js'

export async function showState(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  showObject(invocation.output, await api.readObject(`${group.path}/${id}/state`))
}

export async function showPlacement(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  const query = isSet(invocation, 'replace') ? '?replace=true' : ''
  const rows = await api.readList(`${group.path}/${id}/placement${query}`)
  await showList(invocation.output, rows, [
    { field: 'agent' },
    { field: 'deployment' },
    { field: 'chosen' },
    { field: 'reason' },
  ])
}

/** For people the texts one after the other, each under a comment with its agents: equal ones once. */
export async function showRouting(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  const query = isSet(invocation, 'next') ? '?next=true' : ''
  const answer = await api.readObject(`${group.path}/${id}/routing${query}`)
  const agentsOf = new Map<string, string[]>()
  for (const { agent, source } of requireList(answer['agents'])) {
    if (!isFields(agent) || typeof source !== 'string') continue
    agentsOf.set(source, [...(agentsOf.get(source) ?? []), nameOf(agent) ?? ''])
  }
  const texts = [...agentsOf].map(([source, names]) => `# ${names.join(', ')}\n${source}`)
  showText(invocation.output, texts.join('\n'), answer)
}

export async function showHistory(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  const rows = await api.readList(`${group.path}/${id}/history`)
  await showList(invocation.output, rows, [
    { field: 'revision' },
    { field: 'at' },
    { field: 'account' },
    { field: 'action' },
    { field: 'mainVCL.name', title: 'main VCL' },
    { field: 'mainVCL.version', title: 'version' },
    { field: 'result' },
  ])
}
