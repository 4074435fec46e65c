/** Why a change was refused. One that would overwrite somebody else's: the object has to be read again first. */
import type { Mutation } from '../api/mutation.js'
import { ErrorNote } from './error-note.js'

interface EditErrorProps {
  readonly mutation: Pick<Mutation, 'error'>
  /** Shows the object as it is now, and this no more; left out: there is another way to it. */
  readonly onReadAgain?: (() => void) | undefined
}

export function EditError({ mutation: { error }, onReadAgain }: EditErrorProps) {
  if (!error) return null
  if (error.status !== 412 || !onReadAgain) return <ErrorNote error={error} />
  return (
    <ErrorNote
      error={{ ...error, errorMsg: changedMeanwhile }}
      retryTitle="Reload"
      onRetry={onReadAgain}
    />
  )
}

const changedMeanwhile =
  'Somebody else changed it meanwhile, so nothing was saved. Reload it, then make your change again.'
