/** An object of each editable resource, with edits of it. */
import { makeDomainCertificate } from '../../support/domain-certificates.js'
import { enrol, type Client, type Json } from './client.js'

type Edits = readonly [Json, Json, Json]

export interface Editable {
  readonly path: string
  /** The body of POST; null: the object enrols. */
  readonly body: Json | null
  /** Returns its id. */
  make(): Promise<number>
  /** Each edit changes the result of the previous one. */
  readonly edits: Edits
  /** The first two edits change different keys, which are returned as written. */
  readonly separate: boolean
}

const password = 'a long enough password'
const certified = 'certified.example'
const certificates = {
  one: await makeDomainCertificate({ names: [certified] }),
  other: await makeDomainCertificate({ names: [certified] }),
}

export async function makeEditables(client: Client): Promise<Editable[]> {
  const post = async (path: string, body: Json): Promise<number> =>
    Number((await client.expect(201, 'POST', path, body))['id'])
  const made = (path: string, body: Json, edits: Edits, separate = true) => ({
    path,
    body,
    make: () => post(path, body),
    edits,
    separate,
  })
  const [tag, otherTag] = [
    await post('/tags', { name: 'one' }),
    await post('/tags', { name: 'two' }),
  ]
  const file = await post('/files', { name: 'main.vcl', source: 'vcl 4.1;' })
  const organization = { id: await post('/organizations', { name: 'red' }) }
  const deployment = { id: await post('/deployments', { name: 'edges', tags: [{ id: tag }] }) }
  await post('/domains', { fqdn: certified })
  const account = { id: await post('/accounts', { name: 'anna', password }) }
  const first = { id: await post('/accounts', { name: 'bert', password }) }
  await client.expect(200, 'PUT', `/organizations/${organization.id}/assign`, { account: first })
  return [
    {
      path: '/agents',
      body: null,
      make: () => enrol(client, 'edge-1', { tags: ['rack'] }),
      edits: [{ tags: [{ id: tag }] }, { tags: [{ id: otherTag }] }, { tags: [] }],
      separate: false,
    },
    made('/tags', { name: 'web' }, inTurn('name', 'a', 'b', 'c'), false),
    made('/files', { name: 'a.vcl', source: 'vcl 4.1;' }, [
      { source: 'vcl 4.0;' },
      { name: 'b.vcl' },
      { source: 'vcl 4.1; # again' },
    ]),
    made('/deployments', { name: 'web', tags: [{ id: tag }] }, [
      { max: 3 },
      { name: 'web 2' },
      { max: 4 },
    ]),
    made(
      '/domains',
      { fqdn: 'd.example' },
      inTurn('fqdn', 'a.example', 'b.example', 'c.example'),
      false,
    ),
    made(
      '/certificates',
      { name: 'web', ...certificates.one },
      [{ ...certificates.other }, { name: 'web 2' }, { deployments: [deployment] }],
      false,
    ),
    made('/vclgroups', { name: 'web', mainVCL: { id: file } }, [
      { keepOnFailure: false },
      { name: 'web 2' },
      { keepOnFailure: true },
    ]),
    made(
      '/webhooks',
      { name: 'pager', url: 'https://hooks.example.com/a', types: ['problem'] },
      [{ types: ['agent'] }, { name: 'other' }, { url: 'https://hooks.example.com/b' }],
      false,
    ),
    made('/organizations', { name: 'green' }, [
      { accessTTL: 60 },
      { refreshTTL: 7200 },
      { accessTTL: 61 },
    ]),
    made('/accounts', { name: 'carl', password }, [
      { email: 'carl@example.com' },
      { locked: true },
      { email: 'c@example.com' },
    ]),
    made(
      '/users',
      { account, organization },
      inTurn('role', 'administrator', 'regular', 'administrator'),
      false,
    ),
    made(
      '/permissions',
      { account: first, organization, type: 'tag' },
      inTurn('write', true, false, true),
      false,
    ),
    made(
      '/idps',
      { organization, baseURL: 'https://idp.example.com', clientID: 'a' },
      // A secret that is never returned can be edited too.
      [{ clientID: 'b' }, { clientSecret: 'not answered' }, { clientID: 'c' }],
      false,
    ),
  ]
}

function inTurn(key: string, ...values: readonly [unknown, unknown, unknown]): Edits {
  const [one, other, third] = values
  return [{ [key]: one }, { [key]: other }, { [key]: third }]
}
