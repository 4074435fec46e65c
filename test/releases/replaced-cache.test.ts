/**
 * A running agent's cache is replaced by another release, by the other product, and back: the agent notices, compiles
 * everything anew, keeps the state, and reports what the new release does not compile while the rest serves.
 */
import t from 'tap'
import { isAtLeast } from '../../protocol/release.js'
import { answering, fetchMark } from '../support/observe-cache.js'
import {
  cacheProgram,
  findCacheProgram,
  readRelease,
  type CacheProgram,
} from '../support/cache-program.js'
import { eventually } from '../support/eventually.js'
import { agentName, startHarness } from '../end-to-end/harness.js'

/** Folders of the other releases, as given by `scripts/test-releases.mjs`. */
const folders = (process.env['CACHEFLEET_TEST_RELEASES'] ?? '').split(':').filter(Boolean)
const programs = [cacheProgram, ...folders.map((folder) => findCacheProgram([folder]))]

/** `std.real2integer()` was removed in 8.0. */
const isOld = ({ daemon }: CacheProgram) => !isAtLeast(readRelease(daemon).version, '8.0')

function chooseOld(): CacheProgram {
  const old = programs.find(isOld)
  if (!old) throw new Error('no release before 8.0 is built: npm run test:releases builds them')
  return old
}

/** One release of each product. */
function chooseNew(): readonly CacheProgram[] {
  const all = programs.filter((one) => !isOld(one))
  const products = [...new Set(all.map(({ product }) => product))]
  if (products.length === 0) throw new Error('no release from 8.0 on is built')
  return products.flatMap((product) => all.find((one) => one.product === product) ?? [])
}

const onlyOld = (mark: string) => `${answering(mark)}
import std;
sub vcl_recv { set req.http.X-Number = std.real2integer(1.0, 0); }
`

void t.test('a cache that is replaced by other releases, and back', async (t) => {
  const old = chooseOld()
  const harness = await startHarness(t, { program: old })
  const { api, cache } = harness
  const deployment = await api.makeDeployment('web', await api.findTag('web'))
  const makeGroup = async (name: string, text: string) => {
    const mainFile = await api.makeFile(`${name}.vcl`, text)
    const domain = await api.make('/domains', { fqdn: `${name}.example` })
    return api.make('/vclgroups', {
      name,
      mainVCL: { id: mainFile },
      deployments: [{ id: deployment }],
      domains: [{ id: domain }],
    })
  }
  for (const [name, text] of [
    ['plain', answering('plain')],
    ['number', onlyOld('number')],
  ] as const)
    t.equal((await api.act(await makeGroup(name, text), 'deploy')).status, 200)
  const agent = await api.findAgent(agentName)
  const params = `/agents/${agent?.id ?? 0}/params/default_ttl`
  t.equal((await api.call('PUT', params, { value: '77' })).status, 200)
  const serves = (name: string, mark: string | undefined) =>
    eventually(
      `${name} serves`,
      async () => (await fetchMark(cache, `${name}.example`)).mark === mark,
    )
  await serves('plain', 'plain')
  await serves('number', 'number')

  for (const program of [...chooseNew(), old]) {
    const { product, version } = readRelease(program.daemon)
    await t.test(`${product} ${version}`, async (t) => {
      await cache.restart(program)
      await eventually('the new release is known', async () => {
        const agent = await api.findAgent(agentName)
        return agent?.engineVersion === version && agent.engineProduct === product
      })
      await serves('plain', 'plain')
      await eventually('its parameter is kept', async () => {
        return (await cache.adm('param.show', 'default_ttl')).includes('77.000')
      })
      if (isOld(program)) {
        await serves('number', 'number')
        return
      }
      const failure = await eventually('the error is reported', async () => {
        return (await api.findAgent(agentName))?.config.lastAttempted?.error
      })
      t.match(failure, /real2integer/)
      t.not((await fetchMark(cache, 'number.example')).status, 200)
    })
  }
})
