/** What an agent leaves behind that is killed, where no service manager looks after it. */
import { spawn } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { eventually } from '../support/eventually.js'
import { root } from '../support/root.js'
import { makeFolder } from './run-agent.js'

void t.test('the log tool of a killed agent ends with it', async (t) => {
  const folder = await makeFolder(t)
  const [program, place] = [join(folder, 'tool'), join(folder, 'pid')]
  await writeFile(program, `#!/bin/sh\necho $$ > ${place}\nexec sleep 600\n`)
  await chmod(program, 0o755)
  const agent = spawn(process.execPath, [join(root, 'test/agent/start-log-child.mjs'), program])
  t.teardown(() => agent.kill('SIGKILL'))
  const pid = await eventually('it has begun', async () => Number(await readFile(place, 'utf8')))
  await eventually('it is what it becomes', async () => (await readWords(pid)).includes('sleep'))

  agent.kill('SIGKILL')

  await eventually('it has ended', async () => (await readWords(pid)) === '')
})

/** What has ended has none, though nobody has waited for it yet. */
async function readWords(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
}
