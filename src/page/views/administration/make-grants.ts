/** Saves a user's permissions and undoes that. Neither overwrites a change that someone else made meanwhile. */
import { call } from '../../api/call.js'
import type { CallError, Outcome } from '../../api/http.js'
import type { UserPermission } from '../../../resources/user-permission.js'
import type { User } from '../../../resources/user.js'
import { notifyOutcome } from '../../parts/notify.js'
import { toGrants, type Grants } from '../../../resources/permission.js'
import { planGrantCalls, revertGrants, type GrantCall } from './grants.js'

/** Makes the calls one by one and stops at the first that is refused. `before`: the permissions as the user saw them. */
export async function makeGrants(
  user: User,
  before: readonly UserPermission[],
  wanted: Grants,
): Promise<Outcome<unknown>> {
  let outcome: Outcome<unknown> = { ok: true, value: undefined, etag: null, total: null }
  for (const planned of planGrantCalls(before, wanted, user)) {
    outcome = await makeGrant(planned, before)
    if (!outcome.ok) break
  }
  return outcome
}

export async function putBackGrants(
  user: User,
  change: { readonly before: Grants; readonly after: Grants },
): Promise<void> {
  const where = new URLSearchParams(whereOf(user))
  const now = await call<readonly UserPermission[]>('GET', `/permissions?${where}`)
  const outcome = now.ok
    ? await makeGrants(user, now.value, revertGrants(toGrants(now.value), change))
    : now
  notifyOutcome(outcome, 'Undone.')
}

/** Filter of the permission list for this user. */
export function whereOf({ account, organization }: User) {
  return { 'account.id': String(account.id), 'organization.id': String(organization.id) }
}

/** Changes a permission only if it is as the user saw it. Lists have no ETags, so it is read individually. */
async function makeGrant(
  { method, path, body }: GrantCall,
  before: readonly UserPermission[],
): Promise<Outcome<unknown>> {
  const options = body === undefined ? {} : { body }
  if (method === 'POST') return call(method, path, options)
  const now = await call<UserPermission>('GET', path)
  if (!now.ok) return describeConflict(now.error)
  const seen = before.find(({ id }) => id === now.value.id)
  // The coordinator itself refuses the empty ETag, and its response has a trace id.
  const ifMatch = seen?.write === now.value.write ? now.etag : '""'
  const outcome = await call(method, path, { ...options, ifMatch })
  return outcome.ok ? outcome : describeConflict(outcome.error)
}

function describeConflict(error: CallError): { readonly ok: false; readonly error: CallError } {
  const isChanged = error.status === 412 || error.status === 404
  return { ok: false, error: isChanged ? { ...error, errorMsg: changedMeanwhile } : error }
}

const changedMeanwhile =
  'Somebody changed these permissions meanwhile: here they are as they are now. Check them and save again.'
