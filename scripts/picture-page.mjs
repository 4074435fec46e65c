/**
 * Makes the pictures in docs/: the page of a real fleet with one private cache that serves traffic, simulated ones, and
 * something wrong. `npm run build`, then `node scripts/picture-page.mjs`; it takes two minutes, and needs Debian's
 * varnish and Chromium.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const base = 'http://127.0.0.1:8099'
/** Until curves of traffic have some samples, ten seconds from each other. */
const settleMs = 60_000
/** Until a killed agent counts as Down. */
const downMs = 25_000
const visitEveryMs = 25
/** Lines of the log, before it is pictured. */
const linesShown = 12
/** Until what was done last is drawn, and checked by a cache. */
const drawnMs = 3000
/** Until gates have seen enough to say something. */
const bakedMs = 30_000
const execute = promisify(execFile)

const backends = `probe health {
  .url = "/health";
  .interval = 2s;
}

backend shop {
  .host = "127.0.0.1";
  .port = "ORIGIN_PORT";
  .probe = health;
}

# Nobody answers there.
backend images {
  .host = "127.0.0.1";
  .port = "1";
  .probe = health;
}
`
const cart = `sub vcl_recv {
  if (req.url ~ "^/cart") {
    return (pass);
  }
}
`
const shop = `vcl 4.1;

include "backends.vcl";
include "cart.vcl";

sub vcl_recv {
  if (req.url ~ "^/images/") {
    set req.backend_hint = images;
    return (hash);
  }
}

sub vcl_backend_response {
  set beresp.grace = 1h;
}
`

const folder = mkdtempSync(join(tmpdir(), 'cachefleet-picture-'))
const visitors = new Agent({ keepAlive: true })
const origin = createServer(answerVisitor).listen(0, '127.0.0.1')
await once(origin, 'listening')
const coordinator = startDaemon('coordinator', [
  ...['--coordinator', '--listen', new URL(base).host],
  ...['--simulate', '40', '--name', 'fra', '--tags', 'web,eu'],
])
const daemons = [coordinator]
let visits = null
try {
  await waitUntilReady()
  await run('login', '--user', 'admin', '--password-file', passwordFile())
  const agent = await startAgent()
  await deployShop()
  visits = setInterval(visitShop, visitEveryMs, await readPort())
  await pause(settleMs)
  agent.kill('SIGKILL')
  await pause(downMs)
  await takePictures()
} finally {
  clearInterval(visits)
  for (const daemon of daemons) await stopDaemon(daemon)
  visitors.destroy()
  origin.closeAllConnections()
  origin.close()
  rmSync(folder, { recursive: true })
}

function startDaemon(name, flags, env = {}) {
  const all = ['--state-dir', join(folder, name), ...flags]
  return spawn(process.execPath, [join(root, 'dist/bin/cachefleetd.js'), ...all], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...env },
  })
}

async function stopDaemon(daemon) {
  daemon.kill('SIGTERM')
  if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit')
}

async function waitUntilReady() {
  for (let left = 100; left > 0; left--) {
    const isReady = await fetch(`${base}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await pause(200)
  }
  throw new Error(`the coordinator at ${base} was not ready within 20 s`)
}

function passwordFile() {
  return join(folder, 'coordinator', 'admin-password')
}

/** `cachefleet` with its session in a place of its own; answers what it prints. */
async function run(...words) {
  const { stdout } = await execute(
    process.execPath,
    [join(root, 'dist/bin/cachefleet.js'), ...words],
    { env: { ...process.env, CACHEFLEET_SERVER: base, XDG_CONFIG_HOME: folder } },
  )
  return stdout
}

function write(name, text) {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** A cache of another host, which can be killed by itself. */
async function startAgent() {
  const made = JSON.parse(await run('jointokens', 'add', '--label', 'ams', '--json'))
  const flags = ['--coordinator-url', base.replace('http', 'ws'), '--engine', 'simulate']
  const agent = startDaemon('agent', [...flags, '--name', 'ams', '--tags', 'web,eu'], {
    CACHEFLEET_JOIN_TOKEN: made.token,
  })
  daemons.push(agent)
  for (let left = 100; left > 0; left--) {
    const { stateName } = await readAgent('ams').catch(() => ({}))
    if (stateName === 'Running') return agent
    await pause(200)
  }
  throw new Error('the agent ams was not there within 20 s')
}

async function readAgent(name) {
  return JSON.parse(await run('agents', 'get', name, '--json'))
}

async function readPort() {
  return (await readAgent('fra')).enginePort
}

async function deployShop() {
  const { port } = origin.address()
  await run('files', 'add', write('backends.vcl', backends.replace('ORIGIN_PORT', port)))
  await run('files', 'add', write('cart.vcl', cart))
  await run('files', 'add', write('shop.vcl', shop))
  await run('domains', 'add', '--fqdn', 'shop.example')
  await run('deployments', 'add', '--name', 'europe', '--tags', 'web,eu', '--max', '100')
  const files = ['--main-vcl', 'shop.vcl', '--includes', 'backends.vcl,cart.vcl']
  const reach = ['--deployments', 'europe', '--domains', 'shop.example']
  await run('vclgroups', 'add', '--name', 'shop', ...files, ...reach)
  await run('vclgroups', 'deploy', 'shop')
}

function answerVisitor({ url }, answer) {
  answer.setHeader('cache-control', url.startsWith('/cart') ? 'no-store' : 'max-age=30')
  answer.statusCode = url.startsWith('/old') ? 404 : 200
  answer.end('x'.repeat(4000))
}

/** Mostly the few pages that most want; a cart now and then, a page that is gone, an image whose origin is away. */
function visitShop(port) {
  const chance = Math.random()
  const page = Math.floor(Math.random() ** 3 * 60)
  const kind = chance < 0.1 ? 'cart' : chance < 0.13 ? 'old' : chance < 0.15 ? 'images' : 'pages'
  const headers = { host: 'shop.example' }
  get({ host: '127.0.0.1', port, path: `/${kind}/${page}`, headers, agent: visitors }, (answer) =>
    answer.resume(),
  ).on('error', () => {})
}

async function takePictures() {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  try {
    const page = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
    })
    await page.goto(base)
    await page.getByLabel('Name', { exact: true }).fill('admin')
    await page.getByLabel('Password').fill(readFileSync(passwordFile(), 'utf8').trim())
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('The agent does not answer').first().waitFor()
    await take(page, 'overview')
    await page.goto(`${base}/files`)
    await page.getByRole('link', { name: 'shop.vcl' }).click()
    await beginLine(page)
    await take(page, 'editor')
    await page.goto(`${base}/log?vclGroup=1`)
    await page.getByRole('row').nth(linesShown).waitFor()
    await take(page, 'log')
    await rollOut(page)
    await take(page, 'rollout')
  } finally {
    await browser.close()
  }
}

/** Of what serves on one real cache and simulated ones: a change of the cart, watched in its second wave. */
async function rollOut(page) {
  const text = cart.replace('return (pass);', 'set req.http.X-Cart = "1";\n    return (pass);')
  await run('files', 'update', 'cart.vcl', '--source', `@${write('cart.vcl', text)}`)
  const gates = [
    'errors.max=1%',
    'hitRatio.drop=10%',
    'firstByte.factor=3',
    'backendsHealthy.min=1',
  ]
  const policy = ['--waves', '10%,50%', '--bake', '45s', '--max-bake', '10m']
  const flags = [...policy, ...gates.flatMap((gate) => ['--gate', gate])]
  await run('vclgroups', 'deploy', 'shop', '--wait', '0', ...flags)
  await page.goto(`${base}/groups/1/deploy`)
  await page.getByText('Observed for').waitFor()
  await page.setViewportSize({ width: 1280, height: 1200 })
  await pause(bakedMs)
}

/** The start of a variable: the editor proposes how it goes on, and a cache says that it is not whole. */
async function beginLine(page) {
  await page.getByRole('heading', { name: 'Files of shop' }).waitFor()
  await page.locator('.cm-content').click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\nsub vcl_deliver {\nset resp.http.X-Hits = obj.')
  await page.getByText('1 problem').waitFor()
}

async function take(page, name) {
  await page.mouse.move(0, 0)
  await pause(drawnMs)
  await page.screenshot({ path: join(root, 'docs', `${name}.png`) })
}
