/** Status below the head of an object's view: loading, a failed read, or a refused change. */
import type { Mutation } from '../api/mutation.js'
import type { LoadedObject } from '../api/object.js'
import { ErrorNote } from './error-note.js'
import { Loading } from './loading.js'

interface LoadStatusProps {
  readonly of: LoadedObject<unknown>
  /** Null: its error is shown elsewhere. */
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
