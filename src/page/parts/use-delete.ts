/** Deletes one object, after asking by its name; then the list that it was in is shown. */
import { useLocation } from 'wouter-preact'
import { call } from '../api/call.js'
import { useMutation, type Mutation } from '../api/mutation.js'
import type { Outcome } from '../api/http.js'
import { confirmDestruction, type Question } from './confirm.js'
import { toast } from './toasts.js'

export interface Deletion extends Mutation {
  readonly ask: (object: Deletable) => Promise<void>
}

interface Deletable extends Partial<Pick<Question, 'title' | 'verb'>> {
  /** Of the API. */
  readonly path: string
  /** What it is, as "tag"; left out: its name is enough. */
  readonly noun?: string
  readonly name: string
  /** What will be gone with it. */
  readonly text: string
  /** Said when it is gone. */
  readonly done?: string
  /** Where to go then. */
  readonly home: string
  /** Of what was read: 412 when somebody changed it since; left out: deleted as it is. */
  readonly etag?: string | null
  /** Where one call is not all. */
  readonly remove?: () => Promise<Outcome<unknown>>
  /** Before the list is shown. */
  readonly then?: () => void
}

export function useDelete(): Deletion {
  const mutation = useMutation()
  const [, go] = useLocation()
  const ask = async (object: Deletable): Promise<void> => {
    const { path, noun, name, text, home, verb = 'Delete', etag = null, then } = object
    const { title = `Delete ${noun === undefined ? '' : `${noun} `}${name}?` } = object
    if (!(await confirmDestruction({ title, text, verb, name }))) return
    await mutation.run(object.remove ?? (() => call('DELETE', path, { ifMatch: etag })), () => {
      then?.()
      toast(object.done ?? `${name} deleted.`)
      go(home)
    })
  }
  return { ...mutation, ask }
}
