/** Under the head of an object's view: that it loads, why it cannot be read, why a change was refused. */
import type { Mutation } from '../api/mutation.js'
import type { LoadedObject } from '../api/object.js'
import { ErrorNote } from './error-note.js'
import { Loading } from './loading.js'

interface LoadStatusProps {
  readonly of: LoadedObject<unknown>
  /** Null: it is shown elsewhere. */
  readonly mutation: Pick<Mutation, 'error'> | null
}

export function LoadStatus({ of: { value, error, reload }, mutation }: LoadStatusProps) {
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {mutation?.error && <ErrorNote error={mutation.error} />}
      {value === null && !error && <Loading />}
    </>
  )
}
