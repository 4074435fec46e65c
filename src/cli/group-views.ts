/** `vclgroups state|placement|history`: what is true of a group. */
import { findId } from './find-object.js'
import { showList, showObject } from './output.js'
import { word, type Invocation, type Named } from './verb.js'

export async function showState(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  showObject(invocation.output, await api.readObject(`${group.path}/${id}/state`))
}

export async function showPlacement(invocation: Invocation, group: Named): Promise<undefined> {
  const api = await invocation.openApi()
  const id = await findId(api, group, word(invocation, 0))
  const rows = await api.readList(`${group.path}/${id}/placement`)
  await showList(invocation.output, rows, [
    { field: 'agent' },
    { field: 'deployment' },
    { field: 'chosen' },
    { field: 'reason' },
  ])
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
