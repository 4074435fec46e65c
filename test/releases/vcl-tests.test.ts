/** VCL tests in a private cache of this release: those of the example fleet, including ones that advance time. */
import { join } from 'node:path'
import t from 'tap'
import { call } from '../cli/run-cli.js'
import { root } from '../support/root.js'

void t.test('the example fleet passes its tests', async (t) => {
  const { PATH = '' } = process.env
  const words = ['test', join(root, 'config/example-fleet')]
  const ran = await call(words, { environment: { PATH } })
  t.equal(ran.code, 0, `${ran.out}${ran.err}`)
  t.match(ran.out, '5 of 5 tests passed')
})
