/** How the coordinator serves the page: its start, its parts, its own paths, and paths that do not belong to it. */
import t from 'tap'
import { readPage, servePage } from '../../src/coordinator/http/page.js'
import type { Route } from '../../src/coordinator/http/route.js'
import { makeStateDir, startCoordinator } from '../support/daemon.js'

void t.test('the page is served', async (t) => {
  const { base } = await startCoordinator(t)
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(base + path, { method, headers, redirect: 'manual' })
  const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const start = await get('/')
  const text = await start.text()

  await t.test('its start forbids inline and foreign content, and is revalidated', async (t) => {
    t.equal(start.status, 200)
    t.match(start.headers.get('content-security-policy'), /default-src 'none'; script-src 'self'; /)
    t.notMatch(start.headers.get('content-security-policy'), /unsafe/)
    t.equal(start.headers.get('x-content-type-options'), 'nosniff')
    t.equal(start.headers.get('referrer-policy'), 'same-origin')
    t.notMatch(text, /<script>|<style|style=|https?:\/\//)
    const tag = start.headers.get('etag') ?? ''
    t.equal((await get('/', { 'if-none-match': tag })).status, 304)
    const head = await get('/', {}, 'HEAD')
    t.same([head.status, await head.text()], [200, ''])
  })

  await t.test('its parts are cached for ever, and compressed on request', async (t) => {
    const parts = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path)
    t.ok(parts.length >= 3)
    for (const path of parts) {
      const packed = await get(path)
      const whole = await get(path, { 'accept-encoding': 'gzip;q=0' })
      t.equal(packed.status, 200, path)
      t.match(packed.headers.get('cache-control'), 'immutable')
      t.equal(packed.headers.get('content-encoding'), 'gzip')
      t.equal(whole.headers.get('content-encoding'), null)
      t.equal(await packed.text(), await whole.text())
    }
  })

  await t.test('its own paths return its start, and paths of the API never do', async (t) => {
    for (const path of ['/caches', '/caches/5?q=a&q=b', '/a/b/c'])
      t.equal(await (await get(path, html)).text(), text, path)
    for (const path of [
      ...['/api/v1/nothing', '/docs/nothing', '/agent/v1/nothing', '/metrics/nothing'],
      ...['/assets/nothing.js', '/assets/..%2findex.html', '/assets/%2e%2e%2f%2e%2e%2fsrc/main.js'],
    ]) {
      const answer = await get(path, html)
      t.ok([401, 404].includes(answer.status), `${path} ${answer.status}`)
      t.match(answer.headers.get('content-type'), 'application/json', path)
    }
    t.equal((await get('/caches', { accept: '*/*' })).status, 404, 'without Accept: text/html')
    t.equal((await get('/caches', html, 'POST')).status, 404)
    t.equal((await get('/', html, 'POST')).status, 405)
  })
})

void t.test('without a built page, the start says so', async (t) => {
  const { routes } = servePage(await readPage(await makeStateDir(t)))
  const [start] = routes
  t.equal(start?.path, '/')
  const call = { headers: {}, params: {} } as Parameters<Route['handle']>[0] // all that it reads
  t.match(await start?.handle(call), { status: 503, body: /not built: run `npm run build`/ })
})
