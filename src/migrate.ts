/** `cachefleetd migrate --from sqlite:… --to postgres://…`: moves a coordinator's store (docs/behaviour.md, Moving a store). */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { ConfigError, type Environment } from '../config/load.js'
import { copyStore, type CopiedTable } from './coordinator/store/copy-store.js'
import {
  findSqliteFile,
  loadDatabase,
  openDatabase,
  openStore,
} from './coordinator/store/open-store.js'
import { FleetError } from './errors.js'
import { hideArguments } from './hide-arguments.js'
import { createLog } from './log.js'
import { becomeOwner } from './service-settings.js'

const usage = `usage: cachefleetd migrate --from sqlite:FILE [--to postgres://…]
Copies a store into an empty database in one transaction and compares every row; no coordinator may run on either.
Without --to the target is CACHEFLEET_STORE, where a password is not seen by others.`

/** Rejects when nothing was copied. */
export async function runMigrate(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const { from, to } = readUrls(arguments_, environment)
  if (URL.canParse(to) && new URL(to).password !== '') hideArguments(['--to'])
  const file = findSqliteFile(from)
  if (file === null || !/^postgres(ql)?:\/\//.test(to)) throw new ConfigError(usage)
  if (!existsSync(file)) throw new ConfigError(`there is no store ${file} (--from)`)
  await Promise.all([loadDatabase(from), loadDatabase(to)])
  becomeOwner(dirname(file))
  const copied = await migrate(from, to)
  stdout.write(describe(copied))
}

function readUrls(
  words: readonly string[],
  { CACHEFLEET_STORE: store = '' }: Environment,
): { readonly from: string; readonly to: string } {
  try {
    const options = { from: { type: 'string' }, to: { type: 'string' } } as const
    const { from, to = store } = parseArgs({ args: [...words], options }).values
    if (from !== undefined && to !== '') return { from, to }
  } catch {
    // Words that are none of these.
  }
  throw new ConfigError(usage)
}

async function migrate(from: string, to: string): Promise<readonly CopiedTable[]> {
  const log = createLog('warn')
  const source = await openStore(from, log)
  try {
    const target = await openDatabase(to, log)
    try {
      if ((await source.isUsedElsewhere()) || (await target.isUsedElsewhere()))
        throw new FleetError(
          'conflict',
          'store',
          'a coordinator runs on one of the two: stop it first; nothing was copied',
        )
      return await copyStore(source, target)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

function describe(copied: readonly CopiedTable[]): string {
  const rows = copied.reduce((sum, table) => sum + table.rows, 0)
  return `${rows} rows of ${copied.length} tables are copied, and each was compared
start the coordinators with the new --store and the same secret key; the old store is as it was. Statistics stay behind.
`
}
