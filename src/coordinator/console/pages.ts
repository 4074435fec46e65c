/** Pages by path, `/{page}/{items}` (docs/behaviour.md, Console): from page 1, 1 to 1000 items; past the end a page is empty. */
import { isObjectId } from '../../resources/object-id.js'
import { FleetError, type ErrorKey } from '../../errors.js'
import { nothingHere } from '../http/refusals.js'

export interface Page {
  /** From 1. */
  readonly page: number
  readonly items: number
}

export const maxItems = 1000

/** Throws FleetError 'invalid', and 'not-found' after an id, which means an unknown path of the object: `/cache/{id}/nothing`. */
export function readPage(params: Readonly<Record<string, string>>, errorKey: ErrorKey): Page {
  if (isObjectId(params['page'] ?? '')) throw nothingHere()
  const page = readNumber(params['page'])
  const items = readNumber(params['items'])
  if (page === undefined)
    throw new FleetError('invalid', errorKey, 'the page is a whole number from 1')
  if (items === undefined || items > maxItems)
    throw new FleetError(
      'invalid',
      errorKey,
      `the items of a page are a whole number from 1 to ${maxItems}`,
    )
  return { page, items }
}

/** Without a page: all. */
export function takePage<T>(all: readonly T[], page: Page | undefined): readonly T[] {
  return page ? all.slice((page.page - 1) * page.items, page.page * page.items) : all
}

function readNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined
}
