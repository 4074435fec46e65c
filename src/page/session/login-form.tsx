/** The login form: name and password, or the organization's identity provider. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiBase, readOutcome, type CallError } from '../api/http.js'
import { Button } from '../parts/button.js'
import { ErrorNote } from '../parts/error-note.js'
import { TextField } from '../parts/field.js'
import { Logo } from '../parts/icon.js'
import { forgetToasts, Toasts } from '../parts/toasts.js'
import { endedBecause, logIn, rememberSession } from './access.js'

export function LoginForm() {
  const name = useSignal('')
  const password = useSignal('')
  const organization = useSignal(localStorage.getItem(organizationKey) ?? '')
  const error = useSignal<CallError | null>(null)
  const isBusy = useSignal(false)
  useEffect(() => {
    document.title = 'Log in – cachefleet'
    forgetToasts()
  }, [])

  const attempt = async (work: () => Promise<CallError | null>): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = null
    localStorage.setItem(organizationKey, organization.value)
    error.value = await work()
    isBusy.value = false
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    const given = { name: name.value, password: password.value, organization: organization.value }
    void attempt(() => logIn(given)) // never rejects
  }

  return (
    <main class="login">
      <form class="login-form" onSubmit={submit}>
        <h1 class="login-title">
          <Logo /> cachefleet
        </h1>
        {endedBecause.value !== '' && <p class="login-ended">{endedBecause}</p>}
        <TextField label="Name" value={name} autoComplete="username" autoFocus required />
        <TextField
          label="Password"
          type="password"
          value={password}
          autoComplete="current-password"
          required
        />
        <TextField
          label="Organization"
          value={organization}
          autoComplete="organization"
          hint="Empty for system administrators"
        />
        {error.value && <ErrorNote error={error.value} />}
        <div class="login-ways">
          <Button kind="main" type="submit" isBusy={isBusy.value}>
            Log in
          </Button>
          {organization.value !== '' && (
            <Button
              isBusy={isBusy.value}
              onClick={() => void attempt(() => goToProvider(organization.value))}
            >
              Log in with provider
            </Button>
          )}
        </div>
      </form>
      <Toasts />
    </main>
  )
}

/** Remembered for convenience only. */
const organizationKey = 'cachefleet.organization'

/** Leaves the page for the provider, or returns the error if the organization has none or it is unavailable. */
async function goToProvider(organization: string): Promise<CallError | null> {
  const url = `${apiBase}/auth/oidc/${encodeURIComponent(organization)}`
  const answer = await fetch(url, { redirect: 'manual' }).catch(() => null)
  if (answer && answer.type !== 'opaqueredirect') {
    const outcome = await readOutcome(answer)
    if (!outcome.ok) return outcome.error
  }
  rememberSession()
  location.assign(url)
  return null
}
