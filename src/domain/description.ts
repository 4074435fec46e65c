/** What people say about an object of the console, in their own words. */
import { FleetError, type ErrorKey } from '../errors.js'

/** Chosen by us; in characters, not UTF-16 units. */
const limitCharacters = 4096
/** C0 but tab, line feed and return; DEL, C1, and halves of surrogate pairs. */
const refused = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\p{Surrogate}]/u

/** As it is; throws 'invalid' for what cannot be one. */
export function parseDescription(text: string, errorKey: ErrorKey): string {
  // A character has two UTF-16 units at most, so long ones are never counted.
  if (text.length > 2 * limitCharacters || [...text].length > limitCharacters)
    throw new FleetError(
      'invalid',
      errorKey,
      `description: it has ${limitCharacters} characters at most`,
    )
  if (refused.test(text))
    throw new FleetError(
      'invalid',
      errorKey,
      'description: it has no control characters but tabs and line breaks, and no halves of surrogate pairs',
    )
  return text
}
