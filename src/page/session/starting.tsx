/** Shown until the session state is known: usually a moment, or an error if the coordinator does not answer. */
import { ErrorNote } from '../parts/error-note.js'
import { Logo } from '../parts/icon.js'
import { Loading } from '../parts/loading.js'
import { renewAccess, startError } from './access.js'

export function Starting() {
  const error = startError.value
  return (
    <main class="login">
      {error ? (
        <div class="login-form">
          <h1 class="login-title">
            <Logo /> cachefleet
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
