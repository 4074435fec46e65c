/** Who gets which events, by the permissions to read. */
import t from 'tap'
import { eventFilterOf } from '../../src/resources/event.js'
import type { Actor, Grants } from '../../src/resources/permission.js'

void t.test('the health of backends is told to whoever reads agents and VCL groups', (t) => {
  const typesOf = (grants: Grants) => {
    const actor: Actor = {
      ...{ accountId: 1, accountName: 'a', sessionId: 1, organizationId: 1, role: 'regular' },
      grants,
    }
    return eventFilterOf(actor, ['backend']).types
  }
  t.same(typesOf({ agent: 'read' }), ['agent'])
  t.same(typesOf({ vclgroup: 'write' }), [])
  t.same(typesOf({ agent: 'read', vclgroup: 'read' }), ['agent', 'backend'])
  t.end()
})
