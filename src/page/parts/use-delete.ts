/** Deletes one object, after asking by its name; then the list that it was in is shown. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/call.js'
import { useDeed, type Deed } from '../api/deed.js'
import { confirmDestruction } from './confirm.js'
import { toast } from './toasts.js'

export interface Deletion extends Deed {
  readonly ask: (object: Deletable) => Promise<void>
}

export interface Deletable {
  /** Of the API. */
  readonly path: string
  /** What it is, as "tag". */
  readonly noun: string
  readonly name: string
  /** What will be gone with it. */
  readonly text: string
  /** Where to go then. */
  readonly home: string
  /** Of what was read: 412 when somebody changed it since; left out: deleted as it is. */
  readonly etag?: string | null
  /** Before the list is shown. */
  readonly then?: () => void
}

export function useDelete(): Deletion {
  const deed = useDeed()
  const [, go] = useLocation()
  const ask = async ({
    path,
    noun,
    name,
    text,
    home,
    etag = null,
    then,
  }: Deletable): Promise<void> => {
    const question = { title: `Delete the ${noun} ${name}?`, text, verb: 'Delete', name }
    if (!(await confirmDestruction(question))) return
    await deed.run(
      () => call('DELETE', path, { ifMatch: etag }),
      () => {
        then?.()
        toast(`${name} is deleted.`)
        go(home)
      },
    )
  }
  return { ...deed, ask }
}
