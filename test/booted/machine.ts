/**
 * A separate Debian for one test: a copy of the one that scripts/test-packages.mjs made, booted by systemd-nspawn with its own network of
 * loopback only. It ends with the test, and with its process however that ends.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { eventually } from '../support/eventually.js'

/** The part of tap's Test needed here. */
export interface TestEnd {
  teardown(stop: () => Promise<void>): unknown
}

export interface Ran {
  readonly code: number
  /** Standard output and standard error, in order. */
  readonly output: string
}

export interface Machine {
  /** Its root folder, seen from outside. */
  readonly folder: string
  /** Runs a shell script in it as root. */
  run(script: string): Promise<Ran>
  /** Returns the output; throws it unless the exit code is 0. */
  must(script: string): Promise<string>
  start(): Promise<void>
  /** Like an operator's power button: all processes are told to end. */
  stop(): Promise<void>
}

const bootTimeoutMs = 120_000
const stopTimeoutMs = 60_000
const runTimeoutMs = 180_000
const outputLimitBytes = 16 << 20
const environment = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin', 'HOME=/root']

/** A folder made by scripts/test-packages.mjs, by the variable that contains its path. */
export function readFolder(variable: string): string {
  const folder = process.env[variable]
  if (!folder) throw new Error(`${variable} is not set: npm run test:packages sets it`)
  return folder
}

export async function startMachine(t: TestEnd): Promise<Machine> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-machine-'))
  const tree = join(folder, 'debian')
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  // By cp: it preserves owners, links and devices.
  await runOutside('cp', ['-a', '--reflink=auto', readFolder('CACHEFLEET_DEBIAN'), tree])
  for (const variable of ['CACHEFLEET_PACKAGES', 'CACHEFLEET_LOWER_PACKAGES'])
    await cp(readFolder(variable), join(tree, 'root', basename(readFolder(variable))), {
      recursive: true,
    })
  await writeFile(join(tree, 'etc/hosts'), '127.0.0.1 localhost edge\n')
  await writeFile(join(tree, 'etc/hostname'), 'edge\n')
  // Tests kill processes only, so nothing has to be synced to disk.
  await writeFile(join(tree, 'etc/dpkg/dpkg.cfg.d/quick'), 'force-unsafe-io\n')
  const machine = new BootedMachine(tree)
  t.teardown(() => machine.stop())
  await machine.start()
  return machine
}

class BootedMachine implements Machine {
  readonly folder: string
  #process: ChildProcess | null = null
  #leader = 0

  constructor(folder: string) {
    this.folder = folder
  }

  async start(): Promise<void> {
    // Of KILL only nspawn itself would end, and the machine would continue.
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', 'systemd-nspawn', ...this.#words()], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-4_000)
      })
    child.once('error', (error) => (output += error.message))
    this.#process = child
    const boot = async (): Promise<boolean> => {
      if (child.exitCode !== null || child.signalCode !== null) return true
      this.#leader = await readChild(child.pid ?? 0)
      const { output: state } = await this.run('systemctl is-system-running')
      return /^(?:running|degraded)$/m.test(state)
    }
    await eventually('the machine is booted', boot, bootTimeoutMs).catch((error: unknown) => {
      throw new Error(`systemd-nspawn does not boot Debian here: ${output}`, { cause: error })
    })
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`systemd-nspawn cannot boot Debian here: ${output}`)
  }

  #words(): string[] {
    return [
      ...['--quiet', '--boot', '--register=no', '--keep-unit', '--private-network'],
      ...['--console=pipe', '--resolv-conf=off', '--timezone=off', `--machine=cf-${process.pid}`],
      ...['--directory', this.folder],
    ]
  }

  run(script: string): Promise<Ran> {
    const inside = ['-t', String(this.#leader), '-m', '-u', '-i', '-n', '-p', '-C', '--']
    const shell = ['env', '-i', ...environment, 'bash', '-c', `{ ${script}\n} 2>&1`]
    return new Promise((resolve) => {
      const limits = { timeout: runTimeoutMs, maxBuffer: outputLimitBytes }
      execFile('nsenter', [...inside, ...shell], limits, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, output: `${stdout}${stderr}` })
      })
    })
  }

  async must(script: string): Promise<string> {
    const { code, output } = await this.run(script)
    if (code !== 0) throw new Error(`ended with ${code}: ${script}\n${output}`)
    return output
  }

  async stop(): Promise<void> {
    const child = this.#process
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const late = setTimeout(() => {
      // The machine's first process ends all others with it.
      process.kill(this.#leader, 'SIGKILL')
      child.kill('SIGKILL')
    }, stopTimeoutMs)
    await ended
    clearTimeout(late)
  }
}

/** The machine's first process. */
async function readChild(pid: number): Promise<number> {
  const found = Number((await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim())
  if (!(found > 0)) throw new Error('there is no first process yet')
  return found
}

async function runOutside(command: string, words: readonly string[]): Promise<void> {
  const child = spawn(command, words, { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null] // node:child_process
  if (code !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${code}`)
}
