/** How long a call that deploys to caches waits for them: whole seconds, optionally with an s. */
import { Type } from 'typebox'
import { FleetError } from '../../errors.js'

const waitSecondsDefault = 60
const maxWaitSeconds = 600

export const waitSchema = Type.String({
  description: `Whole seconds, optionally with s; 0 to ${maxWaitSeconds}, default ${waitSecondsDefault}`,
})

/** Parses `60s` or `60` and returns milliseconds. Throws 'invalid'. */
export function readWait(wait = String(waitSecondsDefault)): number {
  const [, seconds] = /^(\d{1,4})s?$/.exec(wait) ?? []
  if (seconds === undefined || Number(seconds) > maxWaitSeconds)
    throw new FleetError(
      'invalid',
      'deploy',
      `wait is ${JSON.stringify(wait.slice(0, 80))}; it must be whole seconds from 0 to ${maxWaitSeconds}, like 60s`,
    )
  return Number(seconds) * 1000
}
