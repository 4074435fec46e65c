/** `organizations freeze|unfreeze`: blocks deploys of the organization's groups for a time (docs/behaviour.md, Freeze). */
import { requireFields, type Fields } from './api-shapes.js'
import { usageError } from './cli-error.js'
import { openObject } from './find-object.js'
import { readMoment } from './moment.js'
import { showObject } from './output.js'
import { textFlag, type Invocation, type Named } from './verb.js'

export async function freezeOrganization(
  invocation: Invocation,
  organization: Named,
): Promise<undefined> {
  const [until, reason] = [textFlag(invocation, 'until'), textFlag(invocation, 'reason')]
  if (until === undefined) throw usageError('--until TIME is missing, as 12h or a date')
  if (reason === undefined)
    throw usageError('--reason TEXT is missing: it is shown to users whose deploys are refused')
  const untilSeconds = readMoment('until', until, invocation.system.now())
  await write(invocation, organization, { until: untilSeconds, reason })
}

export async function unfreezeOrganization(
  invocation: Invocation,
  organization: Named,
): Promise<undefined> {
  await write(invocation, organization, null)
}

async function write(
  invocation: Invocation,
  organization: Named,
  frozen: Fields | null,
): Promise<void> {
  const { api, path } = await openObject(invocation, organization)
  const { body } = await api.call({ method: 'PUT', path, body: { frozen } })
  showObject(invocation.output, requireFields(body))
}
