/** Why a change was refused. One that would have undone somebody else's: what is there now has to be read first. */
import type { Deed } from '../api/deed.js'
import { ErrorNote } from './error-note.js'

interface EditErrorProps {
  readonly deed: Pick<Deed, 'error'>
  /** Shows the object as it is now, and this no more; left out: there is another way to it. */
  readonly onReadAgain?: (() => void) | undefined
}

export function EditError({ deed: { error }, onReadAgain }: EditErrorProps) {
  if (!error) return null
  if (error.status !== 412 || !onReadAgain) return <ErrorNote error={error} />
  return (
    <ErrorNote
      error={{ ...error, errorMsg: changedMeanwhile }}
      retryTitle="Read it again"
      onRetry={onReadAgain}
    />
  )
}

const changedMeanwhile =
  'Somebody changed it meanwhile, so nothing was saved. Read it again, and change what is there now.'
