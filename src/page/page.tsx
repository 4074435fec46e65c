/** The login for who is not logged in, the shell with the view of the address for who is. */
import { session } from './session/access.js'
import { LoginForm } from './session/login-form.js'
import { Starting } from './session/starting.js'
import { Shell } from './shell/shell.js'

export function Page() {
  if (session.value === 'starting') return <Starting />
  // Another login, which another tab may begin, is another page: nothing of the one before stays.
  return session.value ? <Shell key={session.value.who.session.id} /> : <LoginForm />
}
