/** Checks a coordinator's host: store and keys, listener and certificate, bus, versions of its agents. */
import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import type { Settings } from '../../config/schema.js'
import { findSkew } from '../resources/version-skew.js'
import { openBus } from '../coordinator/bus/open-bus.js'
import { readSealedBy } from '../coordinator/identity/sealed-texts.js'
import { readSecretKey } from '../coordinator/identity/secret-key-file.js'
import { defaultSecretKeyFile, defaultStoreUrl } from '../coordinator/places.js'
import type { Database } from '../coordinator/store/database.js'
import { requireKnownMigrations } from '../coordinator/store/migrations/run-migrations.js'
import { findSqliteFile, openDatabase } from '../coordinator/store/open-store.js'
import { serverFileOf } from '../coordinator/tls/own-tls.js'
import { caFileOf } from '../coordinator/tls/own-ca.js'
import { textOf } from '../enroll/enroll-error.js'
import { splitPem } from '../resources/pem.js'
import { version } from '../version.js'
import { judgeClock } from './agent-checks.js'
import { ok, problem, type Finding } from './finding.js'
import { checkKeys, checkState, checkUnit, type Service } from './host-checks.js'

/** Results are reported once, as findings. */
const silent = pino({ level: 'silent' })
const answerTimeoutMs = 5_000
const dayMs = 86_400_000
/** The coordinator renews its own certificate at 30 days: less means that renewal does not work. */
const certificateLeastDays = 14
const maxVersions = 5

export async function checkCoordinatorHost(
  settings: Settings,
  service: Service,
): Promise<readonly Finding[]> {
  const { stateDir } = settings
  const keyFile = settings.secretKeyFile ?? defaultSecretKeyFile(stateDir)
  const passwordFile = join(stateDir, 'admin-password')
  const keys = [keyFile, caFileOf(stateDir), serverFileOf(stateDir), passwordFile]
  return [
    ...checkUnit(service),
    ...(await checkState(stateDir, keyFile, service)),
    ...(await checkKeys(settings.tlsKey === null ? keys : [...keys, settings.tlsKey])),
    ...(existsSync(passwordFile) ? [problem('keys', 'password', { file: passwordFile })] : []),
    ...(await checkStore(settings.store ?? defaultStoreUrl(stateDir), keyFile)),
    ...(await checkBus(settings.bus)),
    ...(await checkCertificate(settings.tlsCert ?? serverFileOf(stateDir))),
    await checkListener(settings),
  ]
}

async function checkStore(url: string, keyFile: string): Promise<readonly Finding[]> {
  const file = findSqliteFile(url)
  // Opening it would create it.
  if (file !== null && !existsSync(file)) return [problem('store', 'missing', { path: file })]
  let database
  try {
    database = await openDatabase(url, silent)
  } catch (error) {
    return [problem('store', 'away', { reason: textOf(error) })]
  }
  try {
    return await askStore(database, file ?? 'PostgreSQL', keyFile)
  } finally {
    await database.close()
  }
}

async function askStore(
  database: Database,
  name: string,
  keyFile: string,
): Promise<readonly Finding[]> {
  const { queries } = database
  try {
    await database.check()
  } catch (error) {
    return [problem('store', 'away', { reason: textOf(error) })]
  }
  try {
    await requireKnownMigrations(database)
  } catch (error) {
    return [problem('store', 'newer', { reason: textOf(error) })]
  }
  try {
    await database.checkRoom()
    // Only starts a write transaction, to check the permission; writes nothing.
    await database.decide(() => Promise.resolve())
    await requireWritable(database)
  } catch (error) {
    return [problem('store', 'readOnly', { reason: textOf(error) })]
  }
  const sealedBy = await readSealedBy(queries)
  const key = await readSecretKey(keyFile).catch(() => undefined)
  return [
    sealedBy === undefined || sealedBy === key?.id
      ? ok('store', `${name} can be written, and its secrets be opened`)
      : problem('store', 'key', { file: keyFile }),
    ...(await checkDatabaseClock(database)),
    await checkVersions(database),
  ]
}

function isPostgres({ dialect }: Database): boolean {
  return dialect.tableOptions === ''
}

async function requireWritable(database: Database): Promise<void> {
  if (!isPostgres(database)) return
  const { rows } = await sql<{
    readonly isStandby: boolean
  }>`select pg_is_in_recovery() as "isStandby"`.execute(database.queries)
  if (rows[0]?.isStandby) throw new Error('the server is a standby')
}

async function checkDatabaseClock(database: Database): Promise<readonly Finding[]> {
  if (!isPostgres(database)) return []
  const { rows } = await sql<{
    readonly nowMs: number
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as "nowMs"`.execute(
    database.queries,
  )
  return judgeClock(rows[0]?.nowMs ?? null, Date.now())
}

async function checkVersions({ queries }: Database): Promise<Finding> {
  const rows = await queries
    .selectFrom('agents')
    .select(['agentVersion', (e) => e.fn.countAll<number>().as('count')])
    .groupBy('agentVersion')
    .orderBy('agentVersion')
    .execute()
  const strange = rows.filter(({ agentVersion }) => findSkew(version, agentVersion) !== null)
  const count = strange.reduce((sum, row) => sum + row.count, 0)
  const versions = strange.slice(0, maxVersions).map(({ agentVersion }) => agentVersion)
  return count > 0
    ? problem('versions', 'skew', { count, versions: versions.join(', ') })
    : ok('versions', `cachefleetd ${version}, Node ${process.versions.node}; its agents fit`)
}

async function checkBus(url: string): Promise<readonly Finding[]> {
  if (url === 'in-process') return []
  try {
    const bus = await openBus(url, 'doctor', silent)
    await bus.check()
    await bus.close()
    return [ok('bus', 'the bus is reached')]
  } catch (error) {
    return [problem('bus', 'away', { reason: textOf(error) })]
  }
}

async function checkCertificate(file: string): Promise<readonly Finding[]> {
  if (!existsSync(file)) return []
  try {
    const blocks = splitPem(await readFile(file, 'utf8'))
    const first = blocks.find(({ label }) => label === 'CERTIFICATE')
    const { validTo } = new X509Certificate(first?.text ?? '')
    const day = new Date(validTo).toISOString().slice(0, 10)
    const leftMs = Date.parse(validTo) - Date.now()
    if (leftMs < 0) return [problem('certificate', 'expired', { file, day })]
    if (leftMs < certificateLeastDays * dayMs)
      return [problem('certificate', 'soon', { file, day })]
    return [ok('certificate', `${file} is valid until ${day}`)]
  } catch (error) {
    return [problem('certificate', 'unreadable', { file, reason: textOf(error) })]
  }
}

async function checkListener(settings: Settings): Promise<Finding> {
  const { host, port } = settings.listen
  const there = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const address = `${there}:${port}`
  for (const ask of [requestTls, requestPlain]) {
    const answer = await new Promise<{ status: number; text: string } | null>((resolve) => {
      const asked = ask(
        { host: there, port, path: '/readyz', rejectUnauthorized: false, agent: false },
        (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk.slice(0, 4096)))
          response.once('error', () => {
            resolve(null)
          })
          response.once('end', () => {
            resolve({ status: response.statusCode ?? 0, text })
          })
        },
      )
      asked.setTimeout(answerTimeoutMs, () => asked.destroy())
      asked
        .once('error', () => {
          resolve(null)
        })
        .once('close', () => {
          resolve(null)
        })
        .end()
    })
    if (answer?.status === 200) return ok('ports', `the coordinator at ${address} is ready`)
    if (answer && (answer.status === 503 || answer.status === 429)) {
      const why = /"errorMsg":"((?:[^"\\]|\\.)*)"/.exec(answer.text)?.[1] ?? `${answer.status}`
      return problem('ports', 'notReady', { address, reason: why })
    }
  }
  return problem('ports', 'stopped', { address })
}
