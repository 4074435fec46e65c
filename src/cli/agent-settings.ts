/** `agents set-param|set-backend`: sets parameters and backend health, which the coordinator then maintains. */
import { requireFields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { openObject } from './find-object.js'
import { showObject } from './output.js'
import { isSet, word, type Invocation, type Named } from './verb.js'

/** Shows the parameter's current value in the cache. Throws CliError, with the cache's own message if it refuses. */
export async function setParam(invocation: Invocation, agent: Named): Promise<undefined> {
  const [, , value] = invocation.words
  const isReset = isSet(invocation, 'reset')
  if ((value === undefined) !== isReset)
    throw usageError('set-param takes a value, or --reset without one')
  const { api, path } = await openObject(invocation, agent)
  const name = word(invocation, 1)
  const { body } = await api.call({
    method: 'PUT',
    path: `${path}/params/${encodeURIComponent(name)}`,
    body: { value: value ?? null },
  })
  showObject(invocation.output, { name, ...requireFields(body) })
}

const healths = ['healthy', 'sick', 'auto']

export async function setBackend(invocation: Invocation, agent: Named): Promise<undefined> {
  if (!healths.includes(word(invocation, 2)))
    throw usageError(
      `Health is ${JSON.stringify(word(invocation, 2))}; ${healths.join(', ')} are known`,
    )
  const { api, path } = await openObject(invocation, agent)
  const selection = [word(invocation, 1), word(invocation, 2)].map(encodeURIComponent).join('/')
  const { body } = await api.call({ method: 'PUT', path: `${path}/backends/${selection}` })
  showObject(invocation.output, requireFields(body))
}
