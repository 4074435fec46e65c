/** Shows why a change was refused. After a conflict with another user's change the object must be read again first. */
import type { Mutation } from '../api/mutation.js'
import { ErrorNote } from './error-note.js'

interface EditErrorProps {
  readonly mutation: Pick<Mutation, 'error'>
  /** Reloads the object and dismisses the error; if omitted, the user has another way to reload. */
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
