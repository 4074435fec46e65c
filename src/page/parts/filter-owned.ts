/** Returns the objects that an object of this owner may refer to: the system administrator sees those of all organizations. */
import type { Reference } from '../../resources/resource.js'

interface Owned {
  readonly organization: Reference | null
}

/** `shared`: includes objects without an organization, such as the tags of shared agents. */
export function filterOwned<T extends Owned>(
  objects: readonly T[],
  owner: Reference | null,
  { shared = false }: { readonly shared?: boolean } = {},
): readonly T[] {
  return objects.filter(
    ({ organization }) => organization?.id === owner?.id || (shared && organization === null),
  )
}
