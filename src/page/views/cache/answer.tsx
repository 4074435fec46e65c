/** An answer of a cache: loading, refused, empty, or there. */
import type { ComponentChildren } from 'preact'
import type { CallError } from '../../api/http.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import type { IconName } from '../../parts/icon.js'
import { Loading } from '../../parts/loading.js'

interface CacheAnswerProps {
  readonly value: unknown
  readonly error: CallError | null
  readonly reload: () => void
  readonly isEmpty: boolean
  readonly icon: IconName
  /** When it is empty. */
  readonly title: string
  readonly children: ComponentChildren
}

export function CacheAnswer({
  value,
  error,
  reload,
  isEmpty,
  icon,
  title,
  children,
}: CacheAnswerProps) {
  return (
    <>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {value === null && !error && <Loading />}
      {isEmpty && !error ? <Empty icon={icon} title={title} /> : children}
    </>
  )
}
