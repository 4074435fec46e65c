/** What is said of a path that no call has (choices: 2, an unknown path). */
import { FleetError } from '../../errors.js'

export function nothingHere(): FleetError {
  return new FleetError('not-found', 'path', 'there is nothing at this path')
}
