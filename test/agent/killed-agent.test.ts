/** Processes that a killed agent leaves behind when no service manager cleans up. */
import { spawn } from 'node:child_process'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import t from 'tap'
import { makeCheckFolder, removeLeftFolders } from '../../src/agent/check/check-folder.js'
import { cacheProgram } from '../support/cache-program.js'
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
  const pid = await eventually('it runs', async () => Number(await readFile(place, 'utf8')))
  await eventually('it became sleep', async () => (await readWords(pid)).includes('sleep'))

  agent.kill('SIGKILL')

  await eventually('it ended', async () => (await readWords(pid)) === '')
})

void t.test('the VCL test of a killed agent ends with it, and so does its cache', async (t) => {
  const owner = await makeFolder(t)
  const script = join(root, 'test/agent/start-vcl-test.mjs')
  const agent = spawn(process.execPath, [script, cacheProgram.daemon, owner])
  t.teardown(() => agent.kill('SIGKILL'))
  t.teardown(() => removeLeftFolders(owner))
  const mark = basename(await makeCheckFolder(owner)).slice(0, -6)
  const countProcesses = async () =>
    (await listWords()).filter((line) => line.includes(mark)).length
  await eventually('cache and log tool run', async () => (await countProcesses()) >= 3)

  agent.kill('SIGKILL')

  await eventually('all have ended', async () => (await countProcesses()) === 0)
})

async function listWords(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(pids.map((pid) => readWords(Number(pid))))
}

/** An ended process has no command line, even before its parent waits for it. */
async function readWords(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
}
