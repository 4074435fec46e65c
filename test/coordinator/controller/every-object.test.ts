/** The conventions of objects (docs/behaviour.md, Updates) on every editable resource; bodies are made from the schemas. */
import t, { type Test } from 'tap'
import { nameSchema } from '../../../src/coordinator/api/references.js'
import { startClient, type Client, type Json } from './client.js'
import { makeEditables, type Editable } from './editables.js'

interface Resource {
  readonly path: string
  readonly errorKey: string
  /** The schema of each key of POST and of PUT. */
  readonly posts: Readonly<Record<string, object>>
  readonly puts: Readonly<Record<string, object>>
  /** The body of a new object; null: it enrols. */
  readonly body: Json | null
}

void t.test('every object', async (t) => {
  const client = await startClient(t)
  for (const editable of await makeEditables(client)) {
    const resource = toResource(client, editable)
    const at = `${editable.path}/${await editable.make()}`
    await t.test(editable.path, async (t) => {
      await refusesSecond(t, client, resource)
      await refusesNames(t, client, resource)
      await refusesReferences(t, client, resource)
      await mergesBodies(t, client, { ...resource, at })
      await isGone(t, client, { ...resource, at })
    })
  }
})

function toResource({ routes }: Client, { path, body }: Editable): Resource {
  const find = (method: string, at: string) =>
    routes.find((route) => route.method === method && route.path === at)
  const put = find('PUT', `${path}/{id}`)
  return {
    path,
    errorKey: put?.errorKey ?? '',
    posts: keysOf(find('POST', path)?.body),
    puts: keysOf(put?.body),
    body,
  }
}

function keysOf(schema: object | undefined): Readonly<Record<string, object>> {
  const properties: unknown = schema && Reflect.get(schema, 'properties')
  return typeof properties === 'object' && properties !== null ? { ...properties } : {}
}

async function refusesSecond(t: Test, client: Client, { path, body, errorKey }: Resource) {
  if (body) t.match(await client.expect(409, 'POST', path, body), { errorKey })
}

async function refusesNames(t: Test, client: Client, { path, posts, body, errorKey }: Resource) {
  if (!body || JSON.stringify(posts['name']) !== JSON.stringify(nameSchema)) return
  const names = [
    '',
    'n'.repeat(256),
    'a\u0000b',
    'a\nb',
    'a\u0085b',
    'a\u007fb',
    'a\u2028b',
    'a\ud800b',
  ]
  for (const name of [...names, 5, {}, [], true, null])
    t.match(
      await client.expect(400, 'POST', path, { ...body, name }),
      { errorKey, errorMsg: /^name/ },
      `${path} ${encodeURI(JSON.stringify(name).slice(0, 20))}`,
    )
}

async function refusesReferences(t: Test, client: Client, resource: Resource) {
  const { path, posts, body, errorKey } = resource
  for (const [key, schema] of Object.entries(posts)) {
    const isList = isReferences(schema)
    if (!body || (!isList && !isReference(schema))) continue
    const wrong = [987654321, -1, 0, 'x', null, 1.5, 1e30].map((id) => ({ id }))
    for (const reference of [...wrong, { idd: 1 }, { id: 1, bogusKey: 1 }, 'x', 7, [[]]]) {
      const given = { ...body, [key]: isList ? [reference] : reference }
      const errorMsg = new RegExp(`^${key}\\b`)
      const name = `${path} ${key}: ${JSON.stringify(reference)}`
      t.match(await client.expect(400, 'POST', path, given), { errorKey, errorMsg }, name)
    }
  }
}

/** Also true for `T | null`. */
function isReference(schema: object): boolean {
  const [first] = variantsOf(schema)
  return first !== undefined && 'id' in keysOf(first)
}

function isReferences(schema: object): boolean {
  const [first] = variantsOf(schema)
  const items: unknown = first && Reflect.get(first, 'items')
  return typeof items === 'object' && items !== null && isReference(items)
}

function variantsOf(schema: object): object[] {
  const variants: unknown = Reflect.get(schema, 'anyOf')
  return Array.isArray(variants) ? (variants as object[]) : [schema] // the schemas of a union
}

async function mergesBodies(t: Test, client: Client, resource: Resource & { readonly at: string }) {
  const { at, puts, errorKey } = resource
  const made = await client.expect(200, 'GET', at)
  const same = (changed: Json, name: string) =>
    t.same({ ...changed, updated: made['updated'] }, made, name)
  same(await client.expect(200, 'PUT', at, {}), `${at}: PUT {} changes nothing`)
  same(await client.expect(200, 'PUT', at, made), `${at}: what GET answered may be PUT back`)
  const shouted = Object.entries(made).map(([key, value]) => [key.toUpperCase(), value])
  same(
    await client.expect(200, 'PUT', at, Object.fromEntries(shouted) as Json), // the same values
    `${at}: in any case`,
  )
  for (const [key, schema] of Object.entries(puts)) {
    const isNullable = variantsOf(schema).some((variant) => Reflect.get(variant, 'type') === 'null')
    const answer = await client.expect(isNullable ? 200 : 400, 'PUT', at, { [key]: null })
    if (!isNullable) t.match(answer, { errorKey, errorMsg: new RegExp(`^${key}`) }, `${at} ${key}`)
  }
}

async function isGone(
  t: Test,
  client: Client,
  { at, errorKey }: Resource & { readonly at: string },
) {
  await client.expect(204, 'DELETE', at)
  for (const method of ['GET', 'PUT', 'DELETE'])
    t.match(await client.expect(404, method, at), {
      errorKey,
      errorMsg: `${at.split('/').at(-1) ?? ''} was not found`,
    })
}
