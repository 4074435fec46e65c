/** The permissions of a user as check boxes; saving can be undone. */
import { useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { useMutation, type Mutation } from '../../api/mutation.js'
import { useList } from '../../api/list.js'
import type { UserPermission } from '../../../resources/user-permission.js'
import type { User } from '../../../resources/user.js'
import { Button } from '../../parts/button.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Loading } from '../../parts/loading.js'
import { toast } from '../../parts/toasts.js'
import { mayWrite } from '../../session/rights.js'
import { GrantGrid } from './grant-grid.js'
import { isSameGrants, toGrants, type Grants } from '../../../resources/permission.js'
import { makeGrants, putBackGrants, whereOf } from './make-grants.js'

export function PermissionsPanel({ user }: { readonly user: User }) {
  const { rows, phase, error, reload } = useList<UserPermission>('/permissions', {
    query: whereOf(user),
  })
  const before = toGrants(rows)
  const wanted = useSignal<Grants>(before)
  const mutation = useMutation()
  // A new read replaces unsaved changes: they were just saved, or another user's change came first.
  useLayoutEffect(() => {
    wanted.value = toGrants(rows)
  }, [rows])
  const save = async (): Promise<void> => {
    const change = { before, after: wanted.peek() }
    await mutation.run(
      () => makeGrants(user, rows, change.after),
      () => {
        toast('Saved.', { undo: () => void putBackGrants(user, change).then(reload) }) // never rejects
      },
    )
    reload()
  }
  return (
    <section class="panel">
      <h2>Permissions</h2>
      {error && <ErrorNote error={error} onRetry={reload} />}
      {phase === 'loading' ? (
        <Loading />
      ) : (
        <GrantForm
          user={user}
          wanted={wanted}
          before={before}
          mutation={mutation}
          onSave={() => void save()}
        />
      )}
    </section>
  )
}

interface GrantFormProps {
  readonly user: User
  readonly before: Grants
  readonly wanted: Signal<Grants>
  readonly mutation: Mutation
  readonly onSave: () => void
}

function GrantForm({ user, before, wanted, mutation, onSave }: GrantFormProps) {
  const reason = findReason(user)
  const isChanged = !isSameGrants(before, wanted.value)
  return (
    <>
      {reason !== null && <p class="quiet">They cannot be changed here: {reason}.</p>}
      <GrantGrid label="Permissions" value={wanted} whyNot={() => reason} />
      {reason === null && wanted.value.perm === 'write' && (
        <p class="quiet">Who may write permissions may give themselves all others.</p>
      )}
      {mutation.error && <ErrorNote error={mutation.error} />}
      {reason === null && (
        <div class="dialog-foot">
          <Button
            disabled={!isChanged}
            onClick={() => {
              wanted.value = before
            }}
          >
            Discard
          </Button>
          <Button kind="main" disabled={!isChanged} isBusy={mutation.isBusy} onClick={onSave}>
            Save the permissions
          </Button>
        </div>
      )}
    </>
  )
}

/** Returns why the logged-in user cannot give permissions to this user; null: they can. */
function findReason({ role }: User): string | null {
  if (role === 'administrator')
    return 'administrators may do everything; what is checked counts once the role is regular'
  return mayWrite('perm') ? null : 'giving permissions needs permission to write permissions'
}
