/** Visibility and permissions of two organizations, regular users and the system administrator (docs/behaviour.md, Organizations). */
import { createHash } from 'node:crypto'
import t from 'tap'
import { instructionSubject } from '../../../src/coordinator/bus/subjects.js'
import { keepSource } from '../../../src/coordinator/fleet/sources.js'
import { writeStage } from '../../../src/coordinator/fleet/stage-queries.js'
import type { TestService } from '../gateway/service.js'
import { enrol } from './client.js'
import { seed, ids, rows, startOrganizations, vcl, type Call } from './organizations.js'

void t.test('an object of another organization is not visible', async (t) => {
  const { as } = await startOrganizations(t)
  const made = await seed(as.red, 'red')
  const others = await seed(as.blue, 'red')

  for (const [path, object] of Object.entries(made)) {
    const at = `${path}/${String(object['id'])}`
    for (const method of ['GET', 'PUT', 'DELETE'])
      if (path !== '/jointokens' || method === 'DELETE')
        await as.blue(404, method, at, method === 'PUT' ? {} : undefined)
    t.same(await ids(as.blue, path), [others[path]?.['id']], `${path} of blue`)
    t.same(
      await ids(as.system, `${path}?organization.name=red`),
      [object['id']],
      `${path} of red, as the system administrator sees it`,
    )
    t.match(object, { organization: { name: 'red' } })
  }
  for (const verb of ['deploy', 'undeploy', 'validate', 'stage', 'promote', 'delstage'])
    await as.blue(404, 'PUT', `/vclgroups/${String(made['/vclgroups']?.['id'])}/${verb}`)
})

void t.test('references may name only objects of the owner', async (t) => {
  const { as } = await startOrganizations(t)
  const red = await seed(as.red, 'red')
  const own = await as.system(201, 'POST', '/tags', { name: 'own' })
  const tags = [{ id: red['/tags']?.['id'] }]

  for (const call of [as.blue, as.system])
    t.match(await call(400, 'POST', '/deployments', { name: 'd', tags }), { errorMsg: /tags/ })
  t.match(await as.red(400, 'POST', '/deployments', { name: 'e', tags: [{ id: own['id'] }] }), {
    errorMsg: /tags/,
  })
  const blue = await seed(as.blue, 'blue')
  const staged = `/vclgroups/${String(blue['/vclgroups']?.['id'])}/stage`
  t.match(await as.blue(400, 'PUT', staged, { tags }), { errorKey: 'deploy', errorMsg: /^tags/ })
  for (const key of ['mainVCL', 'includes', 'domains', 'deployments']) {
    const path = key === 'deployments' || key === 'domains' ? `/${key}` : '/files'
    const reference = { id: red[path]?.['id'] }
    const file = await as.blue(201, 'POST', '/files', { name: key, source: vcl })
    const body = { mainVCL: { id: file['id'] }, [key]: key === 'mainVCL' ? reference : [reference] }
    t.match(await as.blue(400, 'POST', '/vclgroups', { name: 'g', ...body }), {
      errorMsg: new RegExp(key),
    })
  }
})

void t.test(
  'the system administrator may choose any organization, others only their own',
  async (t) => {
    const { as, red, blue } = await startOrganizations(t)
    let made = 0
    const make = (organization: unknown) => ({ name: `tag-${++made}`, organization })

    t.match(await as.system(201, 'POST', '/tags', make({ id: red })), { organization: { id: red } })
    t.match(await as.system(201, 'POST', '/tags', make(null)), { organization: null })
    t.match(await as.red(201, 'POST', '/tags', make({ id: red })), { organization: { id: red } })
    t.match(await as.red(403, 'POST', '/tags', make({ id: blue })), { errorKey: 'tag' })
    t.match(await as.system(400, 'POST', '/tags', make({ id: 99 })), { errorMsg: /organization/ })
  },
)

void t.test('an invalidation made for an organization belongs to that organization', async (t) => {
  const { as, red, blue } = await startOrganizations(t)
  const group = { id: (await seed(as.red, 'red'))['/vclgroups']?.['id'] }
  const others = { id: (await seed(as.blue, 'blue'))['/vclgroups']?.['id'] }
  const make = (organization: number, vclGroup = group) => ({
    type: 'ban',
    expression: 'obj.http.a == b',
    target: { vclGroup },
    organization: { id: organization },
  })

  const given = await as.system(202, 'POST', '/invalidations', make(red))
  t.match(given, { organization: { id: red } })
  await as.red(200, 'GET', `/invalidations/${String(given['id'])}`)
  await as.red(202, 'POST', '/invalidations', { ...make(red), id: 1, state: 2, results: [] })
  t.match(await as.red(403, 'POST', '/invalidations', make(blue)), { errorKey: 'invalidation' })
  t.match(await as.system(400, 'POST', '/invalidations', make(red, others)), {
    errorMsg: /target\.vclGroup/,
  })
  await as.system(400, 'POST', '/invalidations', make(99))
})

void t.test('all may read a shared agent, only the system administrator changes it', async (t) => {
  const { as, service, red } = await startOrganizations(t)
  const shared = await enrol({ service }, 'shared', { tags: ['rack'] })
  const own = await enrol({ service }, 'own', { organizationId: red })

  t.same(await ids(as.red, '/agents'), [shared, own])
  t.same(await ids(as.blue, '/agents'), [shared])
  await as.blue(404, 'GET', `/agents/${own}`)
  for (const [method, path, body] of [
    ['PUT', '', { tags: [] }],
    ['PUT', '', { bogus: 1 }],
    ['DELETE', '', undefined],
    ['PUT', '/params/default_ttl', { value: '60' }],
    ['PUT', '/backends/default/sick', undefined],
    ['PUT', '/unlock', undefined],
    ['POST', '/command', { command: 'ping' }],
  ] as const)
    t.match(await as.red(403, method, `/agents/${shared}${path}`, body), { errorKey: 'agent' })

  const [rack] = await as.red(200, 'GET', '/tags?name=rack').then(rows)
  const reference = { id: rack?.['id'] }
  t.match(rack, { name: 'rack', static: true, organization: null })
  t.match(await as.red(403, 'DELETE', `/tags/${String(reference.id)}`), { errorKey: 'tag' })
  await as.red(201, 'POST', '/deployments', { name: 'by rack', tags: [reference] })
  t.match(await as.red(200, 'PUT', `/agents/${own}`, { tags: [reference] }), {
    tags: [{ name: 'rack' }],
  })
})

void t.test('the placement lists every agent visible to the caller', async (t) => {
  const { as, service, red, blue } = await startOrganizations(t)
  const shared = await enrol({ service }, 'shared', { tags: ['rack'] })
  const own = await enrol({ service }, 'own', { organizationId: red })
  const others = await enrol({ service }, 'others', { organizationId: blue })
  const file = await as.red(201, 'POST', '/files', { name: 'main', source: vcl })
  const group = await as.red(201, 'POST', '/vclgroups', {
    name: 'red',
    mainVCL: { id: file['id'] },
  })
  const at = `/vclgroups/${String(group['id'])}/placement`
  const seen = async (call: Call) => rows(await call(200, 'GET', at)).map(({ agent }) => agent)

  t.same(await seen(as.red), [
    { id: shared, name: 'shared' },
    { id: own, name: 'own' },
  ])
  const all = rows(await as.system(200, 'GET', at))
  t.match(all.at(-1), {
    agent: { id: others },
    deployment: null,
    chosen: false,
    reason: 'the agent belongs to another organization',
  })
  t.equal(all.length, 3)

  const compile = { mainVCL: { id: file['id'] } }
  t.match(await as.blue(400, 'POST', '/files/compile', compile), { errorMsg: /was not found/ })
  const there = { mainVCL: { name: 'x', source: vcl }, agents: [{ id: others }] }
  t.match(await as.red(400, 'POST', '/files/compile', there), { errorMsg: /agents: / })
  await as.nobody(403, 'POST', '/files/compile', there)
})

void t.test('answers of a shared agent omit objects of other organizations', async (t) => {
  const { as, service } = await startOrganizations(t)
  const shared = await enrol({ service }, 'shared')
  const names = ['cf-idle', 'cf-7-01234567-1', 'cf-l-7', 'boot']
  const subscription = service.bus.respond(instructionSubject(shared), () =>
    Promise.resolve({
      result: 'done',
      value: names.map((name) => ({ name, state: 'auto', busy: 0, label: null })),
      error: null,
    }),
  )
  t.teardown(() => {
    subscription.close()
  })
  const seen = async (call: Call) =>
    rows(await call(200, 'GET', `/agents/${shared}/vcls`)).map((row) => row['name'])

  t.same(await seen(as.system), names)
  t.same(await seen(as.red), ['cf-idle'])
  t.same(rows(await as.red(200, 'GET', `/agents/${shared}/bans`)), [])
})

void t.test('a call without permission for its type or its references answers 403', async (t) => {
  const { as, service, red } = await startOrganizations(t)
  await enrol({ service }, 'own', { organizationId: red })
  const made = await seed(as.red, 'red')
  for (const path of [...Object.keys(made), '/agents', '/vcls', '/apilogs'])
    await as.nobody(403, 'GET', path)

  await as.reader(200, 'GET', '/deployments')
  await as.reader(403, 'POST', '/deployments', { name: 'x', tags: [{ id: 1 }] })
  const tags = [{ id: made['/tags']?.['id'] }]
  t.match(await as.writer(403, 'POST', '/deployments', { name: 'x', tags }), {
    errorKey: 'deployment',
    errorMsg: /read tag/,
  })
  const at = `/deployments/${String(made['/deployments']?.['id'])}`
  await as.writer(200, 'PUT', at, { max: 2 })
  await as.writer(403, 'PUT', at, { tags })
  const group = `/vclgroups/${String(made['/vclgroups']?.['id'])}`
  t.match(await as.reader(403, 'PUT', `${group}/deploy`), { errorKey: 'deploy' })
  t.match(await as.reader(503, 'PUT', `${group}/validate`), { errorKey: 'deploy' })
  t.match(await as.writer(403, 'PUT', `${group}/stage`, { tags }), { errorMsg: /read tag/ })
  await as.reader(403, 'PUT', `${group}/stage`, { tags })
})

void t.test(
  'forbidden VCL of an organization answers 422 in every call that would load it',
  async (t) => {
    const { as, service, red } = await startOrganizations(t)
    const cache = await enrol({ service }, 'own', { organizationId: red })
    const source = 'vcl 4.1;\nimport std;\ninclude "a";\n'
    const make = async (call: Call, name: string, owner: object = {}): Promise<string> => {
      const main = await call(201, 'POST', '/files', { name, source, ...owner })
      const part = 'sub vcl_recv {\n  set req.http.a = std . fileread("/etc/passwd");\n}\n'
      const include = await call(201, 'POST', '/files', { name: 'a', source: part, ...owner })
      const tag = await call(201, 'POST', '/tags', { name, ...owner })
      const deployment = await call(201, 'POST', '/deployments', {
        name,
        tags: [{ id: tag['id'] }],
        ...owner,
      })
      const group = await call(201, 'POST', '/vclgroups', {
        name,
        mainVCL: { id: main['id'] },
        includes: [{ id: include['id'] }],
        deployments: [{ id: deployment['id'] }],
        ...owner,
      })
      return `/vclgroups/${String(group['id'])}`
    }
    const own = await make(as.system, 'own')
    const of = { organization: { id: red } }
    const message = /^a line 2 pos 20: VCL of an organization may not use std\.fileread: /
    for (const group of [await make(as.blue, 'a blue one'), await make(as.system, 'given', of)])
      for (const verb of ['validate', 'deploy?wait=0'])
        t.match(await as.system(422, 'PUT', `${group}/${verb}`), {
          errorKey: 'deploy',
          errorMsg: message,
        })
    const given = rows(await as.red(200, 'GET', '/vclgroups'))[0]
    const at = `/vclgroups/${String(given?.['id'])}`
    const tags = rows(await as.red(200, 'GET', '/tags')).map(({ id }) => ({ id }))
    t.match(await as.system(422, 'PUT', `${at}/stage`, { tags }), { errorMsg: message })
    await stageUnjudged(service, Number(given?.['id']), red)
    t.match(await as.system(422, 'PUT', `${at}/promote`), {
      errorMsg: /^main line 1 pos 17: VCL of an organization may not use the module vtc/,
    })
    const loose = {
      mainVCL: { name: 'x', source: 'vcl 4.1;\nimport vtc;\n' },
      agents: [{ id: cache }],
    }
    t.match(await as.red(422, 'POST', '/files/compile', loose), {
      errorKey: 'file',
      errorMsg: /^x line 2 pos 8: .* the module vtc/,
    })
    t.match(await as.system(503, 'POST', '/files/compile', loose), { errorMsg: /agent/ })
    for (const verb of ['validate', 'deploy?wait=0'])
      t.match(await as.system(503, 'PUT', `${own}/${verb}`), { errorMsg: /agent/ })
  },
)

/** Stages VCL as a coordinator that allows more modules; the source map is from another owner of the text. */
async function stageUnjudged(
  { store }: TestService,
  groupId: number,
  organizationId: number,
): Promise<void> {
  const text = 'vcl 4.1; import vtc;\n'
  const sha = createHash('sha256').update(text).digest('hex')
  const sourceMap = { files: ["another's"], segments: [[1, 1, 0, 1, 1]] as const }
  const sources = {
    mainVCL: { id: 1, name: 'main', version: 1 },
    includes: [],
    releases: null,
    domains: [],
    deploymentIds: [],
    sha,
    programName: `cf-${groupId}-${sha.slice(0, 8)}-1`,
    stage: { tagIds: [], ownDomains: false, mainFileVersion: null },
  }
  await store.decide(async (queries) => {
    await keepSource(queries, { sha, text, sourceMap }, 1)
    await writeStage(queries, { groupId, organizationId, revision: 1, sources }, 1)
  })
}
