/** A coordinator with its API, and the CLI called as its administrator, with a token and its own home. */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { startClient, type Client, type Json } from '../coordinator/controller/client.js'
import { call, makeHome, type Environment, type Ran, type RunOptions } from './run-cli.js'

export interface Fixture {
  readonly api: Client
  readonly environment: Environment
  readonly folder: string
  cli(words: readonly string[], options?: Partial<RunOptions>): Promise<Ran>
  /** Fails the test on an exit code other than 0. */
  json(...words: string[]): Promise<Json>
  list(...words: string[]): Promise<Json[]>
}

/** Stops with the test. */
export async function startFixture(t: Test): Promise<Fixture> {
  const api = await startClient(t)
  const home = await makeHome(t)
  const environment = { ...home, CACHEFLEET_SERVER: api.base, CACHEFLEET_TOKEN: api.token }
  const folder = join(dirname(home.XDG_CONFIG_HOME), 'work')
  await mkdir(folder, { recursive: true })
  const cli: Fixture['cli'] = (words, options) => call(words, { environment, ...options })
  const read = async (words: readonly string[]): Promise<unknown> => {
    const { code, out, err } = await cli([...words, '--json'])
    if (code !== 0) t.fail(`${words.join(' ')}: exit ${code}: ${err}`)
    return JSON.parse(out)
  }
  return {
    api,
    environment,
    folder,
    cli,
    json: (...words) => read(words) as Promise<Json>, // verbs on one object return it
    list: (...words) => read([...words]) as Promise<Json[]>, // lists are arrays of objects
  }
}
