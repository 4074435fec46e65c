/** A label stays while a discarded VCL that may return it is still held: the child would write to freed memory. */
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { apply, domains, listVcls, start, untilEffective } from './release-harness.js'
import { makeRoutingVcl } from '../../src/vcl/routing.js'

for (const release of ['6.0.17', '7.1.1', '9.0.2'])
  void t.test(`labels of ${release} wait for what may return them, and then go`, async (t) => {
    const harness = await start(t, release, { keepsDiscarded: true })
    const both = domains(harness, '1')
    t.match(await apply(harness, both), { result: 'applied' })
    const routing = makeRoutingVcl([{ fqdn: '*.blog.example', groupId: 3 }])
    harness.coordinator.publish(routing.text)

    const applied = await apply(harness, {
      load: [...both.load.filter(({ name }) => name.startsWith('cf-3-')), routing],
      labels: both.labels.filter(({ label }) => label === 'cf-l-3'),
      active: routing.name,
    })

    t.match(applied, { result: 'applied', error: null })
    const label = 'cf-l-2 -> cf-2-aaaaaaaa-1'
    t.ok((await listVcls(harness)).includes(label), 'the old routing VCL is still held')
    await untilEffective(harness)
    t.ok((await listVcls(harness)).includes(label))
    harness.engine.killChild()
    await eventually('the label and its VCL are gone', async () => {
      const names = await listVcls(harness)
      return !names.some((name) => name.includes('cf-l-2') || name.startsWith('cf-2-'))
    })
    t.same(harness.coordinator.drifts(), [], 'the agent reports no drift')
  })
