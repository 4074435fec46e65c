/** The schemas that the console serves are those of its own answers. */
import t from 'tap'
import { entities } from '../../../src/coordinator/console/schemas.js'
import { startConsole } from './console-client.js'

void t.test('the schema of each entity is the documented schema of its call', async (t) => {
  const { call, controller } = await startConsole(t)
  const { paths } = (await controller.call('GET', '/docs/console.json')).body as {
    readonly paths: Readonly<Record<string, Operations>>
  } // the form of OpenAPI
  const { body } = await call('GET', '/v1/schema')
  const list = body['list'] as { entity: string; schema: object }[] // as documented
  t.same(
    list.map(({ entity }) => entity),
    Object.keys(entities),
  )
  for (const { entity, schema } of list) {
    const path = entity === 'commit' ? 'vcl/{id}/commit/{commitId}' : `${entity}/{id}`
    const { get } = paths[`/api/v1/${path}`] ?? paths[`/api/v1/${entity}`] ?? {}
    t.same(schema, get?.responses['200']?.content['application/json'].schema, entity)
    t.same((await call('GET', `/v1/schema/${entity}`)).body, schema)
  }
})

void t.test('an unknown entity answers 404 with the list of entities', async (t) => {
  const { call } = await startConsole(t)
  for (const entity of ['nothing', 'constructor', '__proto__', 'toString']) {
    const { status, body } = await call('GET', `/v1/schema/${entity}`)
    t.equal(status, 404)
    t.match(body['message'], /there are those of cache, .*license/)
  }
})

interface Operations {
  readonly get?: {
    readonly responses: Readonly<
      Record<string, { readonly content: { readonly 'application/json': { schema: object } } }>
    >
  }
}
