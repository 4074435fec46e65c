/** Translates SQLite's errors for users of the store. */
import { FleetError } from '../../errors.js'
import { StoreBusy } from './sqlite-busy.js'
import { BetterSqlite3 } from './sqlite-library.js'
import { ConstraintViolation } from './violation.js'

/** Rethrows SQLite's errors as the store's own. */
export function translated<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translateError(error)
  }
}

const lasting = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_CANTOPEN', 'SQLITE_READONLY']
const broken = ['SQLITE_CORRUPT', 'SQLITE_NOTADB']

export function translateError(error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error
  const { code, message } = error
  if (code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY')
    return new ConstraintViolation('unique', error)
  if (code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return new ConstraintViolation('foreign-key', error)
  if (code.startsWith('SQLITE_BUSY')) return new StoreBusy(error)
  if ([...lasting, ...broken].some((start) => code.startsWith(start)))
    return unavailable(`the store does not work: ${message}`, 10, error)
  return error
}

function unavailable(message: string, retryAfterSeconds: number, cause: unknown): FleetError {
  return new FleetError('unavailable', 'store', message, { retryAfterSeconds, cause })
}
