/**
 * The library that speaks SQLite: two versions of one package. 13 does not depend on the release of Node, and needs Node 22. 12 is for Node 20
 * alone: compiled for Node 24.19 or newer it ends the process now and then (nodejs/node#65446).
 */
import { createRequire } from 'node:module'
import type Library from 'better-sqlite3'

export type SqliteFile = Library.Database
export type SqliteStatement = Library.Statement

const major = Number(process.versions.node.split('.', 1)[0])
const require = createRequire(import.meta.url)
// Declared by the types of 12: 13 has all of that.
export const BetterSqlite3 = require(
  major >= 22 ? 'better-sqlite3-13' : 'better-sqlite3',
) as typeof Library
