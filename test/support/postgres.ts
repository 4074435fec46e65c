/**
 * A private PostgreSQL for a test: its own data in a temporary folder, a free loopback port, removed at
 * teardown. Its default collation is English, to reveal sorting that must be by bytes but is not.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { openStore } from '../../src/coordinator/store/open-store.js'
import { atExit } from './at-exit.js'
import { eventually } from './eventually.js'
import { findFreePort } from './free-port.js'
import { root } from './root.js'

const initdbWords = [
  ...['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
  ...['--locale=C.UTF-8', '--locale-provider=icu', '--icu-locale=en-US'],
]
const versionsFolder = '/usr/lib/postgresql'
const startAttempts = 5
const logKeptBytes = 8192

export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  url(databaseName?: string): Promise<string>
  /** The same with the store's tables: they are made once and copied, which takes a tenth of the time. */
  storeUrl(): Promise<string>
  /** Ends every connection at once, like a crash; the data stay. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Copies the data of a stopped server; returns a function that restores them, again in a stopped one. */
  keep(): Promise<() => Promise<void>>
}

/** The part of a tap test used here. */
interface Teardown {
  teardown(handler: () => Promise<void>): void
}

export async function startPostgres(t: Teardown): Promise<PostgresServer> {
  const owner = unprivilegedUser()
  const bin = newestBin()
  const folder = mkdtempSync(join(tmpdir(), 'cachefleet-postgres-'))
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
  const data = join(folder, 'data')
  let running: ChildProcess | undefined
  let port = 0
  let databases = 0
  let withTables: Promise<string> | undefined

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = running
    running = undefined
    if (child?.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  /** A test that crashes has no teardown; files its server still writes may stay. */
  const forget = atExit(() => {
    running?.kill('SIGQUIT')
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  t.teardown(async () => {
    await end('SIGQUIT')
    forget()
    rmSync(folder, { recursive: true, force: true })
  })

  await makeData(join(bin, 'initdb'), data, owner)
  for (let attempt = 1; running === undefined; attempt++) {
    port = await findFreePort()
    const child = await serve({ program: join(bin, 'postgres'), data, port, owner })
    if (typeof child !== 'string') running = child
    else if (attempt === startAttempts) throw new Error(`PostgreSQL did not start: ${child}`)
  }

  const make = async (name: string, template = 'template1'): Promise<string> => {
    // Copying files costs half as much as writing them to the log.
    await administrate(port, `create database "${name}" template "${template}" strategy file_copy`)
    return `postgres://postgres:unused@127.0.0.1:${port}/${name}`
  }
  const makeTables = async (name: string): Promise<string> => {
    const store = await openStore(await make(name), pino({ level: 'silent' }))
    await store.close()
    return name
  }

  return {
    url: (databaseName = `test_${++databases}`) => make(databaseName),
    async storeUrl() {
      withTables ??= makeTables('with_tables')
      return make(`test_${++databases}`, await withTables)
    },
    stop: () => end('SIGQUIT'),
    async start() {
      const child = await serve({ program: join(bin, 'postgres'), data, port, owner })
      if (typeof child === 'string') throw new Error(`PostgreSQL did not start: ${child}`)
      running = child
    },
    async keep() {
      const kept = join(folder, 'kept')
      await copyFolder(data, kept)
      return async () => {
        rmSync(data, { recursive: true, force: true })
        await copyFolder(kept, data)
      }
    },
  }
}

/** With owners and modes, as PostgreSQL requires. */
async function copyFolder(from: string, to: string): Promise<void> {
  const [code] = (await once(spawn('cp', ['-a', from, to]), 'close')) as [number | null] // of the event 'close'
  if (code !== 0) throw new Error(`cp ended with ${code}`)
}

interface Owner {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): Owner {
  if (process.getuid?.() !== 0) return {}
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = ['postgres:', 'nobody:']
    .map((start) => users.find((user) => user.startsWith(start)))
    .find((found) => found !== undefined)
  const [, , uid, gid] = line?.split(':') ?? []
  if (uid === undefined || gid === undefined) throw new Error('no user postgres and no user nobody')
  return { uid: Number(uid), gid: Number(gid) }
}

function newestBin(): string {
  const versions = readdirSync(versionsFolder).filter((name) => /^\d+$/.test(name))
  const newest = versions.map(Number).toSorted((a, b) => b - a)[0]
  if (newest === undefined) throw new Error(`no PostgreSQL under ${versionsFolder}`)
  return join(versionsFolder, String(newest), 'bin')
}

/** Creating the data takes 0.4 s of a core, copying them a twentieth: the first test that needs them keeps its copy. */
async function makeData(program: string, data: string, owner: Owner): Promise<void> {
  const madeBy = JSON.stringify([program, statSync(program).mtimeMs, owner, initdbWords])
  const digest = createHash('sha256').update(madeBy).digest('hex').slice(0, 16)
  const kept = join(root, 'dist', `postgres-${digest}`)
  if (existsSync(kept)) {
    await copyFolder(kept, data)
    return
  }
  await initialize(program, data, owner)
  const copy = `${kept}-${randomUUID()}`
  mkdirSync(dirname(kept), { recursive: true })
  await copyFolder(data, copy)
  try {
    renameSync(copy, kept)
  } catch {
    // Another test was first.
    rmSync(copy, { recursive: true, force: true })
  }
}

async function initialize(program: string, data: string, owner: Owner): Promise<void> {
  const child = spawn(program, ['-D', data, ...initdbWords], {
    ...owner,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = keepLog(child)
  const [code] = (await once(child, 'close')) as [number | null] // of the event 'close'
  if (code !== 0) throw new Error(`initdb failed: ${log()}`)
}

/** Returns the running server, or the reason why it did not start. */
async function serve(server: {
  readonly program: string
  readonly data: string
  readonly port: number
  readonly owner: Owner
}): Promise<ChildProcess | string> {
  const settings = {
    port: server.port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // Without it a killed server loses nothing, only a killed machine would.
    fsync: 'off',
    max_connections: 60,
    shared_buffers: '16MB',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(server.program, ['-D', server.data, ...flags], {
    ...server.owner,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log = keepLog(child)
  try {
    await eventually('PostgreSQL answers', async () => {
      if (child.exitCode !== null) return true
      // Our server, and not another one that took the port first.
      const answer = await administrate(server.port, 'show data_directory')
      return answer === server.data
    })
  } catch (error) {
    child.kill('SIGQUIT')
    return `${String(error)} ${log()}`
  }
  return child.exitCode === null ? child : log()
}

function keepLog(child: ChildProcess): () => string {
  let kept = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-logKeptBytes)
  })
  return () => kept
}

/** Returns the first value of the first row. */
async function administrate(port: number, statement: string): Promise<unknown> {
  const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  client.on('error', () => undefined) // the statement rejects as well
  await client.connect()
  try {
    const { rows } = await client.query<unknown[]>({ text: statement, rowMode: 'array' })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}
