/** What an account tells of itself, as a body changes it. */
import { account } from '../../resources/account.js'
import { findAccountNameProblem, findEmailProblem } from '../../resources/names.js'
import type { Written } from '../../resources/resource.js'
import { FleetError } from '../../errors.js'
import type { UpdateBody } from '../api/resource-schemas.js'
import { mergeWritten } from '../store/resource-rows.js'

export type AccountFields = Written<typeof account.fields>

/** Null: back to the default; left out: as it is. */
export type AccountChange = Pick<UpdateBody<typeof account.fields>, keyof AccountFields>

/** Without `before`: of a new one. Throws FleetError 'invalid' naming the key. */
export function mergeAccount(change: AccountChange, before?: AccountFields): AccountFields {
  const fields = mergeWritten(account, change, before)
  refuse('name', findAccountNameProblem(fields.name))
  refuse('email', findEmailProblem(fields.email))
  return fields
}

function refuse(key: string, problem: string | null): void {
  if (problem !== null) throw new FleetError('invalid', 'account', `${key}: ${problem}`)
}
