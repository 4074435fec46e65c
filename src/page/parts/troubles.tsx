/** Under the head of an object's view: that it is on its way, why it cannot be read, why what was asked of it was refused. */
import type { Deed } from '../api/deed.js'
import type { Shown } from '../api/object.js'
import { ErrorNote } from './error-note.js'
import { Loading } from './loading.js'

interface TroublesProps {
  readonly of: Shown<unknown>
  /** Null: it is told elsewhere. */
  readonly deed: Pick<Deed, 'error'> | null
}

export function Troubles({ of: { value, error, reload }, deed }: TroublesProps) {
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {deed?.error && <ErrorNote error={deed.error} />}
      {value === null && !error && <Loading />}
    </>
  )
}
