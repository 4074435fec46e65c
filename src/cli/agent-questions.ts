/** `agents vcls|params|backends|bans|panic|command`: asks an agent about its cache. */
import { isFields, requireFields, requireList, type Fields } from './api-shapes.js'
import type { Column } from './cells.js'
import { openObject } from './find-object.js'
import { showList, showText } from './output.js'
import type { Invocation, Named } from './verb.js'

const columns: Readonly<Record<string, readonly Column[]>> = {
  vcls: [
    { field: 'name' },
    { field: 'status' },
    { field: 'state' },
    { field: 'busy' },
    { field: 'label' },
  ],
  params: [{ field: 'name' }, { field: 'value' }, { field: 'default' }, { field: 'unit' }],
  bans: [
    { field: 'timeSeconds', title: 'time' },
    { field: 'references' },
    { field: 'isCompleted', title: 'completed' },
    { field: 'expression' },
  ],
  backends: [
    { field: 'name' },
    { field: 'adminHealth', title: 'admin' },
    { field: 'isHealthy', title: 'healthy' },
    { field: 'good' },
    { field: 'total' },
  ],
}

export async function askAgent(
  invocation: Invocation,
  agent: Named,
  question: string,
): Promise<undefined> {
  const { api, path } = await openObject(invocation, agent)
  const { body } = await api.call({ method: 'GET', path: `${path}/${question}` })
  const { output } = invocation
  const known = columns[question]
  if (!known) {
    const { panic } = requireFields(body)
    showText(output, typeof panic === 'string' ? panic : 'no panic', body)
  } else if (output.form === 'json') showText(output, '', body)
  else await showList(output, isFields(body) ? byName(body) : requireList(body), known)
}

export async function sendCommand(invocation: Invocation, agent: Named): Promise<undefined> {
  const { api, path } = await openObject(invocation, agent)
  const command = invocation.words.slice(1).join(' ')
  const answer = await api.call({ method: 'POST', path: `${path}/command`, body: { command } })
  const { message } = requireFields(answer.body)
  showText(invocation.output, typeof message === 'string' ? message : '', answer.body)
}

/** The API returns parameters as an object keyed by name. */
function byName(parameters: Fields): readonly Fields[] {
  return Object.entries(parameters).map(([name, parameter]) => ({
    name,
    ...(isFields(parameter) ? parameter : {}),
  }))
}
