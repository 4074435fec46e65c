/**
 * `systemctl` of a host below a folder: enable, restart, disable --now and reset-failed of one agent, which is the real one. Its
 * boot by systemd itself is tried where packages are installed.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [program, root, verb, ...words] = process.argv.slice(2)
const name = words.at(-1)
const [enabled, pidFile] = [join(root, `enabled-${name}`), join(root, `pid-${name}`)]
appendFileSync(join(root, 'systemctl.log'), `${[verb, ...words].join(' ')}\n`)

if (verb === 'enable') writeFileSync(enabled, '')
else if (verb === 'restart') {
  await endOld()
  const log = openSync(join(root, 'agent.log'), 'a')
  const config = join(root, 'etc/cachefleet/agent.yaml')
  const child = spawn(process.execPath, [program, '--config', config], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, STATE_DIRECTORY: join(root, 'var/lib/cachefleet') },
  })
  writeFileSync(pidFile, String(child.pid))
  child.unref()
} else if (verb === 'disable') {
  rmSync(enabled, { force: true })
  await endOld()
}

async function endOld() {
  if (existsSync(pidFile)) await end(Number(readFileSync(pidFile, 'utf8')))
  rmSync(pidFile, { force: true })
}

async function end(pid) {
  for (let signal = 'SIGTERM'; ; signal = 0) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
