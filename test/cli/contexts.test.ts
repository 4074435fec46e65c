/** Several logins of one user, which of them is in use, and changing the user's own password. */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import { resourceRoutes } from '../../src/coordinator/controller/resources.js'
import { administrator, startController, type Controller } from '../support/start-controller.js'
import { call, makeHome, sessionFile, type Environment, type Ran } from './run-cli.js'

const { user, password } = administrator
const fresh = 'another horse battery'

interface Person {
  readonly controller: Controller
  readonly environment: Environment
  readonly cli: (words: string, input?: string) => Promise<Ran>
}

async function startPerson(t: Test): Promise<Person> {
  const controller = await startController(t, { resources: resourceRoutes })
  const environment = await makeHome(t)
  const cli = (words: string, input = '') => call(words.trim().split(' '), { environment, input })
  return { controller, environment, cli }
}

void t.test('contexts', async (t) => {
  const { controller, environment, cli } = await startPerson(t)
  const other = await startController(t, { resources: resourceRoutes })
  const login = (base: string, more: string) =>
    cli(`login --server ${base} --user ${user} --password-stdin ${more}`, `${password}\n`)
  const serverInUse = async (): Promise<string> => {
    const { err } = await cli('tags list --verbose')
    return /GET (\S+)\/api/.exec(err)?.[1] ?? err
  }

  await t.test('are separate logins, with default as the unnamed one', async (t) => {
    t.match(await cli('contexts list'), { code: 0, out: /^NAME/ })
    t.match(await login(controller.base, ''), { code: 0 })
    t.match(await login(other.base, '--context second'), { code: 0 })
    const { out } = await cli('contexts list --json')
    t.match(JSON.parse(out), [
      { name: 'default', server: controller.base, account: user, inUse: true },
      { name: 'second', server: other.base, account: user, inUse: false },
    ])
    t.notMatch(out, /eyJ|oken/, 'nothing secret is shown')
    t.equal(await serverInUse(), controller.base)
  })

  await t.test('are switched, and --context applies to one call', async (t) => {
    t.match(await cli('contexts use second'), { code: 0, out: /second is in use/ })
    t.equal(await serverInUse(), other.base)
    t.match(await cli('contexts list'), { out: /second +true/ })
    const one = await cli('tags list --verbose --context default')
    t.ok(one.err.includes(`GET ${controller.base}/`))
    const file = join(dirname(sessionFile(environment)), 'context')
    t.equal((await stat(file)).mode & 0o777, 0o600)
    t.equal(await readFile(file, 'utf8'), 'second\n')
  })

  await t.test('without a login are refused with a list of existing ones', async (t) => {
    const refused = await cli('contexts use third')
    t.match(refused, {
      code: exitCodes.refused,
      err: /context "third"; there are: default, second/,
    })
    t.match(await cli('tags list --context third'), { code: exitCodes.denied, err: /login/ })
    for (const name of ['../x', '__proto__ ', '-x'])
      t.match(await call(['tags', 'list', `--context=${name}`], { environment }), {
        code: exitCodes.usage,
        err: /not a name of a context/,
      })
    t.equal(await serverInUse(), other.base, 'the context in use is unchanged')
  })

  await t.test('are deleted after a confirmation, without the coordinator', async (t) => {
    t.match(await cli('contexts delete second'), { code: exitCodes.usage, err: /--yes/ })
    await other.http.close()
    t.match(await cli('logout'), { code: exitCodes.refused, err: /Cannot reach/ })
    t.match(await cli('contexts delete second --yes'), { code: 0, out: '', err: '' })
    t.equal(await serverInUse(), controller.base, 'the default is in use again')
  })

  await t.test('an invalid context file counts as none', async (t) => {
    await writeFile(join(dirname(sessionFile(environment)), 'context'), '{"a":1}\n')
    t.equal(await serverInUse(), controller.base)
    t.match(await cli('logout'), { code: 0 })
    t.match(await cli('contexts list --json'), { code: 0, out: '[]\n' })
  })
})

void t.test('the user’s own password', async (t) => {
  const { controller, environment, cli } = await startPerson(t)
  const words = `login --server ${controller.base} --user ${user} --password-stdin`
  t.match(await cli(words, `${password}\n`), { code: 0 })
  t.match(await cli(`${words} --context other`, `${password}\n`), { code: 0 })

  await t.test('needs the right current one, and a new one long enough', async (t) => {
    const wrong = await cli('password --password-stdin', `wrong wrong wrong\n${fresh}\n`)
    t.match(wrong, { code: exitCodes.denied, out: '' })
    t.match(wrong.err, /^cachefleet: [^\n]+\(trace \w+\)\n$/)
    const short = await cli('password --password-stdin', `${password}\nshort\n`)
    t.match(short, { code: exitCodes.refused, err: /it must have 12 to \d+/ })
    const one = await cli('password --password-stdin', `${password}\n`)
    t.match(one, { code: exitCodes.usage, err: /line 2 of standard input/ })
    t.match(await cli('password'), { code: exitCodes.usage, err: /--password-stdin/ })
  })

  await t.test('is changed; this login stays valid, the others end', async (t) => {
    const ran = await cli('password --password-stdin', `${password}\n${fresh}\n`)
    t.match(ran, { code: 0, err: '', out: /password is changed/ })
    t.match(await cli('whoami'), { code: 0 })
    t.match(await cli('whoami --context other'), { code: exitCodes.denied })
    t.match(await cli(words, `${password}\n`), { code: exitCodes.denied })
  })

  await t.test('is asked for on a terminal, the new one twice', async (t) => {
    const type = (input: string) => call(['password'], { environment, input, terminal: true })
    const apart = await type(`${fresh}\r${password}\r${password}x\r`)
    t.match(apart, { code: exitCodes.usage, err: /two different passwords/ })
    const done = await type(`${fresh}\r${password}\r${password}\r`)
    t.match(done, { code: 0, err: /Current password: .*New password: .*The same again: /s })
    t.notMatch(done.err + done.out, /horse/)
    t.match(await cli(words, `${password}\n`), { code: 0 })
  })

  await t.test('comes from files', async (t) => {
    const folder = dirname(sessionFile(environment))
    const [old, next] = [join(folder, 'old'), join(folder, 'next')]
    await writeFile(old, `${password}\n`, { mode: 0o600 })
    await writeFile(next, `${fresh}\n`, { mode: 0o600 })
    const ran = await cli(`password --old-password-file ${old} --password-file ${next}`)
    t.match(ran, { code: 0, err: '' })
    t.match(await cli(words, `${fresh}\n`), { code: 0 })
  })
})
