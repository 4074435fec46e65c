/** `cachefleet test`: VCL tests in a private local cache, without a coordinator. */
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parallel } from '../support/parallel.js'
import { root } from '../support/root.js'
import { call, type Ran, type TestEnd } from './run-cli.js'

t.jobs = 2

const site = `vcl 4.1;
backend default { .host = "www.example.com"; .port = "80"; .probe = { .url = "/alive"; } }
backend api { .host = "api.example.com"; }
include "parts.vcl";
sub vcl_recv {
  if (req.url ~ "^/api/") { set req.backend_hint = api; return (pass); }
  if (req.method == "PURGE") { return (purge); }
  if (req.url == "/blocked") { return (synth(403, "No")); }
  if (req.url == "/stream") { return (pipe); }
}
`
const parts = `sub vcl_deliver {
  if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
}
`
const good = `name: what the site promises
vcl: site.vcl
backends:
  default:
    - match: {url: {matches: ^/a}}
      respond: {headers: {Cache-Control: max-age=60}, body: hello}
    - match: {url: /closes}
      respond: {close: true}
  api:
    - respond: {status: 201, body: '{"ok":true}'}
steps:
  - request: {url: /a}
    expect:
      status: 200
      body: hello
      handling: miss
      backend: default
      headers: {X-Cache: MISS, Set-Cookie: null}
      backendRequest: {url: /a, headers: {Host: localhost}}
  - repeat: 2
    steps:
      - request: {url: /a, httpVersion: 1.0}
        expect: {handling: hit, backend: null, headers: {x-cache: HIT}}
  - ban: req.url ~ ^/a
  - request: {url: /a}
    expect: {handling: miss}
  - purge: http://localhost/a
  - request: {url: /a, method: HEAD}
    expect: {handling: miss, body: ''}
  - request: {url: /api/x, method: POST, body: text}
    expect: {status: 201, handling: pass, backend: api, body: {contains: ok}}
  - request: {url: /blocked}
    expect: {status: 403, handling: synth, backend: null}
  - request: {url: /stream}
    expect: {status: 503, handling: pipe, backend: default}
  - request: {url: /closes}
    expect: {status: 503, handling: miss}
  - {backend: api, health: sick}
  - request: {url: /api/x}
    expect: {status: 503, backend: null}
`

async function makeFolder(t: TestEnd, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cachefleet-tested-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

function test(...words: string[]): Promise<Ran> {
  const { PATH = '' } = process.env
  return call(['test', ...words], { environment: { PATH } })
}

void t.test('a passing test, and the report of a failing one', parallel(), async (t) => {
  const bad = `vcl: site.vcl\nsteps:\n  - request: {url: /blocked}\n    expect: {status: 200}\n`
  const folder = await makeFolder(t, {
    'site.vcl': site,
    'parts.vcl': parts,
    'good.test.yaml': good,
    'bad.test.yml': bad,
    'other.yaml': 'no test',
  })
  const junit = join(folder, 'junit.xml')
  const ran = await test(folder, '--tap', '--junit', junit)
  t.equal(ran.code, 1, ran.err)
  const points = ran.out.split('\n').filter((line) => /^(?:not )?ok /.test(line))
  t.equal(points[0], `not ok 1 - ${folder}/bad.test.yml: ${folder}/bad.test.yml: step 1`)
  t.equal(points.length, 14)
  const failed = points.slice(1).filter((line) => !line.startsWith('ok'))
  t.same(failed, [], ran.out)
  t.match(ran.out, `${folder}/bad.test.yml line 3: step 1: expected status 200, got 403`)
  t.match(ran.out, /VCL_call +SYNTH/, 'the cache’s log is shown')
  t.match(await readFile(junit, 'utf8'), 'failures="1"')
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith('cachefleet-check-'))
  t.same(
    left.filter((name) => name.includes(String(process.pid))),
    [],
  )
})

void t.test('the example fleet passes its tests, by group and by file', parallel(), async (t) => {
  const ran = await test(join(root, 'config/example-fleet'))
  t.equal(ran.code, 0, `${ran.out}${ran.err}`)
  const names = ran.out.split('\n').map((line) => /tests\/(\w+)\.test\.yaml: /.exec(line)?.[1])
  t.same(
    names.filter((name) => name !== undefined),
    ['greeting', 'api', 'grace', 'pages', 'purge'],
  )
  t.match(ran.out, '5 of 5 tests passed')
})

void t.test('a group is tested with its domains, as on its caches', parallel(), async (t) => {
  const documents = `kind: file
name: main.vcl
source: '@main.vcl'
---
kind: domain
fqdn: '*.shop.example'
---
kind: tag
name: web
---
kind: deployment
name: web
tags: [web]
min: 1
max: 1
---
kind: vclgroup
name: shop
mainVCL: main.vcl
domains: ['*.shop.example']
deployments: [web]
`
  const steps = `backends:
  default:
    - respond: {headers: {Cache-Control: max-age=9}}
steps:
  - request: {url: /}
    expect: {status: 200, handling: miss, headers: {X-Cachefleet-Group: null}}
  - purge: http://www.shop.example/
  - request: {url: /, host: WWW.Shop.Example:8080}
    expect: {handling: miss}
  - request: {url: /, host: elsewhere.example}
    expect: {status: 404, handling: synth}
`
  const folder = await makeFolder(t, {
    'fleet.yaml': documents,
    'main.vcl': 'vcl 4.1;\nbackend default { .host = "origin.example"; }\n',
    'tests/shop.test.json': JSON.stringify({ steps: [{ request: { url: '/' } }] }),
    'tests/steps.test.yaml': steps,
  })
  const ran = await test(folder, '--group', 'shop')
  t.equal(ran.code, 0, `${ran.out}${ran.err}`)
  t.match(ran.out, '2 of 2 tests passed')
  const other = await test(folder, '--group', 'pub')
  t.equal(other.code, 2)
  t.match(other.err, 'has no vclgroup "pub"; it has shop')
})

void t.test('tests that cannot run are reported before any runs', parallel(), async (t) => {
  const folder = await makeFolder(t, {
    'none.test.yaml': 'steps: [{advance: 1}]',
    'wrong.test.yaml': 'steps:\n  - wait: 1\n',
    'init.vcl': 'vcl 4.1;\nbackend b none;\nsub vcl_init { return (fail("not today")); }\n',
    'init.test.yaml': 'vcl: init.vcl\nsteps: [{request: {url: /}}]',
    'broken.vcl': 'vcl 4.1;\nbackend b { .host = "a.example"; }\nsub vcl_recv { nonsense; }\n',
    'broken.test.yaml': 'vcl: broken.vcl\nsteps: [{request: {url: /}}]',
    'stranger.test.yaml': 'vcl: init.vcl\nbackends: {c: []}\nsteps: [{request: {url: /}}]',
  })
  const at = (name: string) => join(folder, name)
  const wrong = await test(at('wrong.test.yaml'), at('none.test.yaml'))
  t.equal(wrong.code, 2)
  t.match(wrong.err, `${folder}/wrong.test.yaml line 2: "wait" is not known here`)
  const none = await test(at('none.test.yaml'))
  t.equal(none.code, 2)
  t.match(none.err, 'does not say which VCL it tests: add vcl:')
  t.equal((await test(at('gone.test.yaml'))).code, 2)
  const empty = await makeFolder(t, {})
  t.match((await test(empty)).err, 'has no tests; they end in .test.yaml')
  const broken = await test(at('broken.test.yaml'), at('init.test.yaml'), at('stranger.test.yaml'))
  t.equal(broken.code, 1)
  t.match(broken.out, `${folder}/broken.vcl line 3 pos 16: `)
  t.match(broken.out, 'vcl_init failed: not today')
  t.match(broken.out, 'backend "c" is not one of the VCL')
  const without = await call(['test', folder], { environment: { PATH: '/nowhere' } })
  t.ok(without.code === 2, 'invalid files come first where /usr/sbin has a cache')
})
