/**
 * Runs the tests, with Node's built-ins only: each `test/**\/*.test.ts` in a process of its own, or some of one folder in one
 * (`together`). `node scripts/run-tests.mjs [WORD]…` runs the files whose path contains one of the words. They come from the bundle of
 * all of them (`build-tests.mjs`); with `--apart` first, from what the compiler made of each, for who measures that (`coverage.mjs`).
 *
 * Files have passed when their process ended with 0 and its output (TAP) is whole. Of others all is shown but what passed;
 * everything printed is in `dist/test-results` afterwards.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { availableParallelism, cpus, freemem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const results = join(root, 'dist', 'test-results')
const scripts = join(root, 'scripts')
/**
 * How many files run at once. A file computes or waits, so their number follows what the cores do: one more starts while they are
 * idle for more than `idleShare` of the time, up to what the memory bears.
 */
const jobs = { least: availableParallelism() + 1, most: 5 * availableParallelism() }
const idleShare = 0.15
const watchEveryMs = 500
/** A file with its servers and browser takes up to this. */
const fileBytes = 1 << 30
const timeoutSeconds = 600
/** One of them upgrades a Debian again and again, each time with all that is packed. */
const bootedTimeoutSeconds = 2_400
const keptCharacters = 16_000_000
const failureLines = 16
/** What takes longest comes first, so that no core is idle at the end while another has a long file left. */
const longestFirst = [
  'test/end-to-end/kills',
  'test/end-to-end/faults',
  'test/end-to-end/coordinators',
  'test/end-to-end/invalidation',
  'test/end-to-end/domains',
  'test/end-to-end/',
  'test/coordinator/identity/who.test.ts',
  'test/coordinator/tenancy/walk.test.ts',
  'test/coordinator/store/postgres.test.ts',
  'test/page/',
]
/** Half of what these compute is to load the program and to warm up, so that files of one folder share a process. */
const together = {
  folders:
    /^test\/(?:cli|coordinator|messages|protocol|resources|runtime|test-files|traffic|vcl|vcl-tests)\//,
  /** Of folders whose other files have servers, browsers or caches of their own: these start nothing. */
  pure: /^test\/(?:agent|page)\/(?:[\w-]*decisions|engine-rows|plan-certificates|purge-outcome|simulated-compiler|counters\/(?:counter-rates|simulated-figures))\.test\.ts$/,
  /** They wait for most of their time, and would do so one after the other. */
  alone: /^test\/coordinator\/(?:bus|events|gateway|registration)\//,
  most: 6,
  mostPure: 16,
}

const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const child of running) child.kill('SIGTERM')
    process.exit(1)
  })

const isApart = process.argv[2] === '--apart'
const words = process.argv.slice(isApart ? 3 : 2)
const files = listTests(words)
if (files.length === 0) stop(`no test has ${words.join(' or ')} in its path`)
if (words.length === 0) rmSync(results, { recursive: true, force: true })
const startedAt = performance.now()
const failed = []
const sum = { assertions: 0, skipped: 0 }
const waiting = groupFiles(files)
await runAll()
const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
say(`${files.length} files, ${sum.assertions} assertions, ${sum.skipped} skipped, ${minutes} min`)
if (failed.length > 0) stop(`${failed.length} failed:\n${failed.join('\n')}`)

function listTests(parts) {
  return (
    readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `test/${name}`)
      // Those of several releases, and on a booted Debian, need what `npm test` does not build.
      .filter((file) => parts.length > 0 || !/^test\/(?:releases|booted)\//.test(file))
      .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
      .sort()
      .sort((a, b) => rankOf(a) - rankOf(b))
  )
}

/** In the same order; what takes long stays alone. */
function groupFiles(all) {
  const groups = []
  const open = new Map()
  for (const file of all) {
    const [most, shared] = shareOf(file)
    const group = open.get(shared)
    if (group !== undefined && group.length < most) group.push(file)
    else {
      const begun = [file]
      groups.push(begun)
      if (shared !== undefined) open.set(shared, begun)
    }
  }
  return groups
}

/** Answers with how many at most a file shares a process, and with which: those of its folder. */
function shareOf(file) {
  const folder = dirname(file)
  if (together.pure.test(file)) return [together.mostPure, `${folder.split('/')[1]} pure`]
  const mayShare = together.folders.test(file) && !together.alone.test(file)
  return mayShare && rankOf(file) === longestFirst.length ? [together.most, folder] : [1, undefined]
}

function rankOf(file) {
  if (together.pure.test(file)) return longestFirst.length
  const rank = longestFirst.findIndex((start) => file.startsWith(start))
  return rank < 0 ? longestFirst.length : rank
}

function runAll() {
  return new Promise((resolve) => {
    let count = 0
    // Each that runs has ports of its own (test/support/free-port.ts).
    const shares = Array.from({ length: jobs.most }, (_, number) => number)
    const readIdle = watchIdle()
    const startMore = () => {
      const most = readIdle() > idleShare && freemem() > fileBytes ? count + 1 : 0
      while (waiting.length > 0 && count < Math.min(Math.max(most, jobs.least), jobs.most)) {
        count += 1
        const share = shares.shift()
        void runGroup(waiting.shift(), share).then(() => {
          count -= 1
          shares.push(share)
          if (waiting.length === 0 && count === 0) {
            clearInterval(timer)
            resolve()
          } else if (count < jobs.least) startMore()
        })
      }
    }
    const timer = setInterval(startMore, watchEveryMs)
    startMore()
  })
}

/** Answers the share of the time since it was asked last in which the cores had nothing to do. */
function watchIdle() {
  let last = readTimes()
  return () => {
    const now = readTimes()
    const [idle, all] = [now.idle - last.idle, now.all - last.all]
    last = now
    return all > 0 ? idle / all : 0
  }
}

function readTimes() {
  const times = cpus().flatMap(({ times }) => Object.entries(times))
  const sum = (pairs) => pairs.reduce((total, [, ms]) => total + ms, 0)
  return { idle: sum(times.filter(([kind]) => kind === 'idle')), all: sum(times) }
}

async function runGroup(group, share) {
  const begunAt = performance.now()
  const { output, end } = await run(group, share)
  const seconds = ((performance.now() - begunAt) / 1000).toFixed(1)
  const wrong = judge(output, end)
  const named = group.join(' ')
  sum.assertions += Number(/^# \{ total: (\d+)/m.exec(output)?.[1] ?? 0)
  sum.skipped += output.split('\n').filter(isSkipped).length
  keep(group[0], output)
  if (wrong === undefined) say(`${seconds.padStart(6)} s  ${named}`)
  else {
    const failures = nameSources(leaveOutPassed(output))
    failed.push(`${named}\n${excerptFirst(failures)}`)
    say(`${failures}\nFAILED after ${seconds} s  ${named}: ${wrong}`)
  }
}

function run(group, share) {
  const isBooted = group[0].startsWith('test/booted/')
  const limitSeconds = isBooted ? bootedTimeoutSeconds : timeoutSeconds
  const how = isApart ? ['--enable-source-maps'] : []
  const program = [join(scripts, 'run-files.mjs'), ...(isApart ? ['apart'] : [])]
  const child = spawn(process.execPath, [...how, ...program], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TAP_TIMEOUT: String(limitSeconds),
      CACHEFLEET_SCREENSHOTS: join('dist', 'screenshots'),
      CACHEFLEET_TEST_FILES: JSON.stringify(group),
      CACHEFLEET_TEST_SHARE: `${share}/${jobs.most}`,
    },
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-keptCharacters)
    })
  // tap ends a file that takes too long itself; a loop without end does not let it.
  const killer = setTimeout(() => child.kill('SIGKILL'), (limitSeconds + 30) * 1000)
  return new Promise((resolve) => {
    const finish = (end) => {
      clearTimeout(killer)
      running.delete(child)
      resolve({ output, end })
    }
    child.once('error', (error) => finish(error.message))
    child.once('close', (code, signal) => finish(signal ?? code))
  })
}

/** Answers what is wrong, if anything is. */
function judge(output, end) {
  if (end !== 0) return `its process ended with ${end}`
  const planned = Number(/^1\.\.(\d+)/m.exec(output)?.[1] ?? 0)
  const passed = output.match(/^ok \d+/gm)?.length ?? 0
  if (planned === 0) return 'it has no test'
  if (/^not ok|^Bail out!/m.test(output)) return 'a test failed'
  return passed === planned ? undefined : `${passed} of ${planned} tests passed`
}

function isSkipped(line) {
  return /^\s*ok /.test(line) && / # (?:SKIP|TODO)/i.test(line)
}

function leaveOutPassed(output) {
  return output
    .split('\n')
    .filter((line) => !/^\s*ok \d+/.test(line))
    .join('\n')
}

/** The first failure, for the end of the output: who reads only that still learns why. */
function excerptFirst(failures) {
  const at = failures.search(/^ *not ok/m)
  return at < 0 ? failures.slice(-500) : failures.slice(at).split('\n', failureLines).join('\n')
}

/** Lines and columns of the bundle become those of the sources. */
function nameSources(output) {
  if (isApart) return output
  const bundle = join(root, 'dist', 'tests', 'tests.js')
  const map = new SourceMap(JSON.parse(readFileSync(`${bundle}.map`, 'utf8')))
  return output
    .replaceAll(`${root}/`, '')
    .replaceAll(/\bdist\/tests\/tests\.js:(\d+):(\d+)/g, (whole, line, column) => {
      const { originalSource, originalLine, originalColumn } = map.findEntry(line - 1, column - 1)
      if (originalSource === undefined) return whole
      return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`
    })
}

function keep(file, output) {
  const path = join(results, `${file}.tap`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, output)
}

function say(text) {
  process.stdout.write(`${text}\n`)
}

function stop(reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}
