/** Deletes one object after the user has confirmed its name, then opens its list. */
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
  /** Path in the API. */
  readonly path: string
  /** Its kind, such as "tag"; if omitted, the name alone is enough. */
  readonly noun?: string
  readonly name: string
  /** What is deleted along with it. */
  readonly text: string
  /** Message shown after deletion. */
  readonly done?: string
  /** The address to open after deletion. */
  readonly home: string
  /** ETag of the object as it was read; the API answers 412 if it has changed since. If omitted, it is deleted in any state. */
  readonly etag?: string | null
  /** Replaces the single DELETE call where more is needed. */
  readonly remove?: () => Promise<Outcome<unknown>>
  /** Called before the list is opened. */
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
