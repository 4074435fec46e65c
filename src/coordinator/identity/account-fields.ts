/** The fields of an account that a request body can change. */
import { account } from '../../resources/account.js'
import { findAccountNameProblem, findEmailProblem } from '../../resources/names.js'
import type { Written } from '../../resources/resource.js'
import { FleetError } from '../../errors.js'
import type { UpdateBody } from '../api/resource-schemas.js'
import { mergeWritten } from '../store/resource-rows.js'

export type AccountFields = Written<typeof account.fields>

/** Null resets a field to its default; an omitted key keeps its value. */
export type AccountChange = Pick<UpdateBody<typeof account.fields>, keyof AccountFields>

/** Without `before` the account is new. Throws FleetError 'invalid' with the key. */
export function mergeAccount(change: AccountChange, before?: AccountFields): AccountFields {
  const fields = mergeWritten(account, change, before)
  refuse('name', findAccountNameProblem(fields.name))
  refuse('email', findEmailProblem(fields.email))
  return fields
}

function refuse(key: string, problem: string | null): void {
  if (problem !== null) throw new FleetError('invalid', 'account', `${key}: ${problem}`)
}
