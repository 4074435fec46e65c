/** Why the log of a cache cannot be read: missing on the host, or only not there yet. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findLogTrouble } from '../../src/agent/log/log-trouble.js'
import { makeFolder } from './run-agent.js'

void t.test(
  'a missing tool counts as lacking, memory that does not exist yet does not',
  async (t) => {
    const folder = await makeFolder(t)
    const find = (program: string) => findLogTrouble(() => Promise.resolve({ program, folder }))
    const missing = join(folder, 'varnishncsa')

    t.match(
      await find(missing),
      { isLacking: false, isStarting: true, why: /_\.vsm_child/ },
      'no child ran yet',
    )
    await mkdir(join(folder, '_.vsm_child'))
    t.match(await find(missing), { isLacking: true, why: /varnishncsa ENOENT/ })
    t.equal(await find('/bin/true'), null, 'the program runs')
  },
)

void t.test('a cache with an unknown folder lacks nothing', async (t) => {
  const found = await findLogTrouble(() =>
    Promise.reject(new Error('a simulated cache has no log')),
  )
  t.strictSame(found, { why: 'a simulated cache has no log', isLacking: false, isStarting: false })
})
