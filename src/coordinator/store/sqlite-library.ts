/**
 * The SQLite library: two versions of one package. 13 works with any release from Node 22 on. 12 is used with Node 20
 * only: compiled for Node 24.19 or newer it sometimes crashes the process (nodejs/node#65446).
 */
import { createRequire } from 'node:module'
import type Library from 'better-sqlite3'

export type SqliteFile = Library.Database
export type SqliteStatement = Library.Statement

const major = Number(process.versions.node.split('.', 1)[0])
const require = createRequire(import.meta.url)
// The types are those of 12: 13 has the same API.
export const BetterSqlite3 = require(
  major >= 22 ? 'better-sqlite3-13' : 'better-sqlite3',
) as typeof Library
