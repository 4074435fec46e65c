/** The organization of an object, shown to the system administrator, who sees all organizations. */
import type { Reference } from '../../resources/resource.js'
import { readWho } from '../session/rights.js'
import { textColumn } from './columns.js'
import type { Column } from './table.js'

export interface Owned {
  /** Null: it belongs to the system. */
  readonly organization: Reference | null
}

function seesAll(): boolean {
  const who = readWho()
  return who !== null && who.organization === null
}

/** Shown beside the title of an object. */
export function Owner({ of: { organization } }: { readonly of: Owned }) {
  if (!seesAll() || organization === null) return null
  return (
    <span class="view-head-owner" title="Organization">
      {organization.name}
    </span>
  )
}

export function readOwner({ organization }: Owned): Reference | null {
  return organization
}

/** Empty for users who see only one organization. */
export function ownerColumns<T>(ownerOf: (row: T) => Reference | null): readonly Column<T>[] {
  if (!seesAll()) return []
  const nameOf = (row: T): string | null => ownerOf(row)?.name ?? null
  return [textColumn('Organization', nameOf, { width: '11rem', from: 'wide' })]
}
