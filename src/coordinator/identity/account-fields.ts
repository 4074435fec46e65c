/** What an account tells of itself, as a body changes it. */
import { findAccountNameProblem, findEmailProblem } from '../../resources/names.js'
import { FleetError } from '../../errors.js'

export interface AccountFields {
  readonly name: string
  readonly email: string
  readonly locked: boolean
}

/** Null: back to the default; left out: as it is. */
export interface AccountChange {
  readonly name?: string
  readonly email?: string | null
  readonly locked?: boolean | null
}

/** Throws FleetError 'invalid' naming the key. */
export function mergeAccount(change: AccountChange, before: AccountFields): AccountFields {
  const { name = before.name, email = before.email, locked = before.locked } = change
  refuse('name', findAccountNameProblem(name))
  refuse('email', findEmailProblem(email ?? ''))
  return { name, email: email ?? '', locked: locked ?? false }
}

function refuse(key: string, problem: string | null): void {
  if (problem !== null) throw new FleetError('invalid', 'account', `${key}: ${problem}`)
}
