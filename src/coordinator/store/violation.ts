/**
 * Broken constraints, recognised in one way on both databases; `sqlite.ts` and `postgres.ts` make these errors.
 * Let one that happens inside a transaction end it: PostgreSQL has given the transaction up, SQLite has not.
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

/** A row with this key is there already. */
export function isUniqueViolation(error: unknown): error is ConstraintViolation {
  return error instanceof ConstraintViolation && error.constraint === 'unique'
}

/** What is referred to is not there, or what goes away is still referred to. */
export function isForeignKeyViolation(error: unknown): error is ConstraintViolation {
  return error instanceof ConstraintViolation && error.constraint === 'foreign-key'
}
