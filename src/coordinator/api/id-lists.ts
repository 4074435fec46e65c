/** Comma-separated ids in a query parameter. */
import { FleetError, type ErrorKey } from '../../errors.js'

const idsPattern = /^[1-9]\d{0,14}(?:,[1-9]\d{0,14})*$/

interface IdList {
  /** The name of the query parameter. */
  readonly name: string
  readonly most: number
  readonly errorKey: ErrorKey
}

/** Returns the ids without duplicates. Throws FleetError 'invalid'. */
export function readIds(text: string, { name, most, errorKey }: IdList): number[] {
  const ids = [...new Set(text.split(',').map(Number))]
  if (idsPattern.test(text) && ids.length <= most) return ids
  throw new FleetError(
    'invalid',
    errorKey,
    `${name} is ids, at most ${most}, joined by commas: ${name}=1,2`,
  )
}

/** Throws FleetError 'invalid' if one of the ids was not found. */
export function requireFound(
  ids: readonly number[],
  found: ReadonlySet<number>,
  { name, errorKey }: Pick<IdList, 'name' | 'errorKey'>,
): void {
  const missing = ids.find((id) => !found.has(id))
  if (missing !== undefined)
    throw new FleetError('invalid', errorKey, `${name}: ${missing} was not found`)
}
