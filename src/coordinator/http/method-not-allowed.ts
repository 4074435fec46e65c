/** The one error that is about HTTP itself: 405, answered with `Allow` (choices: 2). */
import { FleetError } from '../../errors.js'

export class MethodNotAllowed extends FleetError {
  /** `allow`: the header's value. */
  constructor(readonly allow: string) {
    super('not-found', 'method', `this path does not take the method; it takes ${allow}`)
  }
}
