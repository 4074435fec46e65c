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
  const pid = await eventually('the tool runs', async () => Number(await readFile(place, 'utf8')))
  t.ok(await isRunning(pid))

  agent.kill('SIGKILL')

  await eventually('it has ended', async () => !(await isRunning(pid)))
})

/** What nobody has waited for yet has no words any more. */
async function isRunning(pid: number): Promise<boolean> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return words !== ''
}
