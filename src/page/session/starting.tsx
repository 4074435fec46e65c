/** Until it is known who is logged in: mostly a moment, and why it takes longer where the coordinator cannot tell. */
import { ErrorNote } from '../parts/error-note.js'
import { Mark } from '../parts/icon.js'
import { Loading } from '../parts/loading.js'
import { renewAccess, startError } from './access.js'

export function Starting() {
  const error = startError.value
  return (
    <main class="login">
      {error ? (
        <div class="login-form">
          <h1 class="login-title">
            <Mark /> cachefleet
          </h1>
          <ErrorNote error={error} onRetry={() => void renewAccess(null)} />
          <p class="login-ended">It is tried again every few seconds.</p>
        </div>
      ) : (
        <Loading />
      )}
    </main>
  )
}
