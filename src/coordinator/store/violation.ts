/**
 * Constraint violations, in the same form for both databases; `sqlite.ts` and `postgres.ts` throw them.
 * Inside a transaction let the error end it: PostgreSQL has aborted the transaction, SQLite has not.
 */

export class ConstraintViolation extends Error {
  override readonly name = 'ConstraintViolation'

  constructor(
    readonly constraint: 'unique' | 'foreign-key',
    cause: Error,
  ) {
    super(cause.message, { cause })
  }
}

/** A row with this key exists already. */
export function isUniqueViolation(error: unknown): error is ConstraintViolation {
  return error instanceof ConstraintViolation && error.constraint === 'unique'
}

/** A referenced row does not exist, or a row to delete is still referenced. */
export function isForeignKeyViolation(error: unknown): error is ConstraintViolation {
  return error instanceof ConstraintViolation && error.constraint === 'foreign-key'
}
