/** Tests of a group before a deploy: the choice of agents, the requests to them, and the handling of their answers. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { instructionSubject } from '../../../src/coordinator/bus/subjects.js'
import { chooseTesters } from '../../../src/coordinator/deploying/choose-testers.js'
import { describeFailedTests } from '../../../src/coordinator/deploying/failed-tests.js'
import { TestQueue, maxWaiting } from '../../../src/coordinator/deploying/test-queue.js'
import type { Asking } from '../../../src/messages/coordinator-to-agent.js'
import type { TestAnswer } from '../../../src/messages/vcl-test.js'
import type { TestResult } from '../../../src/resources/vcl-test-result.js'
import { eventually } from '../../support/eventually.js'
import { basic } from '../../support/http-call.js'
import { enrol, startClient, type Client, type Json } from '../controller/client.js'

const capabilities = ['report', 'deploy', 'command', 'tests'] as const
const passed: TestResult = {
  file: 'a.test.yaml',
  name: 'a',
  durationMs: 5,
  steps: [],
  planned: 1,
  notes: [],
  trouble: null,
}
const failing = (problem: string): TestResult => ({
  ...passed,
  steps: [
    {
      number: 3,
      line: 9,
      title: 'GET /',
      durationMs: 1,
      problems: [problem],
      log: ['request 2 rxreq'],
    },
  ],
})

interface Site {
  readonly at: string
  /** The test requests that agents received. */
  readonly asked: readonly Asking<'test'>[]
  readonly validate: (query?: string) => Promise<{ readonly status: number; readonly body: Json }>
}

/** A group with two test files, and one agent for each entry of `answers`. */
async function startSite(
  t: Test,
  client: Client,
  answers: Readonly<Record<string, TestAnswer>>,
  vcl = 'vcl 4.1;\nbackend default none;\n',
): Promise<Site> {
  const asked: Asking<'test'>[] = []
  for (const [name, answer] of Object.entries(answers)) {
    const id = await enrol(client, name, { tags: ['web'], description: { capabilities } })
    const subscription = client.service.bus.respond(instructionSubject(id), ({ question }) => {
      if (question.kind === 'test') asked.push(question)
      const value = question.kind === 'test' ? answer : { error: null }
      return Promise.resolve({ result: 'done', value, error: null } as const)
    })
    t.teardown(() => {
      subscription.close()
    })
  }
  const make = (path: string, body: Json) => client.expect(201, 'POST', path, body)
  const source = 'steps: [{request: {url: /}}]\n'
  const tests = [
    await make('/files', { name: 'a.test.yaml', source, fileType: 4 }),
    await make('/files', { name: 'b.test.yaml', source, fileType: 4 }),
  ]
  const file = await make('/files', { name: 'site.vcl', source: vcl })
  const [tag] = await client.list('/tags?name=web')
  const limits = { min: 1, max: 1, tags: [tag] }
  const deployment = await make('/deployments', { name: 'web', ...limits })
  const deployments = [deployment]
  const group = await make('/vclgroups', { name: 'site', mainVCL: file, deployments, tests })
  const at = `/vclgroups/${String(group['id'])}`
  return { at, asked, validate: (query = '') => client.send('PUT', `${at}/validate${query}`) }
}

void t.test('each test file is sent with the text that would be loaded', async (t) => {
  const client = await startClient(t)
  const { asked, validate } = await startSite(t, client, { one: { result: passed, error: null } })
  const { status, body } = await validate()
  t.match([status, body['compiledOn'], body['warnings']], [200, 1, undefined])
  t.match(asked, [
    { file: { name: 'a.test.yaml', text: /^steps/ }, routed: null, limitMs: 120_000 },
    { file: { name: 'b.test.yaml' }, limitMs: 119_995, sha: asked[0]?.sha },
  ])
  t.same([asked[0]?.breach, asked[0]?.budget], [undefined, undefined])
})

void t.test('a failed test answers 422 with file, line, step and log', async (t) => {
  const client = await startClient(t)
  const result = failing('expected status 200, got 503')
  const { validate } = await startSite(t, client, { one: { result, error: null } })
  const { status, body } = await validate()
  t.equal(status, 422)
  t.match(
    body['errorMsg'],
    /^a\.test\.yaml line 9: step 3: expected status 200, got 503\n {2}GET \/, in the log of the cache:\n {4}request 2 rxreq\n/,
  )
  t.match(await validate('?tests=skip'), { status: 200 })
})

void t.test('agents unable to run tests are skipped, and named if none is able', async (t) => {
  const client = await startClient(t)
  const cannot = { result: null, error: 'the cache is elsewhere', unavailable: true }
  const { at, validate } = await startSite(t, client, { one: cannot, two: cannot })
  t.match(await validate(), {
    status: 200,
    body: { warnings: [/^the tests of site were not run: agent one: the cache is elsewhere/] },
  })
  await client.expect(200, 'PUT', at, { requireTests: true })
  t.match(await validate(), { status: 503, body: { errorMsg: /were not run: agent one/ } })
  t.match(await validate('?release=6.0'), { status: 503 })
})

void t.test('another agent runs the tests if the first agent cannot', async (t) => {
  const client = await startClient(t)
  const cannot = { result: null, error: 'the cache is elsewhere', unavailable: true }
  const able = { result: passed, error: null }
  const { validate } = await startSite(t, client, { one: cannot, two: able })
  const { status, body } = await validate()
  t.match([status, body['warnings']], [200, undefined])
})

void t.test('a busy agent makes the call answer 429', async (t) => {
  const client = await startClient(t)
  const busy = { result: null, error: 'other tests run', retryAfterSeconds: 10 }
  const { validate } = await startSite(t, client, { one: busy })
  t.match(await validate(), { status: 429, body: { errorMsg: /agent one: other tests run/ } })
})

void t.test('the agent gets the breach of the policy for organizations', async (t) => {
  const client = await startClient(t)
  const reads = `vcl 4.1;
import std;
backend default none;
sub vcl_recv { set req.http.x = std.fileread("/etc/passwd"); }
`
  const answer = { result: passed, error: null }
  const { asked, validate } = await startSite(t, client, { one: answer }, reads)
  t.match(await validate(), { status: 200 })
  t.match(asked[0]?.breach, /^site\.vcl line 4 pos \d+: VCL of an organization may not use std/)
})

void t.test('only an administrator may skip tests', async (t) => {
  const client = await startClient(t)
  const organization = await client.expect(201, 'POST', '/organizations', { name: 'red' })
  const password = 'long enough a word'
  const logIn = async (name: string) => {
    const { body } = await client.call('POST', '/api/v1/auth/login', {
      headers: { authorization: basic(name, password) },
      body: { org: 'red' },
    })
    return String(body['accessToken'])
  }
  // The first account of an organization is its administrator.
  const account = { password, organization }
  await client.expect(201, 'POST', '/accounts', { name: 'first', ...account })
  const user = await client.expect(201, 'POST', '/accounts', { name: 'second', ...account })
  const grant = { account: user, organization, type: 'vclgroup', read: true, write: true }
  await client.expect(201, 'POST', '/permissions', grant)
  const source = 'vcl 4.1;\nbackend default none;\n'
  const mainVCL = await client.expect(201, 'POST', '/files', {
    name: 'red.vcl',
    source,
    organization,
  })
  const group = await client.expect(201, 'POST', '/vclgroups', {
    name: 'red',
    mainVCL,
    organization,
  })
  const path = `/api/v1/vclgroups/${String(group['id'])}/deploy`
  const deploy = async (name: string, query: string) =>
    client.call('PUT', `${path}?wait=0${query}`, { token: await logIn(name) })
  t.match(await deploy('second', '&tests=skip'), {
    status: 403,
    body: { errorMsg: /only an administrator may skip/ },
  })
  t.equal((await deploy('first', '&tests=skip')).status, 409, 'the group has no deployments')
  t.match((await deploy('second', '&tests=no')).status, 400)
})

void t.test(
  'agents of the owner and shared agents may test, those with the release first',
  async (t) => {
    const client = await startClient(t)
    const { queries } = client.service.store
    const [red, blue] = await Promise.all(
      ['red', 'blue'].map(async (name) =>
        Number((await client.expect(201, 'POST', '/organizations', { name }))['id']),
      ),
    )
    const add = (name: string, version: string, organizationId: number | null, able = true) =>
      enrol(client, name, {
        organizationId,
        description: {
          capabilities: able ? capabilities : ['report', 'deploy'],
          engine: {
            host: '127.0.0.1',
            port: 1,
            product: 'varnish',
            version,
            workingDirectory: null,
          },
        },
      })
    await add('old', '6.0.17', null)
    await add('old-between', '6.0.17', null)
    await add('old-last', '6.0.17', null)
    await add('shared', '7.1.1', null)
    await add('own', '7.1.1', red ?? 0)
    await add('foreign', '7.1.1', blue ?? 0)
    await add('unable', '7.1.1', red ?? 0, false)
    const names = async (
      organizationId: number | null,
      releases: string[] | null,
      release?: string,
    ) =>
      (await chooseTesters(queries, { id: 1, organizationId, releases }, release)).map(
        ({ name }) => name,
      )
    t.same(await names(red ?? 0, null), ['old', 'old-last', 'shared', 'own'])
    t.same(await names(red ?? 0, ['7']), ['shared', 'own', 'old', 'old-last'])
    t.same(await names(red ?? 0, null, '7.1'), ['shared', 'own'])
    t.same(await names(null, null), ['old', 'old-last', 'shared', 'own', 'foreign'])
  },
)

void t.test(
  'test runs of an organization are serial and limited, and do not block others',
  async (t) => {
    const queue = new TestQueue()
    let release = (): void => undefined
    const first = queue.run(1, () => new Promise<void>((resolve) => (release = resolve)))
    let ran = 0
    const waiting = Array.from({ length: maxWaiting }, () =>
      queue.run(1, () => Promise.resolve(ran++)),
    )
    await t.rejects(
      queue.run(1, () => Promise.resolve()),
      { message: /wait already/ },
    )
    t.equal(await queue.run(2, () => Promise.resolve('other')), 'other')
    t.equal(ran, 0)
    release()
    await Promise.all([first, ...waiting])
    t.equal(ran, maxWaiting)
    await eventually(
      'the queue is free again',
      async () => (await queue.run(1, () => Promise.resolve(7))) === 7,
    )
  },
)

void t.test(
  'the report of failed tests is bounded and names each failed step, for any output',
  (t) => {
    const sourceMap = { files: ['site.vcl'], segments: [] }
    const line = fc.string({ maxLength: 60 })
    const result = fc.record({ problem: line, trouble: fc.option(line), log: fc.array(line) })
    fc.assert(
      fc.property(fc.array(result, { minLength: 1, maxLength: 30 }), (all) => {
        const failed = all.map(({ problem, trouble }) => ({ ...failing(problem), trouble }))
        const text = describeFailedTests(failed, sourceMap, { notRun: 2, lateSeconds: 120 })
        const told = text.split('a.test.yaml line 9: step 3: ').length - 1
        return (
          text.length <= 32_001 &&
          told === Math.min(10, all.length) &&
          text.includes('limit of 120 s') &&
          text.endsWith('(2 more files were not run)')
        )
      }),
    )
    const huge = Array.from({ length: 10 }, () => failing('x'.repeat(10_000)))
    const text = describeFailedTests(huge, sourceMap, { notRun: 0, lateSeconds: null })
    t.equal(text.length, 32_001)
    t.end()
  },
)
