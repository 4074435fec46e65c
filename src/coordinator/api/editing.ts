/** How a resource says that people edit its objects: what an edit changes, and how an object is found and answered. */
import type { Actor } from '../../resources/permission.js'
import type { Edit } from '../http/route.js'
import { runEdit } from './edit.js'
import type { StateService } from '../service.js'

export interface Editable<Found> {
  /** Of the answer. Where a PUT takes what is never answered (a password), `updated` is among them. */
  readonly keys: readonly string[]
  readonly longKey?: string
  readonly find: (service: StateService, actor: Actor, id: number) => Promise<Found | undefined>
  readonly view: (object: Found) => object
}

export function editing<Found>(
  service: StateService,
  { find, ...about }: Editable<Found>,
): Edit<Found> {
  return {
    ...about,
    run: (actor, id, requireSame, work) =>
      runEdit(service, (inside) => find(inside, actor, id), requireSame, work),
  }
}
