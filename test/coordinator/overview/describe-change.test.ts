/** Descriptions of api log calls: the usual ones by example, and for every path of both APIs a sentence or nothing. */
import fc from 'fast-check'
import t from 'tap'
import {
  describeChange,
  findChangedObject,
} from '../../../src/coordinator/overview/describe-change.js'

const cache = `c0${'5'.padStart(22, '0')}`
const group = `90${'7'.padStart(22, '0')}`
const vcl = `b0${'8'.padStart(22, '0')}`
const unknown = { name: null, revision: null, content: null }

function tell(method: string, path: string, details: Partial<typeof named> = {}) {
  const change = describeChange({ method, path, keyId: null }, { ...unknown, ...details })
  return change && `${change.action}: ${change.text}`
}
const named: { name: string | null; revision: number | null; content: string | null } = {
  name: 'shop',
  revision: null,
  content: null,
}

void t.test('deploying and operating groups and caches', (t) => {
  const verb = (name: string, details = {}) =>
    tell('PUT', `/api/v1/vclgroups/3/${name}`, { ...named, ...details })
  t.equal(verb('deploy', { revision: 4 }), 'deploy: deployed shop (revision 4)')
  t.equal(verb('deploy'), 'deploy: deployed shop')
  t.equal(verb('rollback', { revision: 5 }), 'rollback: rolled back shop (revision 5)')
  t.equal(verb('reload'), 'reload: recompiled shop')
  t.equal(verb('delstage'), 'delstage: discarded the stage of shop')
  t.equal(verb('deploy', { name: null }), 'deploy: deployed a group')
  t.equal(tell('PUT', '/api/v1/agents/5/unlock', { name: 'edge-1' }), 'unlock: unlocked edge-1')
  t.equal(
    tell('PUT', '/api/v1/agents/5/params/thread_pools', { name: 'edge-1' }),
    'set: set parameter thread_pools of edge-1',
  )
  t.equal(
    tell('PUT', '/api/v1/agents/5/backends/origin/sick', { name: 'edge-1' }),
    'set: set backend origin of edge-1 to sick',
  )
  t.end()
})

void t.test('creating, changing and deleting objects', (t) => {
  t.equal(tell('POST', '/api/v1/tags', { name: 'web' }), 'create: created tag web')
  t.equal(tell('POST', '/api/v1/vclgroups', named), 'create: created group shop')
  t.equal(tell('PUT', '/api/v1/files/2', { name: 'a.vcl' }), 'update: changed file a.vcl')
  t.equal(tell('DELETE', '/api/v1/organizations/2'), 'delete: deleted an organization')
  t.equal(tell('POST', '/api/v1/vcls', { name: 'a.vcl' }), 'create: created file a.vcl')
  t.equal(
    tell('POST', '/api/v1/invalidations', { content: 'purged http://a/b' }),
    'invalidate: purged http://a/b',
  )
  t.equal(tell('PUT', '/api/v1/auth/password'), 'update: changed their password')
  t.equal(tell('POST', '/api/v1/auth/login'), null)
  t.end()
})

void t.test('the same objects by the ids of the console', (t) => {
  t.same(findChangedObject({ method: 'PATCH', path: `/api/v1/cache/${cache}`, keyId: null }), {
    type: 'agent',
    id: 5,
  })
  t.equal(
    tell('POST', `/api/v1/group/${group}/ban`, named),
    'ban: banned objects on the caches of shop',
  )
  t.equal(tell('PUT', `/api/v1/group/${group}/vcl/${vcl}/deploy`, named), 'deploy: deployed shop')
  t.end()
})

void t.test('any path is described or left out, and never throws', (t) => {
  const part = fc.oneof(
    fc.constantFrom('vclgroups', 'agents', 'group', 'constructor', '%E0', '..', '7'),
    fc.string(),
  )
  fc.assert(
    fc.property(
      fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
      fc.array(part, { maxLength: 6 }),
      (method, parts) => {
        const told = describeChange(
          { method, path: ['', 'api', 'v1', ...parts].join('/'), keyId: null },
          unknown,
        )
        return told === null || (told.text.length > 0 && !told.text.includes('#'))
      },
    ),
  )
  t.end()
})
