/**
 * What CI checks, with Node's built-ins only: lint, which uses one core, beside types and build, then beside the tests and the
 * format. What fails first ends the rest.
 */
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    endAll()
    process.exit(1)
  })

try {
  await Promise.all([runInOrder('check:lint'), buildAndTest()])
} catch (error) {
  endAll()
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function buildAndTest() {
  // What is checked is compiled as well: the tests run from it.
  await runInOrder('check:types', 'build:tests', 'build')
  await Promise.all([runInOrder('check:format'), runInOrder('check:tests')])
}

async function runInOrder(...scripts) {
  for (const script of scripts) await run(script)
}

function run(script) {
  // A process group each: npm itself does not pass on that it is told to end.
  const options = { cwd: root, stdio: 'inherit', detached: true }
  const child = spawn('npm', ['run', '--silent', script], options)
  running.add(child)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      running.delete(child)
      if (code === 0) resolve()
      else reject(new Error(`npm run ${script} failed`))
    })
  })
}

function endAll() {
  for (const child of running) process.kill(-child.pid, 'SIGTERM')
}
