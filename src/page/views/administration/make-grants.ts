/** Saves the permissions of a user, and undoes that. Neither overwrites what somebody else changed meanwhile. */
import { call } from '../../api/call.js'
import type { CallError, Outcome } from '../../api/http.js'
import type { UserPermission } from '../../../resources/user-permission.js'
import type { User } from '../../../resources/user.js'
import { notifyOutcome } from '../../parts/notify.js'
import { toGrants, type Grants } from '../../../resources/permission.js'
import { planGrantCalls, revertGrants, type GrantCall } from './grants.js'

/** One call after the other; stops at the first that is refused. `before`: as they were seen. */
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

/** Of the list of permissions: those of this user. */
export function whereOf({ account, organization }: User) {
  return { 'account.id': String(account.id), 'organization.id': String(organization.id) }
}

/** A permission is changed as it was seen, or not at all: lists have no ETags, so it is read for its own. */
async function makeGrant(
  { method, path, body }: GrantCall,
  before: readonly UserPermission[],
): Promise<Outcome<unknown>> {
  const options = body === undefined ? {} : { body }
  if (method === 'POST') return call(method, path, options)
  const now = await call<UserPermission>('GET', path)
  if (!now.ok) return describeConflict(now.error)
  const seen = before.find(({ id }) => id === now.value.id)
  // The tag of nothing is refused by the coordinator itself: its answer has a trace id.
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
