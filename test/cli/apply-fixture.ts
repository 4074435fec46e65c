/** An administrator of an organization applies folders, with or without a terminal. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Test } from 'tap'
import { runProgram } from '../../src/cli/program.js'
import { eventually } from '../support/eventually.js'
import {
  rows,
  startTenants,
  type Json,
  type Person,
  type Tenants,
} from '../coordinator/identity/people.js'
import { call, makeHome, type Environment, type Ran } from './run-cli.js'

export interface Fixture {
  readonly tenants: Tenants
  /** An administrator of the organization. */
  readonly person: Person
  readonly environmentOf: (person: Person) => Environment
  readonly apply: (files: Files, ...words: string[]) => Promise<Ran>
  readonly makeFolder: (files: Files) => Promise<string>
  readonly list: (path: string) => Promise<Json[]>
}

/** By path inside the folder. */
export type Files = Readonly<Record<string, string>>

export async function startFixture(t: Test): Promise<Fixture> {
  const tenants = await startTenants(t)
  await tenants.makeOrganization('red')
  const person = await tenants.addPerson('rita', 'red')
  const home = await makeHome(t)
  const environmentOf = ({ token }: Person): Environment => ({
    ...home,
    CACHEFLEET_SERVER: tenants.controller.base,
    CACHEFLEET_TOKEN: token,
  })
  const fixture: Fixture = {
    tenants,
    person,
    environmentOf,
    makeFolder: (files) => makeFolder(t, files),
    apply: async (files, ...words) =>
      call(['apply', '-f', await makeFolder(t, files), ...words], {
        environment: environmentOf(person),
      }),
    list: async (path) => rows(await person.call(200, 'GET', path)),
  }
  return fixture
}

export async function makeFolder(t: Test, files: Files): Promise<string> {
  const base = await mkdtemp(join(tmpdir(), 'cachefleet-folder-'))
  t.teardown(() => rm(base, { recursive: true, force: true }))
  const folder = join(base, 'fleet')
  await mkdir(folder)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

interface Terminal {
  readonly environment: Environment
  /** Called once the question is on standard error. */
  readonly answer: () => Promise<string>
}

/** A run on a terminal whose user takes a while to answer. */
export async function answerOnTerminal(
  words: readonly string[],
  { environment, answer }: Terminal,
): Promise<Ran> {
  const [stdin, stdout, stderr] = [0, 1, 2].map(() =>
    Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined }),
  )
  const printed = { out: '', err: '' }
  stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  stderr?.setEncoding('utf8').on('data', (text: string) => (printed.err += text))
  const running = runProgram(words, {
    environment,
    // These have all stream features that the program uses.
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    now: Date.now,
    setInterruptMessage: () => undefined,
  })
  await eventually('it asks', () => printed.err.includes('(y/N)'))
  stdin?.write(await answer())
  const code = await running
  await new Promise((resume) => setImmediate(resume)) // lets pending output arrive
  return { code, ...printed }
}
