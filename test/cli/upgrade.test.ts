/** `upgrade-check`: compiles the deployed VCL on another release, on agents of the fleet or with a local program. */
import t from 'tap'
import { parallel } from '../support/parallel.js'
import { startMixedFleet } from '../support/mixed-fleet.js'
import { expectDone } from '../end-to-end/harness.js'
import { call, makeHome } from './run-cli.js'

const plain = 'vcl 4.0;\nbackend default { .host = "127.0.0.1"; }\n'
/** 6.0.4 lacks this backend. */
const late = 'vcl 4.0;\nimport std;\ninclude "part.vcl";\n'
/** Real compilers know the functions of the module, the simulated one does not. */
const part = 'backend default none;\nsub vcl_recv {\n  std.nothing();\n}\n'

void t.test('the deployed VCL is compiled on another release', parallel(), async (t) => {
  const { coordinator } = await startMixedFleet(t, {
    'edge-6': '6.0.4',
    'edge-7': '7.1.1',
    'edge-8': '8.0.0',
  })
  const { api, base } = coordinator
  const environment = {
    ...(await makeHome(t)),
    CACHEFLEET_SERVER: base,
    CACHEFLEET_TOKEN: api.token,
  }
  const check = (...words: string[]) => call(['upgrade-check', ...words], { environment })
  const own = new Map<string, number>()
  for (const name of ['six', 'seven', 'eight']) own.set(name, await api.makeTag(name))
  for (const [agent, tag] of [
    ['edge-6', 'six'],
    ['edge-7', 'seven'],
    ['edge-8', 'eight'],
  ] as const) {
    const id = (await api.findAgent(agent))?.id ?? 0
    expectDone(await api.call('PUT', `/agents/${id}`, { tags: [{ id: own.get(tag) }] }))
  }
  const deploy = async (name: string, tag: string, source: string, more: object = {}) => {
    const mainFile = await api.makeFile(`${name}.vcl`, source)
    const deployment = await api.makeDeployment(name, own.get(tag) ?? 0)
    const id = await api.makeGroup({ name, mainFile, deployment })
    expectDone(await api.call('PUT', `/vclgroups/${id}`, more))
    expectDone(await api.act(id, 'deploy'))
    return { id, mainFile }
  }
  const site = await deploy('site', 'six', plain)

  await t.test('by an agent of the fleet', async (t) => {
    t.match(await check('--to', '7'), {
      code: 0,
      out: 'group "site" compiles\nchecked by edge-7 (Varnish 7.1.1): 1 of 1 groups compile on 7; the parameters of 2 of 2 agents are known there\n',
      err: '',
    })
    const seven = (await api.findAgent('edge-7'))?.id ?? 0
    const value = { value: '5000' }
    expectDone(await api.call('PUT', `/agents/${seven}/params/pcre2_match_limit`, value))
    const other = { value: '60' }
    expectDone(await api.call('PUT', `/agents/${seven}/params/default_ttl`, other))
    await api.editFile(site.mainFile, 'vcl 4.0;\nnonsense\n')

    const { code, out } = await check('--to', '6.0', '--json')

    t.equal(code, 1)
    t.match(JSON.parse(out), {
      release: '6.0',
      checkedBy: 'edge-6 (Varnish 6.0.4)',
      findings: [
        { about: 'vclgroup', id: site.id, name: 'site', result: 'ok', text: null },
        {
          about: 'agent',
          name: 'edge-7',
          result: 'fails',
          text: 'it has no parameter pcre2_match_limit (5000)',
        },
        { about: 'agent', name: 'edge-8', result: 'ok' },
      ],
    })
    t.match(await check('--to', 'vinyl-9.0'), {
      code: 1,
      out: '',
      err: /No Running agent is of release vinyl-9\.0; add one, or .* --program/,
    })
    t.match(await check('--to', 'nine'), { code: 2, err: /--to takes a release of the cache/ })
    t.match(await check(), { code: 2 })
  })

  await t.test('VCL that would not compile, or would leave, is reported by file', async (t) => {
    const include = await api.makeFile('part.vcl', part, 2)
    const domain = { id: await api.make('/domains', { fqdn: 'shop.example' }) }
    const more = { includes: [{ id: include }], domains: [domain] }
    await deploy('shop', 'eight', late, more)
    await deploy('kept', 'seven', plain, { releases: ['7'] })

    const told = await check('--to', '6.0')

    t.equal(told.code, 1)
    t.match(
      told.out,
      /^group "site" compiles\ngroup "shop" does not compile\n {2}part\.vcl line 1 pos 17: Expected '\{' got 'none'[^]*\n {2}\(Varnish 6\.0\.4: agent edge-6\)\ngroup "kept" does not compile\n {2}it is for the releases 7, and would leave such a cache\n/,
    )
    t.match(told.out, /: 1 of 3 groups compile on 6\.0; the parameters of 1 of 2 agents are known/)
    const csv = await check('--to', '6.0', '--csv')
    t.match(csv.out, /^about,id,name,result,text\r?\nvclgroup,1,site,ok,/)
  })

  await t.test('by a local program', async (t) => {
    const program = '/usr/sbin/varnishd'
    const told = await check('--to', '7', '--program', program)
    t.equal(told.code, 1)
    t.match(
      told.out,
      /group "shop" does not compile\n {2}part\.vcl line 3 pos 3: Symbol not found: 'std\.nothing'/,
    )
    t.match(told.out, /group "kept" compiles\n/)
    t.match(told.out, /checked by \/usr\/sbin\/varnishd \(Varnish 7\.\d+\.\d+\): 2 of 3 groups/)
    t.notMatch(told.out, /generated|cachefleet-upgrade-/, 'neither prologue nor folder is shown')
    const refused = [
      [program, /\/usr\/sbin\/varnishd \(Varnish 7\.\S+\) is not of release vinyl-9\.0\n$/],
      ['/nowhere/vinyld', /\/nowhere\/vinyld cannot be run: .*ENOENT/],
      ['/bin/true', /\/bin\/true does not tell its release by -V/],
    ] as const
    for (const [path, err] of refused)
      t.match(await check('--to', 'vinyl-9.0', '--program', path), { code: 1, out: '', err })
  })
})
