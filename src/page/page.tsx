/** Shows the login form, or for a logged-in user the shell with the view of the address. */
import { session } from './session/access.js'
import { LoginForm } from './session/login-form.js'
import { Starting } from './session/starting.js'
import { Shell } from './shell/shell.js'

export function Page() {
  if (session.value === 'starting') return <Starting />
  // A new login, possibly from another tab, remounts the shell: no state of the previous login remains.
  return session.value ? <Shell key={session.value.who.session.id} /> : <LoginForm />
}
